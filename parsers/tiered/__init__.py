"""Tiered storage: what a broker has handed to a second store, and the segments of one that is a folder.

In: config/tieredStoreMetadata.json and the folder of the posix provider. Out: queues, segments, their
files. It opens no segment, and nothing is compared with the log.
"""
