"""What each group has not read of each queue, and what of it matches its subscription: rows of the table `backlog`.

In: the ledger of a store's queues, stored offsets, subscriptions. Out: rows. It knows no command line.
"""
