"""Compiled passes that settle all that is in its place, so that rules look at the rest only.

In: columns of log, queues, index. Out: what is out of place. It names no finding.
"""
