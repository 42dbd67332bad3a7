"""Store files into the lake: what is new, what has grown, what is gone, and what follows from it.

In: a configuration. Out: appended tables. It shows nothing to a person.
"""
