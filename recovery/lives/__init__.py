"""The lives of topics: how queue numbers run along the log, and which life a message or an offset is of.

In: a scanned log and topic events. Out: lives. It repairs nothing.
"""
