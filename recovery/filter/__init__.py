"""A group's filter: SQL92 as RocketMQ parses and evaluates it, and tags by their hash codes.

In: expressions, versions, properties of messages. Out: whether a message is delivered. It knows no store and no group.
"""
