"""Holes in a group's record: silences in which something had to come that did not.

And changes of which a client's log does not tell, though it was read from its start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rebalance.holes.expected import Missed, least_delay_ms, missed_by
from rebalance.holes.silences import Signs
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import Span, merged
from rebalance.model.timing import LATE_COMMIT_MS, ROUND_MS, SETTLED_MS, SILENT_MS
from rebalance.processes.connection import Witness, WitnessKind
from rebalance.processes.process import Process, first_commits

_COMMIT, _REMOVED = WitnessKind.COMMIT, WitnessKind.REMOVED


def holes_of(
    processes: Sequence[Process],
    down: Mapping[str, Sequence[Span]],
    starts: Mapping[str, Sequence[int]],
    stops: Mapping[str, Sequence[int]],
    until_ms: int,
    born: bool,
) -> list[Span]:
    """The holes of one group's record (from, until; epoch ms), in order and apart."""
    signs = Signs(processes, (starts, stops), until_ms)
    delay_ms = least_delay_ms(processes)
    holes: set[Span] = set()
    for process in processes:
        for missed in missed_by(process, processes, delay_ms=delay_ms, born=born, until_ms=until_ms):
            for source in signs.captures if missed.source is None else (missed.source,):
                asked = signs.captures if missed.of_one else (source,)  # a broker that was away was asked in vain
                away = [] if missed.restarted else [span for broker in asked for span in _away(broker, down, starts)]
                holes.update(_swallowing(missed, source, signs, away))
    return merged(holes)


def _swallowing(missed: Missed, source: str, signs: Signs, away: Sequence[Span]) -> list[Span]:
    """The silences of a source that hold all that was missed; none if one of it has no silence.

    One after another is missed in one hole: where others show in between, the client was cut off.
    """
    found: list[Span] = []
    common: set[Span] | None = None
    for span in missed.spans:
        silences = [
            (begin, end)
            for begin, end in signs.silences(source, *span)
            if end - begin >= missed.least_ms and not any(gone < end and back > begin for gone, back in away)
        ]
        if not silences:
            return []
        found += silences
        inner = span is not missed.spans[0] and span is not missed.spans[-1]
        common = (set(silences) if common is None else common & set(silences)) if inner else common
    return [] if common is not None and not common else found


def _away(source: str, down: Mapping[str, Sequence[Span]], starts: Mapping[str, Sequence[int]]) -> Iterator[Span]:
    """When a broker was down, as far as its stops and starts tell; before a start without a stop it was, too."""
    yield from down.get(source, ())
    yield from ((start - SILENT_MS, start) for start in starts.get(source, ()))  # its log is stamped to the second


def gaps_of(holes: Sequence[Span], processes: Sequence[Process], *, warm_up_ms: int) -> tuple[Span, ...]:
    """The spans of one group's record (from, until; epoch ms) that tell nothing certain."""
    gaps = {(begin - ROUND_MS, end + warm_up_ms) for begin, end in holes}
    logged = [process for process in processes if process.log_from_start and not process.captured]
    if logged:
        committed = first_commits(processes)
        gaps |= {(begin, end + warm_up_ms) for process in logged for begin, end in _lines_lost(process, committed)}
    return tuple(sorted(gaps))


def _lines_lost(process: Process, committed: Mapping[MessageQueue, int]) -> Iterator[Span]:
    """Spans of a log that was read from its start in which a queue came or went without its line.

    How long a queue was held of which no line tells the end is not known: the span is then the rest of the process. It
    has ended where its process commits others for a while, and not this one, though its offset is known.
    """
    commits_ms: dict[str, list[int]] = {}
    for queue, seen in process.witnesses.items():
        mine = commits_ms.setdefault(queue.broker_name, [])
        mine += [witness.at_ms for witness in seen if witness.kind is _COMMIT]
    for queue, seen in process.witnesses.items():
        before: Witness | None = None
        for witness in seen:
            held = before is not None and before.kind is not _REMOVED
            since_ms = process.first_ms if before is None else before.at_ms
            came = witness.kind is _COMMIT and not held and witness.at_ms > since_ms + LATE_COMMIT_MS
            if came or (witness.kind is WitnessKind.ADDED and held):
                yield since_ms, witness.at_ms
            before = witness
        if before is not None and before.kind is not _REMOVED and queue in committed:
            offset_known_ms = max(before.at_ms, committed[queue])
            since = [at_ms for at_ms in commits_ms[queue.broker_name] if at_ms > offset_known_ms]
            if since and max(since) > min(since) + SETTLED_MS:
                yield before.at_ms, process.last_ms
