"""The nouns of a rebalance: queues, clients, versions, settings, and how long things take.

In: nothing. Out: value types. It knows no fact and no reader.
"""
