"""From what was recorded to facts: logs, wire captures, polled states.

In: lines and records. Out: facts. It draws no conclusion about who owned what.
"""
