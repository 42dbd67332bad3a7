"""What can happen to the offset of a group on a queue."""

from __future__ import annotations

from enum import StrEnum


class MoveKind(StrEnum):
    """What happened to the offset."""

    RESET = "reset"
    RESET_REFUSED = "reset_refused"
    CORRECTED = "corrected"
    MOVED_BACK = "moved_back"
    MOVED_FORWARD = "moved_forward"
    FIRST_OFFSET = "first_offset"
    REMOVED = "removed"
    COMMITS_REJECTED = "commits_rejected"
    STARTED_ABOVE_COMMIT = "started_above_commit"
    STALLED = "stalled"
    NEXT_PULL = "next_pull"
