"""What client logs leave open: queues a process may have held before its log begins to tell, and after it ends.

A log that begins with its consumer's start tells everything up to its last line, whatever that line says. One that
begins in the middle tells nothing of the queues it has held since before, until a round's result names all queues of a
topic, or a periodic commit names all queues that have an offset.
Source: RebalanceImpl#rebalanceByTopic, RemoteBrokerOffsetStore#persistAll.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rebalance.facts.log_spans import LogSpans
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER
from rebalance.model.timing import TOGETHER_MS
from rebalance.processes.connection import WitnessKind
from rebalance.processes.life import Life
from rebalance.processes.process import Process

LOG_BEGINS_IN_THE_MIDDLE = "its log begins in the middle"
LOG_ENDS = "its log ends here"
LOG_WITHOUT_ZONE = "nothing tells the time zone of its log"


class Dark(NamedTuple):
    """Queues a process may hold in [from_ms, until_ms) (None: open) unseen, and why."""

    queues: frozenset[MessageQueue]
    from_ms: int | None
    until_ms: int | None
    reason: str


def untold(
    life: Life, queues: frozenset[MessageQueue], spans: LogSpans, committed: Mapping[MessageQueue, int]
) -> Iterator[Dark]:
    """What the logs of a process leave open of `queues`; `committed` as `first_commits` gives it."""
    process = life.process
    if process.has_log_without_zone:
        yield Dark(queues, None, None, LOG_WITHOUT_ZONE)
        return
    if not process.log_from_start:
        yield from _before(life, queues, committed)
    ends_ms, gone_ms = process.log_until_ms(spans), life.end.latest_ms
    if gone_ms is None or gone_ms > ends_ms:
        yield Dark(queues, ends_ms, gone_ms, LOG_ENDS)


def _before(life: Life, queues: frozenset[MessageQueue], committed: Mapping[MessageQueue, int]) -> Iterator[Dark]:
    process, gone_ms = life.process, life.end.latest_ms
    log_first_ms = min(channel.first_ms for channel in process.channels if channel.is_log)
    results: dict[str, int] = {}
    for result in process.results:
        results.setdefault(result.topic, result.at_ms)
    persisted = _first_full_persist(process, log_first_ms + TOGETHER_MS)
    until: dict[int | None, set[MessageQueue]] = {}
    for queue in queues:
        told = [EVER if gone_ms is None else gone_ms, results.get(queue.topic, EVER)]
        persist_ms = persisted.get(queue.broker_name)
        if persist_ms is not None and committed.get(queue, EVER) < persist_ms:
            told.append(persist_ms)
        until.setdefault(None if min(told) == EVER else min(told), set()).add(queue)
    since = process.first_ms if life.seen_from_start else None
    for until_ms, dark in sorted(until.items(), key=lambda found: found[0] or EVER):
        yield Dark(frozenset(dark), since, until_ms, LOG_BEGINS_IN_THE_MIDDLE)


def _first_full_persist(process: Process, from_ms: int) -> dict[str, int]:
    """Per broker the first periodic commit from an instant on: it names a queue that is committed again later."""
    first: dict[str, int] = {}
    for queue, witnesses in process.witnesses.items():
        at = _first_repeated([w.at_ms for w in witnesses if w.kind is WitnessKind.COMMIT and w.at_ms >= from_ms])
        if at is not None:
            first[queue.broker_name] = min(at, first.get(queue.broker_name, at))
    return first


def _first_repeated(commits: Sequence[int]) -> int | None:
    return commits[0] if commits and commits[-1] > commits[0] + TOGETHER_MS else None
