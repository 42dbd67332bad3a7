"""What it costs each group and queue if one replica is kept as the master and another one's own messages are given up.

Source: DefaultMessageStore#getMessage (OFFSET_OVERFLOW_BADLY: a pull beyond the queue's end goes on at the end),
ConsumerOffsetManager (a master answers with its own consumerOffset.json) @4.9.8, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from parsers.store.store_file import QueueKey
from recovery.compare.logs.own_messages import QueueShare
from recovery.compare.side_by_side import OffsetKey, Tables

Shares = Mapping[QueueKey, QueueShare]
NO_OFFSET = "no offset is stored in the replica that is kept: where the group starts is its client's choice"
OTHERS_NUMBERS = (
    "the offset lies among the replica's own messages: whether the group read those, or the other replica's messages "
    "of the same numbers, is not stored"
)
BEYOND = "beyond the queue's end: as many new messages are skipped if they come before the group's next pull"


@dataclass(frozen=True, slots=True)
class Cost:
    """One group and queue, where replica `keep` becomes master and what only `instead_of` has is given up.

    Attributes:
        kept_offset, other_offset: the committed offset in either; None where none is stored.
        repeated: messages read again, because the kept offset is lower than the other replica's; what that one alone
            holds is not among them.
        lost_unread, lost_read: messages of the other replica alone that the group had not read, and had.
        skipped: messages of the kept replica that the group will not get.
        beyond_end: how far the kept offset lies beyond the kept queue's end.
        reason: why a figure is None, or what to look at.
    """

    keep: str
    instead_of: str
    group: str
    topic: str
    queue_id: int
    kept_offset: int | None
    other_offset: int | None
    repeated: int | None
    lost_unread: int
    lost_read: int
    skipped: int | None
    beyond_end: int
    reason: str | None

    @property
    def is_free(self) -> bool:
        """Nothing is lost, repeated or skipped, and nothing is left open."""
        figures = (self.repeated, self.lost_unread, self.lost_read, self.skipped, self.beyond_end)
        return all(figure == 0 for figure in figures)


@dataclass(frozen=True, slots=True)
class Kept:
    """One replica in a pair: its name, tables, and messages after the last record that both have."""

    name: str
    tables: Tables
    tail: Shares


def costs(keep: Kept, other: Kept) -> Iterator[Cost]:
    """A row for each group and queue with an offset in either replica that is not free of cost."""
    for place in sorted(keep.tables.offsets.keys() | other.tables.offsets.keys()):
        row = _cost(keep, other, place)
        if not row.is_free:
            yield row


def _cost(keep: Kept, other: Kept, place: OffsetKey) -> Cost:
    key = place.topic, place.queue_id
    kept, others = keep.tables.offsets.get(place), other.tables.offsets.get(place)
    own, given_up = keep.tail.get(key), other.tail.get(key)
    first, end = keep.tables.queues.get(key, (0, 0))
    end = max(end, 0 if own is None else own.last_queue_offset + 1)  # not dispatched yet
    unread = 0 if given_up is None else _unread(given_up, others)
    repeated: int | None = None
    skipped: int | None = 0
    reason: str | None = None
    beyond = 0 if kept is None else max(0, kept - end)
    if kept is None:
        reason = NO_OFFSET
    else:
        repeated = _repeated(kept, others, first, given_up)
        if own is not None and given_up is not None and kept > own.first_queue_offset:
            skipped, reason = None, OTHERS_NUMBERS
        elif beyond:
            reason = BEYOND
    return Cost(
        keep=keep.name,
        instead_of=other.name,
        group=place.group,
        topic=place.topic,
        queue_id=place.queue_id,
        kept_offset=kept,
        other_offset=others,
        repeated=repeated,
        lost_unread=unread,
        lost_read=0 if given_up is None else given_up.messages - unread,
        skipped=skipped,
        beyond_end=beyond,
        reason=reason,
    )


def _unread(given_up: QueueShare, offset: int | None) -> int:
    """Messages of a queue's share, which follow one another, at or after an offset."""
    return min(given_up.messages, max(0, given_up.last_queue_offset + 1 - max(offset or 0, 0)))


def _repeated(kept: int, others: int | None, first: int, given_up: QueueShare | None) -> int:
    """Messages between the two offsets that the kept replica has."""
    until = others or 0
    if given_up is not None:
        until = min(until, given_up.first_queue_offset)
    return max(0, until - max(kept, first, 0))
