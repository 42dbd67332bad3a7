"""What notebooks show: evidence that comes along, plots, exhibits.

In: answers. Out: cells. It computes nothing that the command line cannot.
"""
