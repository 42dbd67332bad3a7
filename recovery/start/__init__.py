"""One start of a broker, played in memory: load, recover, dispatch.

In: the parts of a broker. Out: what they hold afterwards. It does not say what that means.
"""
