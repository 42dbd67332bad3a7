"""What became of messages that a broker holds back for a while: delayed, given back, half, popped.

In: a scanned log, and how far the broker says that it is. Out: a fate for each message. It delivers nothing.
"""
