"""What the differences of two logs mean: the same history, one further than the other, or two histories.

Replicas copy bytes, so two logs that agree in a record after a difference have one history: the difference is that of
one copy. Where they agree in nothing any more and both go on, each was written by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from parsers.damage.errors import DamageSink, unheard
from parsers.store.sequence import holes
from parsers.store.store_file import StoreFile
from recovery.compare.logs.kernel import differing_bits
from recovery.compare.logs.log_pair import MOST_STRETCHES, LogBytes, Meets, Stretch, stretches
from recovery.compare.logs.own_messages import OwnMessages, Range, own_messages
from recovery.rules.dispatch import DispatchRules

LOG_END = 1 << 63
MOST_RECORD_BYTES = 1 << 26
TWO_RECORDS = (Meets.OTHER, Meets.OTHER_SIZE)
"""Both logs have a record of their own there."""
TWO_BITS = 2


class Relation(StrEnum):
    """How the left log stands to the right one."""

    LEVEL = "level"
    LEFT_LONGER = "left_longer"
    RIGHT_LONGER = "right_longer"
    DIVERGED = "diverged"
    ALTERED_AT_END = "altered_at_end"
    NOTHING_SHARED = "nothing_shared"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two logs has alone.

    Attributes:
        head: what lies before the first byte of the other log.
        tail: what follows the last record that both have.
        inside: what lies between, where the other has no record of its own.
        end: the byte after the last record; None for a log without one.
        holes: ranges that no file of this log holds, between files.
    """

    head: OwnMessages
    tail: OwnMessages
    inside: OwnMessages
    end: int | None
    holes: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class History:
    """Two logs, in bytes of the whole log.

    Attributes:
        compared_from: the first byte that both logs have; None where no range is in both.
        common_prefix_end: the end of the last record before the first difference.
        agreed_until: the end of the last record that both have, whatever differs before it.
        altered: stretches before that in which the logs differ.
        cut_short: the shorter log ends inside a record that the other one has whole.
        told_apart: False where the logs differ in so many places that the rest of them is taken as one.
    """

    relation: Relation
    compared_from: int | None
    common_prefix_end: int | None
    agreed_until: int | None
    altered: tuple[Stretch, ...]
    left: Side
    right: Side
    cut_short: bool = False
    told_apart: bool = True


def history_of(
    left: Sequence[StoreFile],
    right: Sequence[StoreFile],
    rules: tuple[DispatchRules, DispatchRules],
    damage: DamageSink = unheard,
) -> History:
    """Compare two logs whose files are given in offset order; `rules`: those of either broker.

    Raises UnreadableFile where a file becomes shorter meanwhile.
    """
    left_bytes, right_bytes = LogBytes(left, damage), LogBytes(right, damage)
    found = stretches(left, right_bytes)
    shared = _shared(_span(left), _span(right))
    common, agreed = _prefix(found, shared), _agreed(found, shared)
    inside = [each for each in found if shared is not None and shared <= each.begin < agreed and differs(each)]
    right_alone = sorted([*_right_alone(inside, agreed), *_holes_within(left, shared, agreed)])
    sides = (
        _side(left, rules[0], shared, agreed, list(_left_alone(inside, agreed))),
        _side(right, rules[1], shared, agreed, right_alone),
    )
    cut = _is_cut_short(sides[0], left_bytes, right_bytes) or _is_cut_short(sides[1], right_bytes, left_bytes)
    return History(
        _relation(shared, agreed, sides, left_bytes, right_bytes, cut),
        shared,
        None if shared is None else common,
        None if shared is None or agreed == shared else agreed,
        tuple(inside),
        *sides,
        cut_short=cut,
        told_apart=len(found) < MOST_STRETCHES,
    )


def differs(stretch: Stretch) -> bool:
    """Whether the other log has anything else in the place of a stretch."""
    return stretch.meets is not Meets.EQUAL


def _span(files: Sequence[StoreFile]) -> Range | None:
    if not files:
        return None
    return Range(files[0].base_offset or 0, max((file.base_offset or 0) + file.size for file in files))


def _shared(left: Range | None, right: Range | None) -> int | None:
    """The first byte that is in both spans."""
    if left is None or right is None:
        return None
    begin = max(left.begin, right.begin)
    return begin if begin < min(left.end, right.end) else None


def _is_record(stretch: Stretch) -> bool:
    return stretch.kind in ("messages", "blank") and stretch.meets is Meets.EQUAL


