"""Index files against the log: entries, seconds, chains, headers.

In: columns of index files, hashes of the log's keys. Out: findings. It knows no queue.
"""
