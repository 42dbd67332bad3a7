"""Who owned which queue: replays, allocations, what if, the way of one message.

In: options. Out: rows and documents. They read recordings through the frame.
"""
