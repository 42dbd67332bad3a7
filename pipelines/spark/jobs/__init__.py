"""The engines over many brokers: one task per store, slice or bucket of groups.

In: sources and tables. Out: rows on their way to tables. They hold no table in the driver.
"""
