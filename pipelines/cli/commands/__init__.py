"""The commands, one file each: they call the engines and write rows.

In: options. Out: rows. No rule of RocketMQ lives here.
"""
