"""Two logs held against each other, by their bytes and by their records.

In: the logs of two opened stores. Out: stretches in common and apart, what each has alone. It knows no election.
"""
