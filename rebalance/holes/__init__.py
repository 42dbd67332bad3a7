"""Spans of which nothing is on record although something had to come.

In: processes. Out: holes. It knows no owner.
"""
