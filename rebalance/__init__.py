"""Who owns which queue: from facts to ownership and its explanation.

In: lines and records that others read. Out: rows. It sees no clock, file or logger; `replay` and `what_if` are doors.
"""
