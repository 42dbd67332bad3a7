"""Holes in a group's record, and what shows them.

Spans in which nobody of a group shows, though clients that commit every 5 s lived on: lines are lost there, or the
clock was set forward. And changes of which a client's log does not tell, though it was read from its start.

Source: MQClientInstance#startScheduledTask, persistConsumerOffsetInterval; RemoteBrokerOffsetStore#persistAll commits
    every queue of the table, changed or not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter

from rebalance.client import ClientProcess, Witness, WitnessKind
from rebalance.log_cover import first_commits
from rebalance.model import MessageQueue
from rebalance.round_clock import ADDING

Span = tuple[int, int]
_SILENT_MS = 15_000  # three periods of persistAll
_REGULAR = 3  # commits in that time: this client commits every 5 s
_LATE_COMMIT_MS = 1_000  # a queue that was removed may be committed by another thread once more
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
    holes = {gap for gap in silent if not _meets(gap, away)}
    logged = [process for process in processes if process.log_from_start and not process.captured]
    if logged:
        committed = first_commits(processes)
        holes |= {gap for process in logged for gap in _lines_lost(process, committed)}
    return tuple((begin, end + warm_up_ms) for begin, end in sorted(holes))


def _meets(gap: Span, spans: Iterable[Span]) -> bool:
    return any(begin < gap[1] and end > gap[0] for begin, end in spans)


def _lines_lost(process: ClientProcess, committed: Mapping[MessageQueue, int]) -> Iterator[Span]:
    """Spans of a log that was read from its start in which a queue came or went without the line that tells of it.

    How long a queue was held of which no line tells the end is not known: the span is then the rest of the process.
    """
    last_commit_ms: dict[str, int] = {}
    for queue, seen in process.witnesses.items():
        commits_ms = (witness.at_ms for witness in seen if witness.kind is WitnessKind.COMMIT)
        last_commit_ms[queue.broker_name] = max(last_commit_ms.get(queue.broker_name, 0), *commits_ms, 0)
    for queue, seen in process.witnesses.items():
        before: Witness | None = None
        for witness in seen:
            held = before is not None and before.kind is not WitnessKind.REMOVED
            since_ms = process.first_ms if before is None else before.at_ms
            came = witness.kind is WitnessKind.COMMIT and not held and witness.at_ms > since_ms + _LATE_COMMIT_MS
            if came or (witness.kind is WitnessKind.ADDED and held):
                yield since_ms, witness.at_ms
            before = witness
        if before is not None and before.kind is not WitnessKind.REMOVED and queue in committed:
            offset_known_ms = max(before.at_ms, committed[queue])
            if last_commit_ms[queue.broker_name] > offset_known_ms + _SILENT_MS:
                yield before.at_ms, process.last_ms


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
