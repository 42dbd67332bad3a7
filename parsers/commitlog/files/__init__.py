"""One file of the log: its bytes, where a slice begins, why a chain breaks, and where reading goes on.

In: a log file. Out: regions that account for every byte. It builds no batch.
"""
