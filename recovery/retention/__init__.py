"""Which files the cleaners would delete, when, and whose unread messages with them.

In: a played start and offsets. Out: rows. It deletes nothing.
"""
