"""How far behind groups are, by the files of one store, and what waits for each group alone.

In: an opened store, kept offsets. Out: rows. It reads no recordings.
"""
