"""The queue offset that a broker's search by time answers, by type of queue and version.

In: the units of one queue, times of the log. Out: one offset. It asks nothing of other queues.
"""
