"""Requests and answers of brokers, from captured bytes.

In: frames or wire records. Out: facts. It knows no log.
"""
