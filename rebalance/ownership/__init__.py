"""Who owned a queue at an instant, how sure that is, and what makes it unsure.

In: tenures of all processes of a group. Out: owners, doubts, notes. It explains nothing.
"""
