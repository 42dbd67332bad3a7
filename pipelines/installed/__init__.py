"""What comes with the installed package, and what only an extra brings.

In: nothing. Out: folders and sentences. It knows no table.
"""
