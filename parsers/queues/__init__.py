"""The queues of a store, whatever keeps them: files of either type of unit, or a database.

In: a store. Out: queues under one contract. They are not compared with the log.
"""
