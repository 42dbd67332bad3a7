"""Lines of one log, whoever wrote it: their heads, the template that knows each, their order and origin.

In: lines. Out: recognised entries, and a count of all others. It does not say what an entry means.
"""
