"""Entries of a log whose lines are out of order, put back in order.

A log is written in order, but for what threads writing at the same time do. Two things make its stamps go back: its
clock was set, which shows at one place, after which the old and the new times run over each other; or its lines were
moved: then a block of them fits between two others, or the stamps go back again and again. A few jumps may be either:
the entries are put in order, and their instants are as unsure as a clock that went back would make them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter

from rebalance.model import budget
from rebalance.model.timing import THREADS_MS
from rebalance.readers.logs.lines.reader import LogEvent

_HELD = 16_384  # entries that are put in order among each other; what is further apart stays where it is
_SHUFFLED = 10  # jumps back among those held that no clock makes
_AT_MS = attrgetter("at_ms")


class EntryOrder:
    """Puts the entries of one log in order.

    Attributes:
        moved: how many stood after a later one.
        back_ms: how far the clock may have gone back; 0 if nothing but moved lines explains the order.
        first, last: of those that were put in order the earliest and the latest.
    """

    def __init__(self) -> None:
        self.moved = 0
        self.back_ms = 0
        self.first: LogEvent | None = None
        self.last: LogEvent | None = None

    def ordered(self, events: Iterable[LogEvent]) -> Iterator[LogEvent]:
        """Entries in the order of their stamps; those of one instant in the order they came."""
        for held in _some_at_a_time(events):
            backs = _jumps_back(held)
            if backs and _were_moved(held, backs):
                if len(backs) < _SHUFFLED:
                    self.back_ms = max(self.back_ms, *(held[at - 1].at_ms - held[at].at_ms for at in backs))
                held = self._sorted(held)
            yield from held

    def _sorted(self, held: list[LogEvent]) -> list[LogEvent]:
        latest_ms = held[0].at_ms
        for event in held:
            self.moved += event.at_ms < latest_ms
            latest_ms = max(latest_ms, event.at_ms)
        held.sort(key=_AT_MS)
        if self.first is None or held[0].at_ms < self.first.at_ms:
            self.first = held[0]
        if self.last is None or held[-1].at_ms > self.last.at_ms:
            self.last = held[-1]
        return held


def _some_at_a_time(events: Iterable[LogEvent]) -> Iterator[list[LogEvent]]:
    held: list[LogEvent] = []
    size = 0
    for event in events:
        held.append(event)
        size += len(event.line)
        if len(held) == _HELD or size > budget.WAITING_LINES_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


def _jumps_back(held: Sequence[LogEvent]) -> list[int]:
    """Where an entry is earlier than the one before it by more than threads do."""
    return [at for at, (one, then) in enumerate(pairwise(held), 1) if then.at_ms < one.at_ms - THREADS_MS]


def _were_moved(held: Sequence[LogEvent], backs: Sequence[int]) -> bool:
    if len({event.early_ms for event in held}) > 1:
        return False  # some of an unknown time zone: nothing is known
    return len(backs) > 1 or _fits_between(held, backs[0])


def _fits_between(held: Sequence[LogEvent], at: int) -> bool:
    """Whether what follows the one jump back, as far as it is earlier, fits between two neighbours before it."""
    before = [event.at_ms for event in held[:at]]
    block = [event.at_ms for event in held[at:] if event.at_ms < before[-1]]
    return min(before) < block[0] and not any(block[0] < at_ms < block[-1] for at_ms in before)
