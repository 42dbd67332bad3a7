"""The lives of topics and groups as rows of tables, and what they change of lag.

In: a store, logs, kept copies of config/, tables. Out: rows. It knows no screen.
"""
