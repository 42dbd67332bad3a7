"""IndexFile: a hash table from message keys to CommitLog positions.

In: index files. Out: entries, and those that a key leads to. They are not compared with the log.
"""
