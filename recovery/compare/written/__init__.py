"""A comparison as it is handed on: one JSON document, flat rows, a sentence.

In: a comparison. Out: values. It compares nothing.
"""
