"""Compacted topics as a broker works with them: what a pull gets, and what the next pass drops.

In: the files of compacted queues. Out: answers. It plays no start and compacts nothing.
"""
