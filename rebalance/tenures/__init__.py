"""From the rounds of a process to its queue table: from when to when it held which queue.

In: processes and holes. Out: tenures. It knows one process at a time and no rival.
"""
