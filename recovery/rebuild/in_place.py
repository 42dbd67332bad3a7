"""Which rebuilt queues can take the place of a store's own."""

from __future__ import annotations

WHICH_IN_PLACE = "all of them if its report ends with 0, else only the queues that it does not name"
"""The others have messages in no log file, and count from 0 again without their own folders; or the log has several
messages of one number, and the new files lead to another one than their own."""
