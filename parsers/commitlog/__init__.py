"""The CommitLog: all messages of all topics of a broker, one record after another.

In: log files, plain or with DLedger's headers. Out: messages, regions of bytes, damage. It knows no queue.
"""
