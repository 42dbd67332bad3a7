"""Why a group fell behind: the causes into which the area under its lag is split."""

from __future__ import annotations

from enum import StrEnum


class LagCause(StrEnum):
    """Why a group fell behind."""

    OFFSET_MOVED = "offset_moved"
    OWNERSHIP_GAP = "ownership_gap"
    LOCK_WAIT = "lock_wait"
    DISPATCH_DELAY = "dispatch_delay"
    HOT_QUEUE = "hot_queue"
    BURST = "burst"
    SLOW_CLIENT = "slow_client"
    UNEXPLAINED = "unexplained"
