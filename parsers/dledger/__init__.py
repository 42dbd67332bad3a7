"""The log of a broker in DLedger mode (enableDLegerCommitLog, since 4.5.0): entries that each wrap one message.

In: log and index files of a node. Out: entries, their index, the node's state. It elects nobody.
"""
