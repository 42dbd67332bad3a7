"""What is in a store: bytes of files, queues, topics, groups, messages by key or instant.

In: options. Out: rows. They say what is there, not what a broker would do.
"""
