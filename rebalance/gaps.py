"""Spans in which nobody of a group shows, though clients that commit every 5 s lived on: the record has a hole there,
or its clock was set forward.

Source: MQClientInstance#startScheduledTask, persistConsumerOffsetInterval; RemoteBrokerOffsetStore#persistAll commits
    every queue of the table, changed or not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter

from rebalance.client import ClientProcess, WitnessKind
from rebalance.round_clock import ADDING

Span = tuple[int, int]
_SILENT_MS = 15_000  # three periods of persistAll
_REGULAR = 3  # commits in that time: this client commits every 5 s
_CHANGES = (*ADDING, WitnessKind.REMOVED)
_AT_MS = attrgetter("at_ms")


def gaps_of(
    processes: Sequence[ClientProcess], down: Mapping[str, Sequence[Span]], *, warm_up_ms: int
) -> tuple[Span, ...]:
    """The holes of one group's record (from, until; epoch ms), each with the time it takes to know all members again.

    Args:
        down: per broker the spans in which it was away.
    """
    away = [span for spans in down.values() for span in spans]
    silent = {gap for process in processes for pause in _pauses(process) for gap in _without_a_sign(pause, processes)}
    return tuple(
        (begin, end + warm_up_ms)
        for begin, end in sorted(silent)
        if not any(gone < end and back > begin for gone, back in away)
    )


def _pauses(process: ClientProcess) -> Iterator[Span]:
    """Spans in which a process did not commit a queue that it committed every 5 s before, and still had after."""
    for seen in process.witnesses.values():
        for after in range(_REGULAR, len(seen)):
            begin_ms, end_ms = seen[after - 1].at_ms, seen[after].at_ms
            if end_ms - begin_ms > _SILENT_MS and seen[after].kind not in _CHANGES:
                before = seen[after - _REGULAR : after]
                regular = before[0].at_ms >= begin_ms - _SILENT_MS
                if regular and all(witness.kind is WitnessKind.COMMIT for witness in before):
                    yield begin_ms, end_ms


def _without_a_sign(pause: Span, processes: Iterable[ClientProcess]) -> Iterator[Span]:
    """The parts of a pause in which no process did anything, if they are long."""
    begin_ms, end_ms = pause
    signs = {begin_ms, end_ms}
    for process in processes:
        signs.update(answer.at_ms for answer in process.lists if begin_ms < answer.at_ms < end_ms)
        for seen in process.witnesses.values():
            first, last = bisect_right(seen, begin_ms, key=_AT_MS), bisect_right(seen, end_ms, key=_AT_MS)
            signs.update(witness.at_ms for witness in seen[first:last])
    yield from ((a, b) for a, b in pairwise(sorted(signs)) if b - a > _SILENT_MS)
