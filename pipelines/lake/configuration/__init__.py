"""`rocketlens.toml`: the lake, its brokers, clients and captures, and what is known of each.

In: one file. Out: sources, their stores opened. It reads no table.
"""
