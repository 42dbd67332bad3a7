"""What a finding is, and every kind of it: siblings under one contract, a file of kinds for each subject.

In: nothing. Out: declarations. It compares nothing.
"""
