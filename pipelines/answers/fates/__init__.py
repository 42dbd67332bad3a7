"""What became of messages that a broker holds back, as rows of tables.

In: fates. Out: batches, and sums of them. It reads no log.
"""
