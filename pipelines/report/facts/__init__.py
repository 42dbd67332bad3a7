"""The facts of a report: of one store, or of a lake.

In: opened stores, tables of a lake. Out: values that a report is made of. It writes no sentence.
"""
