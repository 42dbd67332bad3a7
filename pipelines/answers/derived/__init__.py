"""Rows of the derived tables, as `recovery` concludes them about one broker's store.

In: an opened store, what logs say of it. Out: batches by table. It writes no table.
"""
