"""What a start would cost, and what would cost less.

In: a played start. Out: losses, repairs, advice, what stays unknown. It changes no file.
"""
