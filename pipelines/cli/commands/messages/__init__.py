"""What became of messages: delayed, given back, half, popped, traced.

In: options. Out: rows. They deliver nothing.
"""
