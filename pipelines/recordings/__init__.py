"""Logs, captures, polled answers and kept copies, found and opened in whatever form they were kept.

In: files. Out: lines, records, states. It draws no conclusion from them.
"""
