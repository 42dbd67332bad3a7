"""What client logs leave open: queues a process may have held before its log begins to tell, and after it ends.

A log that begins with its consumer's start tells everything up to its last line, whatever that line says. One that
begins in the middle tells nothing of the queues it has held since before, until a round's result names all queues of a
topic, or a periodic commit names all queues that have an offset.
Source: RebalanceImpl#rebalanceByTopic, RemoteBrokerOffsetStore#persistAll.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rebalance.client import ChannelUse, ClientProcess, WitnessKind
from rebalance.events import Fact, LogBegins, LogEnds
from rebalance.model import MessageQueue
from rebalance.persist import TOGETHER_MS
from rebalance.table import Tenure
from rebalance.zones import ZONE_STEP_MS, of_unknown_zone

LOG_BEGINS_IN_THE_MIDDLE = "its log begins in the middle"
LOG_ENDS = "its log ends here"
LOG_WITHOUT_ZONE = "nothing tells the time zone of its log"
_NEVER = 1 << 62

Spans = Mapping[str, tuple[int, int]]
"""Source of a log -> instants (epoch ms) of its first and its last dated line; several logs of a broker are one."""


class Dark(NamedTuple):
    """Queues a process may hold in [from_ms, until_ms) (None: open) unseen, and why."""

    queues: frozenset[MessageQueue]
    from_ms: int | None
    until_ms: int | None
    reason: str


def log_spans(edges: Iterable[Fact]) -> Spans:
    """Spans of the logs whose time zone is known."""
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for edge in edges:
        if of_unknown_zone(edge):
            continue
        if isinstance(edge, LogBegins):
            begins[edge.source] = min(edge.at_ms - edge.early_ms, begins.get(edge.source, edge.at_ms))
        elif isinstance(edge, LogEnds):
            ends[edge.source] = max(edge.at_ms, ends.get(edge.source, edge.at_ms))
    return {source: (begin, max(begin, ends.get(source, begin))) for source, begin in begins.items()}


def first_commits(processes: Iterable[ClientProcess]) -> dict[MessageQueue, int]:
    """When each queue was first seen committed by anybody: whoever holds it later knows its offset."""
    first: dict[MessageQueue, int] = {}
    for process in processes:
        for queue, witnesses in process.witnesses.items():
            for witness in witnesses:
                if witness.kind is WitnessKind.COMMIT:
                    first[queue] = min(witness.at_ms, first.get(queue, witness.at_ms))
                    break
    return first


def untold(
    process: ClientProcess, queues: frozenset[MessageQueue], spans: Spans, committed: Mapping[MessageQueue, int]
) -> Iterator[Dark]:
    """What the logs of a process leave open of `queues`; `committed` as `first_commits` gives it."""
    runs = [channel for channel in process.channels if channel.is_log]
    if _unplaced(process):
        yield Dark(queues, None, None, LOG_WITHOUT_ZONE)
        return
    if not process.log_from_start:
        yield from _before(process, min(run.first_ms for run in runs), queues, committed)
    ends_ms = max(_log_until(run, spans) for run in runs)
    gone_ms = process.end.latest_ms if process.end is not None else None
    if gone_ms is None or gone_ms > ends_ms:
        yield Dark(queues, ends_ms, gone_ms, LOG_ENDS)


def limit_to_logs(tenures: Iterable[Tenure], spans: Spans) -> None:
    """Of a process whose rounds only its log shows, no queue is surely held after the log ends."""
    for tenure in tenures:
        process = tenure.process
        if process.has_log and not process.captured and not _unplaced(process):
            ends_ms = max(_log_until(run, spans) for run in process.channels if run.is_log)
            tenure.end_earliest = min(tenure.end_earliest, max(ends_ms, tenure.begin_latest))


def _unplaced(process: ClientProcess) -> bool:
    """Whether the time zone of its log stayed unknown."""
    return any(seen[0].late_ms >= ZONE_STEP_MS for seen in process.witnesses.values())


def _log_until(run: ChannelUse, spans: Spans) -> int:
    """The last line of its log, which may belong to no template, or to a later run."""
    return max(run.last_ms, spans.get(run.remote.rpartition("#")[0], (0, 0))[1])


def _before(
    process: ClientProcess, log_first_ms: int, queues: frozenset[MessageQueue], committed: Mapping[MessageQueue, int]
) -> Iterator[Dark]:
    results: dict[str, int] = {}
    for result in process.results:
        results.setdefault(result.topic, result.at_ms)
    persisted = _first_full_persist(process, log_first_ms + TOGETHER_MS)
    until: dict[int | None, set[MessageQueue]] = {}
    gone_ms = process.end.latest_ms if process.end is not None else None
    for queue in queues:
        told = [_NEVER if gone_ms is None else gone_ms, results.get(queue.topic, _NEVER)]
        persist_ms = persisted.get(queue.broker_name)
        if persist_ms is not None and committed.get(queue, _NEVER) < persist_ms:
            told.append(persist_ms)
        until.setdefault(None if min(told) == _NEVER else min(told), set()).add(queue)
    since = process.first_ms if process.seen_from_start else None
    for until_ms, dark in sorted(until.items(), key=lambda found: found[0] or _NEVER):
        yield Dark(frozenset(dark), since, until_ms, LOG_BEGINS_IN_THE_MIDDLE)


def _first_full_persist(process: ClientProcess, from_ms: int) -> dict[str, int]:
    """Per broker the first periodic commit from an instant on: it names a queue that is committed again later."""
    first: dict[str, int] = {}
    for queue, witnesses in process.witnesses.items():
        at = _first_repeated([w.at_ms for w in witnesses if w.kind is WitnessKind.COMMIT and w.at_ms >= from_ms])
        if at is not None:
            first[queue.broker_name] = min(at, first.get(queue.broker_name, at))
    return first


def _first_repeated(commits: Sequence[int]) -> int | None:
    return commits[0] if commits and commits[-1] > commits[0] + TOGETHER_MS else None
