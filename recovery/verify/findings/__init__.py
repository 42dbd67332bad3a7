"""What a finding is, and every kind of it.

In: nothing. Out: declarations. It compares nothing.
"""
