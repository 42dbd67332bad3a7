"""Prove a store's files against each other.

In: an opened store. Out: findings, each with its bytes and what to do. It repairs nothing.
"""
