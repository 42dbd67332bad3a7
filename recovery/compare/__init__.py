"""Replicas side by side: where their logs differ, what each has alone, and what it costs to keep one of them.

In: opened stores. Out: differences, the master an election would choose, messages lost and repeated. It copies nothing.
"""
