"""What goes wrong with bytes: errors to raise, rows to collect, neighbours in one row.

In: nothing. Out: the error family and `Damage`. It reads no byte.
"""
