"""Causes as values; what a row says is made from them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

START = "start"
ROUTE_CHANGED = "route_changed"  # the same members, another result: the process's queue list was new
NOT_IN_LIST = "not_in_list"
LIST_FAILED = "list_failed"
LOCK_GRANTED = "lock_granted"
PERIODIC = "periodic"
UNKNOWN = "unknown"
BEFORE_THE_RECORD = "before the record"
HELD_AT_THE_END = "held when the record ended"
BROKERS_DIFFER = "brokers_differ"  # the list came from another broker than the one before
JOINED, GONE = "joined", "gone"  # a member, and nothing on record says why
DUPLICATE_CLIENT_ID = "duplicate_client_id"
STRATEGY_DIFFERS = "strategy_differs"
SUBSCRIPTION_DIFFERS = "subscription_differs"
VIEWS_DIFFER = "views_differ"  # brokers, or the replay, had another member list
LOCK_HELD = "lock_held"
LOCK_HELD_BY = "lock held by"
LOCK_NOT_MARKED = "client before 4.9.5: it marks a lock at the next renewal of all"
LATE_COMMIT = "late commit"
WENT_BACK = "offset_went_back"


class Cause(NamedTuple):
    """One cause: what it is, and whom or what it is about (client ids, brokers or a topic).

    `kind` is one of the constants of this module, or the kind of an incident.
    """

    kind: str
    subjects: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.kind, *self.subjects))


Causes = tuple[Cause, ...]
"""The causes of one event."""


@lru_cache(maxsize=4_096)
def sentence(causes: Causes) -> str:
    """The text that columns have. Kept, for every member of a group hears the same news."""
    return "; ".join(map(str, causes))