def _prefix(found: Iterable[Stretch], shared: int | None) -> int:
    """The end of the records before the first difference, from the first byte that both have."""
    end = shared or 0
    for stretch in found:
        if shared is None or stretch.end <= shared:
            continue
        if not _is_record(stretch) and not (stretch.kind in ("damage", "stale") and stretch.meets is Meets.EQUAL):
            break
        end = stretch.end
    return end


def _agreed(found: Iterable[Stretch], shared: int | None) -> int:
    """The end of the last message that is equal in both, and of a blank after it."""
    end = shared or 0
    for stretch in found:
        if shared is None or stretch.end <= shared or not _is_record(stretch):
            continue
        if stretch.kind == "messages" or stretch.begin == end:
            end = stretch.end
    return end


def _left_alone(inside: Iterable[Stretch], agreed: int) -> Iterator[Range]:
    """Ranges in which the left log has records and the right one has none."""
    for each in inside:
        if each.kind == "messages" and each.meets not in TWO_RECORDS:
            yield Range(each.begin, min(each.end, agreed))


def _right_alone(inside: Iterable[Stretch], agreed: int) -> Iterator[Range]:
    """Ranges in which the right log may have records where the left one has none."""
    for each in inside:
        if each.meets is Meets.NO_RECORD or (each.kind != "messages" and each.meets is not Meets.ABSENT):
            yield Range(each.begin, min(each.end, agreed))


def _holes_within(files: Sequence[StoreFile], shared: int | None, agreed: int) -> Iterator[Range]:
    for begin, end in holes(files):
        if shared is not None and max(begin, shared) < min(end, agreed):
            yield Range(max(begin, shared), min(end, agreed))


def _side(
    files: Sequence[StoreFile], rules: DispatchRules, shared: int | None, agreed: int, inside: Sequence[Range]
) -> Side:
    begins = LOG_END if shared is None else shared
    head = own_messages(files, [Range(0, begins)], rules) if begins else OwnMessages()
    tail = OwnMessages() if shared is None else own_messages(files, [Range(agreed, LOG_END)], rules)
    end = tail.end if tail.end is not None else head.end if shared is None else agreed
    own_holes = tuple(Range(*hole) for hole in holes(files))
    return Side(head, tail, own_messages(files, inside, rules), end, own_holes)


def _relation(
    shared: int | None, agreed: int, sides: tuple[Side, Side], left: LogBytes, right: LogBytes, cut_short: bool
) -> Relation:
    if shared is None:
        return Relation.NOTHING_SHARED
    ahead = [side.tail.records > 0 for side in sides]
    if all(ahead):
        if agreed == shared:
            return Relation.NOTHING_SHARED
        return Relation.ALTERED_AT_END if _one_bit(agreed, sides, left, right) else Relation.DIVERGED
    if any(side.tail.damaged for side in sides) and not cut_short:
        return Relation.UNREADABLE
    if not any(ahead):
        return Relation.LEVEL
    return Relation.LEFT_LONGER if ahead[0] else Relation.RIGHT_LONGER


def _is_cut_short(side: Side, shorter: LogBytes, longer: LogBytes) -> bool:
    """What follows the shorter log's last record is the first bytes of what the other has there, and zeros."""
    unread = [*side.tail.damaged, *side.tail.stale]
    if side.tail.records or len(unread) != 1:
        return False
    begin, end = unread[0]
    own = shorter.bytes_of(begin, end) if end - begin <= MOST_RECORD_BYTES else None
    written = own.rstrip(b"\0") if own is not None else b""
    return bool(written) and longer.bytes_of(begin, begin + len(written)) == written


def _one_bit(agreed: int, sides: tuple[Side, Side], left: LogBytes, right: LogBytes) -> bool:
    """The last record of both is the only one after what they share, and it is one bit apart."""
    ends = {side.tail.end for side in sides}
    if len(ends) > 1 or any(side.tail.records != 1 for side in sides):
        return False
    (end,) = ends
    own, others = left.bytes_of(agreed, end or agreed), right.bytes_of(agreed, end or agreed)
    return own is not None and others is not None and bits_apart(own, others) < TWO_BITS


def bits_apart(left: bytes, right: bytes) -> int:
    """How many bits two runs of bytes of one length differ in, counted up to TWO_BITS."""
    return int(differing_bits(np.frombuffer(left, np.uint8), np.frombuffer(right, np.uint8), TWO_BITS))
