"""The copies of compacted topics (cleanup.policy=COMPACTION, since 5.1.0): for each queue a log and a queue into it.

In: the files of one queue below compaction/. Out: messages, units, how far passes have come. It compacts nothing.
"""
