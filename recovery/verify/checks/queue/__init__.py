"""Queues against the log: units of files, of databases and of BatchCQ, light queues, ext units.

In: columns of one queue, and what dispatch makes of the log. Out: findings. It knows no other queue.
"""
