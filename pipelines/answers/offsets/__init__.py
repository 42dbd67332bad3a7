"""Where the offsets of groups were, and what moved them: the joins of `offset_events`.

In: saved tables, lines of logs, a store's queues. Out: movements. It knows no lag and no screen.
"""
