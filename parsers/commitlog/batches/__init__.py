"""Messages as Arrow batches: of a slice, of a file, of the whole log.

In: log files. Out: batches without copies where that can be, regions, damage. It knows no queue.
"""
