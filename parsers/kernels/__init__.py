"""Compiled pieces that more than one reader is built from: big-endian loads, CRC-32, UTF-8, Java's hash.

In: arrays of bytes. Out: numbers. They know no format.
"""
