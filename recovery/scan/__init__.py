"""The records of a CommitLog at speed: one compiled pass, in runs that bound memory.

In: log files. Out: columns of records, queue units, index hashes. It knows neither queues nor index files.
"""
