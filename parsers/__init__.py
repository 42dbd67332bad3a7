"""The files of a RocketMQ broker as rows: what every byte is, and where it is damaged.

In: files, opened for reading only. Out: Arrow batches, scalar records, `Damage`. No rule about what a broker does with
them stands here.
"""
