"""Replicas side by side: from where their logs differ, what each has alone, and what it costs to keep one of them.

In the order of the data: replica (a store by its name), kernel and log_pair (the bytes of two logs), history (what the
differences mean), altered (records that one copy holds otherwise), own_messages (what one log has alone), epochs and
terms (what controller mode and DLedger note of their masters), side_by_side (queues, offsets, configuration), election,
cost, comparison, rows.
"""
