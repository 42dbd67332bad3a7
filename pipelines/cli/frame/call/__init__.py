"""One call of a command: its run, the stores it opens, what it reads beside them, its questions in batches.

In: a command and its options. Out: rows handed on, exit codes. It knows no command by name.
"""
