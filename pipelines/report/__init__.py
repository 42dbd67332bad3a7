"""The HTML report: what a store or a lake holds, in one file that needs nothing else.

In: answers. Out: one page. It computes nothing about a store.
"""
