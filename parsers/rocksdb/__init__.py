"""The databases in which a broker keeps its ConsumeQueues (since 5.2.0) and its tables (since 5.1.4).

In: database folders, read through a folder of links. Out: units, tables. No database is written or repaired.
"""
