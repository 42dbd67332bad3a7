"""How far groups are: lag, backlog, episodes, offsets, every queue offset's state.

In: options. Out: rows. They know no other command.
"""
