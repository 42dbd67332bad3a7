"""What a broker has handed to its tiered store, held against its own queues and log.

In: a store, its tiered metadata, the folder of segments. Out: a state for each queue. It changes no segment.
"""
