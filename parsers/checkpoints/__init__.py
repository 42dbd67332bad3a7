"""Small files in which a broker says how far its files go: the store checkpoint, the epochs of controller mode.

In: one small file. Out: its numbers. Whether they are true is not asked.
"""
