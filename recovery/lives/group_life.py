"""Whether a consumer group is alive, and what is lost with it if it is deleted.

A group has no life in the log: it is an entry of subscriptionGroup.json, offsets, and its retry and dead-letter topics.
Whether its consumers are connected, only a log of the broker shows. `mqadmin deleteSubGroup -b ADDR -g G -r true` drops
the entry and the offsets; with `-c CLUSTER` in place of `-b` it also deletes %RETRY%G and %DLQ%G with what they hold,
on all masters: what is known of one store is a ground for `-b` alone.
Source: AdminBrokerProcessor#deleteSubscriptionGroup, DeleteSubscriptionGroupCommand @4.9.7, 5.3.3 (`-r`: since 4.9.0).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from parsers.values.utc import utc_text

NO_LOG = "no log of the broker shows whether a consumer is connected (--logs)"
UNKNOWN_SINCE = "the log of the broker begins after the group was last heard of, and shows no start of the broker"
COMES_BACK = "consumers that come back begin as a new group's do (`start-at`)"
LOSES_NOTHING = (
    "on this broker alone (deleteSubGroup -b; ask every other broker before -c) deleting it loses no message; "
    f"{COMES_BACK}"
)
BEHIND_PROXY = "consumers behind a proxy in cluster mode leave no line in the broker's log: ask who runs the proxies"
NO_PROXY_SAID = "this rests on your word that no consumer comes through a proxy"
ON_RECORD = "the last consumer behind a proxy that the store has a heartbeat of was {client} at {at}"
NO_PROXY_DENIED = "you said that no consumer comes through a proxy, and one did: {client} at {at}"
HEARD_BEHIND_PROXY = "by its heartbeat through a proxy in cluster mode: {client} at {at}"
PROXY_EXPIRES_MS = 120_000
"""A proxy drops a consumer of which it heard nothing for so long (ConsumerManager#CHANNEL_EXPIRED_TIMEOUT @5.0.0)."""
OFFSETS_MOVED = "saved offsets of the group changed after its last consumer was seen to go"
QUIET_MS = 65_000
"""A broker that runs writes a line a minute, and its offsets every 5 s (BrokerController#initialize @4.9.7)."""


class GroupState(StrEnum):
    """Whether a group is alive."""

    SYSTEM = "system"
    CONNECTED = "connected"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a log of the broker shows of the group's consumers at its end.

    `connected` None: nothing. `since_ms`: since when nobody was connected (epoch ms); `until_ms`: until when the log
    tells that: to its end, `logged_until_ms`, or to the broker's stop.
    """

    connected: bool | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    logged_until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Proxied:
    """The consumer behind a proxy in cluster mode that was heard last, and when (epoch ms, by the broker's clock);
    `is_gone`: by its farewell."""

    client_id: str
    heard_ms: int
    is_gone: bool

    def within(self, sentence: str) -> str:
        """The sentence with who and when."""
        return sentence.format(client=self.client_id, at=utc_text(self.heard_ms))


@dataclass(frozen=True, slots=True)
class GroupLeft:
    """What a store has of one group.

    Attributes:
        named: whether subscriptionGroup.json names it; None where that tells nothing.
        is_system: a group that brokers and tools make for themselves.
        topics, former_topics: topics with offsets of it, and those of them that were deleted.
        unread: unread messages of its topics, retry topics included; None where not known, and `why_unread` says why;
            None without a reason: the group has no offset, and nothing waits for it alone.
        dead_letters: messages of its dead-letter topic; None where not known, and `why_dead_letters` says why.
        doubtful_offsets: queues whose offset may count messages of a former life of the topic.
        unchanged_since_ms: all saved tables since then have the same offsets of it; None without a table that tells.
        at_least: unread messages that are known of where not all are.
        in_flight: messages that it popped, and that the broker delivers again unless they are acknowledged.
        changed_after_ms: its offsets changed after this instant; None where no two saved tables show a change.
        saved_ms: when the store was last written to, as far as its offsets and messages tell; 0 without any.
        may_use_proxy: its consumers may be such as leave no line in the broker's log; no_proxy: somebody who knows says
            that there are none; proxied: the store has heartbeats of such.
        unordered_topics: FIFO topics that it reads although its consumeMessageOrderly is false; None: not known.
    """

    group: str
    named: bool | None
    is_system: bool
    topics: int
    former_topics: int
    unread: int | None
    why_unread: str | None
    dead_letters: int | None
    doubtful_offsets: int
    unchanged_since_ms: int | None
    why_dead_letters: str | None = None
    at_least: int = 0
    in_flight: int = 0
    changed_after_ms: int | None = None
    saved_ms: int = 0
    may_use_proxy: bool = False
    no_proxy: bool = False
    proxied: Proxied | None = None
    unordered_topics: tuple[str, ...] | None = None

    @property
    def is_heard_at_end(self) -> bool:
        """Whether a consumer behind a proxy was connected where the store ends."""
        heard = self.proxied
        return heard is not None and not heard.is_gone and heard.heard_ms + PROXY_EXPIRES_MS >= self.saved_ms


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
    if left.proxied is not None and left.is_heard_at_end:
        return GroupVerdict(GroupState.CONNECTED, False, "keep", left.proxied.within(HEARD_BEHIND_PROXY))
    state = GroupState.UNKNOWN if seen.connected is None else GroupState.ABSENT
    why_state = None if state is GroupState.ABSENT else NO_LOG if seen.until_ms is None else UNKNOWN_SINCE
    not_known = (left.why_unread, left.why_dead_letters, _doubt(left))
    losses = _losses(left)
    if losses:
        reasons = "; ".join(filter(None, (why_state, *_unseen(left, seen), *not_known)))
        return GroupVerdict(state, False, f"keep, or read first: {' and '.join(losses)}", reasons or None)
    reasons = "; ".join(filter(None, (why_state, *_unseen(left, seen), *not_known)))
    if reasons:
        return GroupVerdict(state, None, "keep until the reason is settled", reasons)
    advice = f"{LOSES_NOTHING}; {NO_PROXY_SAID}" if left.may_use_proxy else LOSES_NOTHING
    return GroupVerdict(state, True, advice, None)


def _losses(left: GroupLeft) -> list[str]:
    unread = f"{left.unread} unread messages" if left.unread else ""
    if left.unread is None and left.at_least:
        unread = f"at least {left.at_least} unread messages"
    dead = f"{left.dead_letters} dead letters, which deleteSubGroup -c deletes" if left.dead_letters else ""
    popped = f"{left.in_flight} popped messages that are not acknowledged" if left.in_flight else ""
    return [loss for loss in (unread, popped, dead) if loss]


def _unseen(left: GroupLeft, seen: Seen) -> Iterator[str]:
    """Why consumers may be there that the log does not show."""
    if left.proxied is not None:
        yield left.proxied.within(NO_PROXY_DENIED if left.no_proxy else ON_RECORD)
    if seen.connected is None:
        return
    if seen.logged_until_ms is None or seen.logged_until_ms + QUIET_MS < left.saved_ms:
        yield f"the log of the broker ends before the store was last written to ({utc_text(left.saved_ms)})"
    if None not in (left.changed_after_ms, seen.since_ms) and (left.changed_after_ms or 0) >= (seen.since_ms or 0):
        yield OFFSETS_MOVED
    if left.may_use_proxy and not left.no_proxy:
        yield BEHIND_PROXY


def _doubt(left: GroupLeft) -> str | None:
    if not left.doubtful_offsets:
        return None
    return f"{left.doubtful_offsets} offsets may count messages of a former life: what is unread is not known"
