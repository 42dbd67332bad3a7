"""`rocketlens dump`: the rows of one kind of store file, a file per kind.

In: options. Out: rows. It decides nothing about bytes.
"""
