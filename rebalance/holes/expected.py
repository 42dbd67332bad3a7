"""What a process must have done and is not on record to have: the marks that a hole in the record leaves.

A living client commits every queue every 5 s, asks for the member list every 20 s, and is heard at least every 30 s. It
registers before it asks for members, asks for the offset of a queue before it commits it, and tells of a change at
once. One that was stopped makes up for the commits it missed as soon as it goes on.

Source: MQClientInstance#startScheduledTask (scheduleAtFixedRate), persistConsumerOffsetInterval,
    heartbeatBrokerInterval; RemoteBrokerOffsetStore#persistAll commits every queue of the table, changed or not;
    RebalanceService#run, waitInterval; RebalancePushImpl#messageQueueChanged.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from operator import attrgetter
from typing import NamedTuple

from rebalance.holes.silences import is_captured, source_of
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER, Span
from rebalance.model.timing import (
    FIRST_COMMIT_MS,
    JITTER_MS,
    LATE_COMMIT_MS,
    LIST_MS,
    PAUSE_MS,
    PERSIST_MS,
    ROUND_MS,
    SETTLED_MS,
    SILENT_MS,
)
from rebalance.processes.connection import ADDING, Connection, ListAnswer, Witness, WitnessKind
from rebalance.processes.process import Process

_COMMIT, _REMOVED = WitnessKind.COMMIT, WitnessKind.REMOVED
_CHANGES = (*ADDING, _REMOVED)
_AT_MS = attrgetter("at_ms")
_Witnesses = Mapping[MessageQueue, Sequence[Witness]]


class Missed(NamedTuple):
    """Something had to come in each of `spans`, by `source` (None: any capture), and did not.

    `least_ms`: how long a silence must be to have swallowed it. `restarted`: it had to come even if the broker was down
    for a part of the silence. `of_one`: it was sent to one broker, and to which is not known.
    """

    source: str | None
    spans: Sequence[Span]
    least_ms: int = SILENT_MS
    restarted: bool = False
    of_one: bool = False


def missed_by(
    process: Process, processes: Iterable[Process], *, delay_ms: int, born: bool, until_ms: int
) -> Iterator[Missed]:
    """All that one process of a group must have done and is not on record to have.

    Args:
        delay_ms: `least_delay_ms` of the group.
        born: the record begins with the brokers' start.
        until_ms: the end of the record.
    """
    others = [other for other in processes if other is not process]
    for source, connections in _by_source(process).items():
        for spans in _missed_commits(process, _witnesses(connections), captured=is_captured(connections)):
            yield Missed(source, spans)
    yield from (Missed(None, [span], of_one=True) for span in _missed_lists(process))
    yield from _mute(process, others)
    yield from _vanished(process, others, until_ms)
    yield from _untold_changes(process, delay_ms)
    if process.captured and not process.log_from_start:
        yield from (Missed(None, [span]) for span in _unseen_gains(process))
        if born and not _born_on_record(process):
            yield Missed(None, [(process.first_ms - PAUSE_MS, process.first_ms)], restarted=True)


def _born_on_record(process: Process) -> bool:
    """Whether the record shows its begin: it registers, asks for members at once, and only then can have a queue.

    A JVM with other clients has sent requests before.
    """
    heard = min((c.first_heartbeat_ms for c in process.channels if c.first_heartbeat_ms is not None), default=EVER)
    asked = process.lists[0].asked_at_ms if process.lists else EVER
    seen = min((witnesses[0].at_ms for witnesses in process.witnesses.values()), default=EVER)
    at_once = heard == process.first_ms and asked - heard <= ROUND_MS
    return (process.newborn or at_once) and min(heard, asked) <= seen


def _unseen_gains(process: Process) -> Iterator[Span]:
    """When queues came that a process was not seen to ask for."""
    if process.broadcasting or not process.newborn:
        return
    gained = [seen[0].at_ms for seen in process.witnesses.values() if seen[0].kind is _COMMIT]
    if gained:
        commits = _commits(process.witnesses)
        for at_ms in gained:
            before = bisect_left(commits, at_ms - LATE_COMMIT_MS)
            yield commits[before - 1] if before else process.first_ms - 2 * SILENT_MS, at_ms


def _vanished(process: Process, others: Sequence[Process], until_ms: int) -> Iterator[Missed]:
    """Nobody can tell a hole from the death of all clients at once, or of the last one that committed every 5 s."""
    last_ms = process.last_ms
    if last_ms + PERSIST_MS >= until_ms or not _went(process):
        return
    alone = not any(other.first_ms < last_ms and other.last_ms > last_ms + PERSIST_MS for other in others)
    all_at_once = alone and any(_went(other) and last_ms - PAUSE_MS <= other.last_ms for other in others)
    silent_ms = PERSIST_MS + 2 * JITTER_MS if alone else SETTLED_MS
    for source, connections in _by_source(process).items():
        if is_captured(connections) and (all_at_once or _regular_until(last_ms, _commits(_witnesses(connections)))):
            yield Missed(source, [(last_ms, last_ms + PERSIST_MS)], silent_ms)


def _went(process: Process) -> bool:
    """Whether it ended without a word."""
    return process.left_by_ms is None and not any(channel.closed is not None for channel in process.channels)


def _regular_until(last_ms: int, commits: Sequence[int]) -> bool:
    return bool(commits) and commits[-1] >= last_ms - PERSIST_MS and _regular(commits, commits[-1], -1)


def least_delay_ms(processes: Iterable[Process]) -> int:
    """How long after a change, by the clients' clocks, a heartbeat shows it at the earliest."""
    changes = (heard for p in processes for versions in p.versions.values() for heard in versions[1:])
    return min((heard.heard_ms - heard.sub_version for heard in changes), default=0)


