"""What recordings of a cluster tell, heard once: ownership, offsets, subscriptions.

In: logs and captures, tables of a lake. Out: rows and records. It opens no store.
"""
