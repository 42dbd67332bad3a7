"""Delta tables without a jar: parts that are written, and the one transaction that makes them a table's.

In: rows and declared tables. Out: parts and versions. It knows no configuration.
"""