def _untold_changes(process: Process, delay_ms: int) -> Iterator[Missed]:
    """When queues came or went without a heartbeat that follows at once."""
    if not process.stamped or not process.captured:
        return
    for versions in process.versions.values():
        for heard in versions[1:]:
            changed_ms = heard.sub_version + delay_ms
            late = heard.heard_ms > changed_ms + SILENT_MS
            if late and not process.lists.between(changed_ms - ROUND_MS, changed_ms + JITTER_MS):
                yield Missed(None, [(changed_ms, changed_ms + JITTER_MS)])


def _by_source(process: Process) -> dict[str, list[Connection]]:
    by_source: dict[str, list[Connection]] = {}
    for connection in process.connections:
        by_source.setdefault(source_of(connection.channel), []).append(connection)
    return by_source


def _commits(by_queue: _Witnesses) -> list[int]:
    """When any queue was committed, in order."""
    return sorted({witness.at_ms for seen in by_queue.values() for witness in seen if witness.kind is _COMMIT})


def _witnesses(connections: Sequence[Connection]) -> _Witnesses:
    """What one source shows of the queues of a process."""
    if len(connections) == 1:
        return connections[0].witnesses
    seen: dict[MessageQueue, list[Witness]] = {}
    for connection in connections:
        for queue, witnesses in connection.witnesses.items():
            seen.setdefault(queue, []).extend(witnesses)
    return {queue: sorted(witnesses, key=_AT_MS) for queue, witnesses in seen.items()}


def _missed_commits(process: Process, by_queue: _Witnesses, *, captured: bool) -> Iterator[list[Span]]:
    """When a process that commits every 5 s must have committed and is not on record to have."""
    commits = _commits(by_queue)
    for last_ms, next_ms in pairwise(commits):
        if next_ms - last_ms > PERSIST_MS + 2 * JITTER_MS:
            expected = _expected(process, commits, last_ms, next_ms)
            missed = max(map(len, expected), default=0)
            made_up = _made_up_for(by_queue, next_ms, missed) or _is_late(by_queue, commits, last_ms, next_ms)
            if missed and _kept(process, by_queue, last_ms, next_ms) and not made_up:
                yield from ([_about(at_ms) for at_ms in instants] for instants in expected)
    if captured and commits and _regular(commits, commits[-1], -1) and not _asked_between(process, commits[-1]):
        yield from _missed_at_last(process, commits[-1])


def _missed_at_last(process: Process, last_ms: int) -> Iterator[list[Span]]:
    """What was missed after the last commit of all, until the process was heard again."""
    until_ms = EVER if process.left_by_ms is None else process.left_by_ms
    requests = (at_ms for channel in process.channels for at_ms, _ in channel.requests)
    signs = chain(requests, (answer.asked_at_ms for answer in process.lists))
    heard_ms = min((at_ms for at_ms in signs if last_ms + JITTER_MS < at_ms < until_ms), default=None)
    if heard_ms is not None and process.last_ms > last_ms + PERSIST_MS + 2 * JITTER_MS:
        missed = range(last_ms + PERSIST_MS, max(heard_ms - JITTER_MS, last_ms + PERSIST_MS + 1), PERSIST_MS)
        yield [_about(at_ms) for at_ms in missed]


def _expected(process: Process, commits: Sequence[int], last_ms: int, next_ms: int) -> list[Sequence[int]]:
    """The commits between two that a fixed rate asks for: by those before, and by those after."""
    expected: list[Sequence[int]] = []
    if _regular(commits, last_ms, -1):
        expected.append(range(last_ms + PERSIST_MS, next_ms - JITTER_MS, PERSIST_MS))
    begun_ms = max(last_ms, process.first_ms + FIRST_COMMIT_MS) + JITTER_MS
    if next_ms - PERSIST_MS > begun_ms and _regular(commits, next_ms, 1):
        expected.append(range(next_ms - PERSIST_MS, begun_ms, -PERSIST_MS))
    return expected


def _about(at_ms: int) -> Span:
    return at_ms - JITTER_MS, at_ms + JITTER_MS


def _regular(commits: Sequence[int], at_ms: int, step: int) -> bool:
    """Whether commits came a period before and two (step -1), or after (1)."""
    return _near(commits, at_ms + 2 * step * PERSIST_MS) and _near(commits, at_ms + step * PERSIST_MS)


