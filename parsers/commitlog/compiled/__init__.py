"""The compiled decoder: shapes, fields, properties and texts of records, and records found without a chain.

In: a mapped file. Out: filled columns, positions. Nothing here raises, and nothing is believed.
"""
