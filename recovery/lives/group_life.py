"""Whether a consumer group is alive, and what is lost with it if it is deleted.

A group has no life in the log: it is an entry of subscriptionGroup.json, offsets, and its retry and dead-letter topics.
Whether its consumers are connected, only a log of the broker shows. `mqadmin deleteSubGroup -b ADDR -g G -r true` drops
the entry and the offsets; with `-c CLUSTER` in place of `-b` it also deletes %RETRY%G and %DLQ%G with what they hold.
Source: AdminBrokerProcessor#deleteSubscriptionGroup, DeleteSubscriptionGroupCommand @4.9.7, 5.3.3 (`-r`: since 4.9.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NO_LOG = "no log of the broker shows whether a consumer is connected (--logs)"
UNKNOWN_SINCE = "the log of the broker begins after the group was last heard of, and shows no start of the broker"
COMES_BACK = "consumers that come back begin as a new group's do (`start-at`)"


class GroupState(StrEnum):
    """Whether a group is alive."""

    SYSTEM = "system"
    CONNECTED = "connected"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a log of the broker shows of the group's consumers at its end.

    `connected` None: nothing. `since_ms`: since when nobody was connected (epoch ms); `until_ms`: where the log ends.
    """

    connected: bool | None = None
    since_ms: int | None = None
    until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class GroupLeft:
    """What a store has of one group.

    Attributes:
        named: whether subscriptionGroup.json names it; None where that tells nothing.
        is_system: a group that brokers and tools make for themselves.
        topics, former_topics: topics with offsets of it, and those of them that were deleted.
        unread: unread messages of its topics, retry topics included; None where not known, and `why_unread` says why;
            None without a reason: the group has no offset, and nothing waits for it alone.
        dead_letters: messages of its dead-letter topic.
        doubtful_offsets: queues whose offset may count messages of a former life of the topic.
        unchanged_since_ms: all saved tables since then have the same offsets of it; None without a table that tells.
    """

    group: str
    named: bool | None
    is_system: bool
    topics: int
    former_topics: int
    unread: int | None
    why_unread: str | None
    dead_letters: int
    doubtful_offsets: int
    unchanged_since_ms: int | None


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """`loses_nothing`: whether deleting the group loses no message and stops no consumer; None: not decided."""

    state: GroupState
    loses_nothing: bool | None
    advice: str
    reason: str | None


def judge_group(left: GroupLeft, seen: Seen) -> GroupVerdict:
    """Whether a group is alive, and what is safe to do about it."""
    if left.is_system:
        return GroupVerdict(GroupState.SYSTEM, False, "keep", None)
    if seen.connected:
        return GroupVerdict(GroupState.CONNECTED, False, "keep", None)
    state = GroupState.UNKNOWN if seen.connected is None else GroupState.ABSENT
    why_state = None if state is GroupState.ABSENT else NO_LOG if seen.until_ms is None else UNKNOWN_SINCE
    losses = _losses(left)
    if losses:
        return GroupVerdict(state, False, f"keep, or read first: {' and '.join(losses)}", why_state)
    reasons = "; ".join(filter(None, (why_state, left.why_unread, _doubt(left))))
    if reasons:
        return GroupVerdict(state, None, "keep until the reason is settled", reasons)
    return GroupVerdict(state, True, f"deleting it loses no message; {COMES_BACK}", None)


def _losses(left: GroupLeft) -> list[str]:
    unread = f"{left.unread} unread messages" if left.unread else ""
    dead = f"{left.dead_letters} dead letters, which deleteSubGroup -c deletes" if left.dead_letters else ""
    return [loss for loss in (unread, dead) if loss]


def _doubt(left: GroupLeft) -> str | None:
    if not left.doubtful_offsets:
        return None
    return f"{left.doubtful_offsets} offsets may count messages of a former life: what is unread is not known"