def _near(commits: Sequence[int], at_ms: int) -> bool:
    index = bisect_left(commits, at_ms - JITTER_MS)
    return index < len(commits) and commits[index] <= at_ms + JITTER_MS


def _made_up_for(by_queue: _Witnesses, at_ms: int, missed: int) -> bool:
    """Whether a queue was committed several times at once: a timer of fixed rate after its process was stopped.

    Two commits may be the timer's and a farewell. Runs that follow each other are slow where a broker is away.
    """
    until_ms = at_ms + (2 * JITTER_MS if missed == 1 else PERSIST_MS - JITTER_MS)
    for seen in by_queue.values():
        first = bisect_left(seen, at_ms, key=_AT_MS)
        last = bisect_right(seen, until_ms, key=_AT_MS)
        if sum(witness.kind is _COMMIT for witness in seen[first:last]) > min(missed, 2):
            return True
    return False


def _is_late(by_queue: _Witnesses, commits: Sequence[int], last_ms: int, next_ms: int) -> bool:
    """Whether a run is the one that was missed, late by less than a period: out of step with the others, and over the
    time to the next of every queue that the run before it named. A farewell is of some.

    A run is slow where a broker is away: it asks the name server for its address, queue by queue.
    Source: RemoteBrokerOffsetStore#updateConsumeOffsetToBroker.
    """
    following_ms = last_ms + 2 * PERSIST_MS
    if _near(commits, next_ms + PERSIST_MS) or not _near(commits, following_ms):
        return False
    before = _committed(by_queue, last_ms - 2 * JITTER_MS, last_ms)
    return before <= _committed(by_queue, next_ms, following_ms - JITTER_MS)


def _committed(by_queue: _Witnesses, first_ms: int, last_ms: int) -> set[MessageQueue]:
    """The queues that were committed in a span."""
    return {
        queue
        for queue, seen in by_queue.items()
        if any(
            witness.kind is _COMMIT
            for witness in islice(
                seen, bisect_left(seen, first_ms, key=_AT_MS), bisect_right(seen, last_ms, key=_AT_MS)
            )
        )
    }


def _kept(process: Process, by_queue: _Witnesses, last_ms: int, next_ms: int) -> bool:
    """Whether it must have had something to commit: no round was there to take all, or a queue was there again without
    a question. A log shows no list that changed nothing, and every queue that went.
    """
    if not process.log_from_start and not _asked_between(process, last_ms):
        return True
    for seen in by_queue.values():
        after = bisect_right(seen, last_ms, key=_AT_MS)
        if after and seen[after - 1].kind is not _REMOVED:
            following = next((w for w in islice(seen, after, None) if w.kind is _COMMIT or w.kind in _CHANGES), None)
            if following is not None and following.kind is _COMMIT and following.at_ms <= next_ms + JITTER_MS:
                return True
    return False


def _asked_between(process: Process, last_ms: int) -> bool:
    return bool(process.lists.between(last_ms - ROUND_MS, last_ms + PERSIST_MS + JITTER_MS))


def _mute(process: Process, others: Sequence[Process]) -> Iterator[Missed]:
    """Pauses longer than a living client makes, of one that was not alone: all were not stopped at once."""
    for source, connections in _by_source(process).items():
        channels = [connection.channel for connection in connections if connection.channel.requests]
        lively = sorted(span for channel in channels for span in channel.lively_spans())
        until_ms = lively[0][1] if lively else 0
        for begin_ms, end_ms in lively:
            if begin_ms > until_ms + PAUSE_MS and any(
                other.first_ms <= until_ms and begin_ms <= other.last_ms for other in others
            ):
                yield Missed(source, [(until_ms, begin_ms)], PAUSE_MS - PERSIST_MS)
            until_ms = max(until_ms, end_ms)


def _missed_lists(process: Process) -> Iterator[Span]:
    """When a process that asked for an unchanged list every 20 s, before or after, must have asked and is not on record
    to have.
    """
    asked = process.lists
    for at, (last, following) in enumerate(pairwise(asked)):
        if following.asked_at_ms - last.asked_at_ms > LIST_MS + 3 * JITTER_MS:
            if at and _in_vain(asked[at - 1], last):
                yield last.asked_at_ms + LIST_MS - JITTER_MS, last.asked_at_ms + LIST_MS + 3 * JITTER_MS
            if at + 2 < len(asked) and _in_vain(following, asked[at + 2]):
                next_ms = following.asked_at_ms
                yield next_ms - LIST_MS - 3 * JITTER_MS, next_ms - LIST_MS + JITTER_MS


def _in_vain(one: ListAnswer, following: ListAnswer) -> bool:
    """Whether the timer asked for a list that was the one before."""
    apart_ms = following.asked_at_ms - one.asked_at_ms
    return (
        abs(apart_ms - LIST_MS) <= JITTER_MS and one.client_ids is not None and one.client_ids == following.client_ids
    )
