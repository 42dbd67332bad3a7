"""The ledger of a queue: every queue offset from 0 to its maximum in exactly one state.

Pure: ranges in, ranges out. What a store proves of a queue comes in layers, the surer before the weaker; `painted` lays
them over one another, so that the states of a queue add up to its maximum whatever the layers are. `of_group` turns
them into what one group had of the queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Longs
from parsers.values.topics import REVIVE_GROUP


class State(StrEnum):
    """What became of a queue offset. The last four are states for one group alone."""

    STORED = "stored"
    EXPIRED = "expired"
    TRUNCATED = "truncated"
    NEVER_DISPATCHED = "never_dispatched"
    NOT_DISPATCHED_YET = "not_dispatched_yet"
    FORMER_LIFE = "former_life"
    DAMAGED = "damaged"
    UNKNOWN = "unknown"
    CONSUMED = "consumed"
    WAITING = "waiting"
    EXPIRED_UNREAD = "expired_unread"
    SKIPPED = "skipped"


LOST = (State.EXPIRED_UNREAD, State.SKIPPED, State.TRUNCATED, State.NEVER_DISPATCHED, State.DAMAGED)
"""States of messages that a group does not get."""
UNDELIVERED = (State.NEVER_DISPATCHED, State.NOT_DISPATCHED_YET)
NO_OFFSET = "no offset is stored for this queue: where the group starts is its client's choice"
PASSED = "the group's offset has passed it, and no pull could deliver it"


@dataclass(frozen=True, slots=True)
class LedgerRange:
    """Queue offsets `first` to before `end` in one state. `certain` False: something else could explain the files."""

    first: int
    end: int
    state: State
    certain: bool = True
    reason: str | None = None

    @property
    def messages(self) -> int:
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class Layer:
    """Ranges of one state: `starts` and `ends` of half-open ranges that rise and do not overlap."""

    starts: Longs
    ends: Longs
    state: State
    certain: bool = True
    reason: str | None = None

    @classmethod
    def empty(cls, state: State, reason: str | None = None, *, certain: bool = True) -> Layer:
        """No range: what a state says, for ranges to come."""
        none = np.empty(0, np.int64)
        return cls(none, none, state, certain, reason)

    @classmethod
    def of_offsets(cls, offsets: Longs, state: State, reason: str | None = None, *, certain: bool = True) -> Layer:
        """Single queue offsets, in any order, some of them twice."""
        rising = np.unique(offsets)
        breaks = np.flatnonzero(np.diff(rising) != 1) + 1
        first = np.concatenate(([0], breaks)) if len(rising) else np.empty(0, np.int64)
        last = np.concatenate((breaks, [len(rising)])) - 1 if len(rising) else np.empty(0, np.int64)
        return cls(rising[first], rising[last] + 1, state, certain, reason)

    @property
    def end(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def holds(self, points: Longs) -> npt.NDArray[np.bool_]:
        """Which of the points lie in one of the ranges."""
        if not len(self.starts):
            return np.zeros(len(points), np.bool_)
        number = np.searchsorted(self.starts, points, "right") - 1
        inside: npt.NDArray[np.bool_] = (number >= 0) & (points < self.ends[np.maximum(number, 0)])
        return inside


def painted(layers: Sequence[Layer], before: Layer, between: Layer) -> list[LedgerRange]:
    """Every queue offset from 0 to the end of the last range once, in the state of the first layer that holds it.

    Args:
        before: the state of offsets that no layer holds, before the first that one does; its own ranges do not count.
        between: the same for those after.
    Example: layers [5, 8) stored and [7, 9) damaged -> [0, 5) as `before`, [5, 8) stored, [8, 9) damaged.
    """
    end = max((layer.end for layer in layers), default=0)
    edges = [np.array([0, end], np.int64), *(side for layer in layers for side in (layer.starts, layer.ends))]
    bounds = np.unique(np.clip(np.concatenate(edges), 0, end))
    points, chosen = bounds[:-1], np.full(max(0, len(bounds) - 1), len(layers))
    for number in range(len(layers) - 1, -1, -1):
        chosen[layers[number].holds(points)] = number
    held = np.flatnonzero(chosen < len(layers))
    chosen[(chosen == len(layers)) & (np.arange(len(chosen)) > (held[0] if len(held) else 0))] = len(layers) + 1
    told = [*layers, before, between]
    same = np.flatnonzero(np.diff(chosen)) + 1
    starts = np.concatenate(([0], same)) if len(chosen) else same
    ends = np.concatenate((bounds[same], [end]))
    return _joined(
        LedgerRange(first, behind, told[number].state, told[number].certain, told[number].reason)
        for first, behind, number in zip(bounds[starts].tolist(), ends.tolist(), chosen[starts].tolist(), strict=False)
    )


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """Where a group stands on a queue: its stored offset, None without one.

    Attributes:
        unread: why the offset says nothing of this queue's messages, which all count as not read.
        doubt: why it may say nothing of them.
        passed: ranges that a movement took the offset over, as far as it did not come back to them: they rise, and
            their states take the place of `consumed`.
        popped: why the group may not have acknowledged what is below the offset: it pops.
    """

    offset: int | None
    unread: str | None = None
    doubt: str | None = None
    passed: tuple[LedgerRange, ...] = ()
    popped: str | None = None


def next_to_read(group: str, offset: int, end: int) -> int:
    """The queue offset that a group reads next, by its stored one; `end`: the queue's.

    Of the group by which a broker revives popped messages the stored offset is the last checkpoint that it is done with
    (PopReviveService#consumeReviveMessage @5.0.0, 5.3.3); others store the next one.
    """
    return offset + 1 if group == REVIVE_GROUP and offset < end else offset


def of_group(ranges: Iterable[LedgerRange], place: GroupPlace) -> list[LedgerRange]:
    """Read a group's offset into the queue offsets of a ledger.

    Below its offset a message that was ever in the queue is `consumed`: that is what the broker takes it for, whether
    a listener got it or not, but where a movement is known to have taken the offset over it; of a group that pops that
    is not certain, as what it popped and has not acknowledged comes again. From the offset on a
    stored one is `waiting`, an expired one `expired_unread`. Without an offset, and below one that is beyond the
    queue's end, all is unknown.
    """
    listed = list(ranges)
    end = listed[-1].end if listed else 0
    offset = 0 if place.unread is not None else place.offset
    if offset is None:
        return _joined(_unless_undelivered(each, NO_OFFSET) for each in listed)
    doubt = place.doubt
    if offset > end:
        doubt = doubt or f"the group's offset {offset} is beyond the queue's end {end}: which of these it read is lost"
    found: list[LedgerRange] = []
    for each in listed:
        for part in _part(each, each.first, min(each.end, offset)):
            found += _passed(_read(part, doubt, place.popped), place.passed)
        found += [_unread(part, place.unread) for part in _part(each, max(each.first, offset), each.end)]
    return _joined(found)


def _part(whole: LedgerRange, first: int, end: int) -> Iterator[LedgerRange]:
    if first < end:
        yield replace(whole, first=first, end=end)


def _read(part: LedgerRange, doubt: str | None, popped: str | None) -> LedgerRange:
    """A range below the group's offset."""
    if part.state in UNDELIVERED:
        return replace(part, reason=f"{part.reason}; {PASSED}" if part.reason else PASSED)
    if doubt is not None:
        return replace(part, state=State.UNKNOWN, certain=False, reason=doubt)
    return replace(part, state=State.CONSUMED, certain=popped is None, reason=popped)


def _passed(part: LedgerRange, passed: Iterable[LedgerRange]) -> Iterator[LedgerRange]:
    """A range below the group's offset, in pieces where movements took the offset over it."""
    if part.state is not State.CONSUMED:
        yield part
        return
    at = part.first
    for over in passed:
        yield from _part(part, at, min(over.first, part.end))
        yield from _part(over, max(over.first, at), min(over.end, part.end))
        at = max(at, min(over.end, part.end))
    yield from _part(part, at, part.end)


def _unread(part: LedgerRange, why: str | None) -> LedgerRange:
    """A range from the group's offset on."""
    state = {State.STORED: State.WAITING, State.EXPIRED: State.EXPIRED_UNREAD}.get(part.state, part.state)
    reason = "; ".join(filter(None, (part.reason, why))) or None
    return replace(part, state=state, reason=reason)


def _unless_undelivered(part: LedgerRange, why: str) -> LedgerRange:
    return part if part.state in UNDELIVERED else replace(part, state=State.UNKNOWN, certain=False, reason=why)


def _joined(ranges: Iterable[LedgerRange]) -> list[LedgerRange]:
    """Neighbours that say the same as one."""
    found: list[LedgerRange] = []
    for each in ranges:
        if found and replace(found[-1], first=each.first, end=each.end) == each:
            found[-1] = replace(found[-1], end=each.end)
        else:
            found.append(each)
    return found
