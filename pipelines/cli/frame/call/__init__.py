"""One call of a command: its run, the stores it opens, its questions in batches, how far it is.

In: a command and its options. Out: rows handed on, exit codes. It knows no command by name.
"""
