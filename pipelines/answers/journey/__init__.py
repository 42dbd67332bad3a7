"""The story of one message.

In: a store or a lake, and recordings. Out: steps in order of time. It states no rule.
"""
