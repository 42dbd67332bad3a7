"""Tiered storage: what a broker has handed to a second store, and the segments of one that is a folder.

In: config/tieredStoreMetadata.json and the folder of the posix provider. Out: queues, segments, their units and
messages. They are not compared with the log.
"""
