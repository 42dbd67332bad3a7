"""Questions that a broker answers, asked of its files: by key, by time, offsets, lag.

In: an opened store. Out: rows. It changes nothing and plays no start.
"""
