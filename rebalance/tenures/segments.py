"""A record with holes is several records: what is known of each process before, between and after the holes.

Nothing is concluded from one side of a hole about the other. A process may still hold what it held as the hole began,
until the next part is complete, as a record that starts in the middle is after a while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from rebalance.facts.log_spans import LogSpans
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER, Span
from rebalance.processes.connection import Channel, HeardVersion, Witness
from rebalance.processes.life import End, Life
from rebalance.processes.process import Process
from rebalance.tenures.queue_table import QueueTable, Tenure


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a group's record, read on its own: from the end of a hole to the begin of the next (epoch ms).

    `lives` have the keys of the whole lives. `hole_ms` is when the hole before it began, None for the first.
    """

    span: Span
    hole_ms: int | None
    lives: Sequence[Life]
    tenures: Sequence[Tenure]


def segments_of(
    lives: Sequence[Life], holes: Sequence[Span], down: Mapping[str, Sequence[Span]], logs: LogSpans
) -> list[Segment]:
    """The parts of a group's record that its holes leave; the whole, if there is none.

    Args:
        holes: (from, until) in epoch ms, in order and apart; requests inside count for nothing.
        down: per broker the spans in which it was away.
        logs: from when to when each log speaks.
    """
    begins = [-EVER, *(until_ms for _, until_ms in holes)]
    ends = [*(from_ms for from_ms, _ in holes), EVER]
    segments = []
    for number, span in enumerate(zip(begins, ends, strict=True)):
        told: list[Life] = []
        tenures: list[Tenure] = []
        for life in lives:
            part = _part_of(life, span, bool(holes))
            if part is not None:
                table = QueueTable(part, down)
                told.append(table.life)
                tenures += table.tenures()
        limit_to_logs(tenures, logs)
        segments.append(Segment(span, holes[number - 1][0] if number else None, told, tenures))
    return segments


def _set_in_order(tenure: Tenure) -> None:
    """Stamps that contradict each other leave a window, too: from the earlier to the later."""
    if tenure.end_latest is not None and tenure.end_latest < tenure.end_earliest:
        tenure.end_earliest, tenure.end_latest = tenure.end_latest, tenure.end_earliest


def _part_of(life: Life, span: Span, parted: bool) -> Life | None:
    """What a span shows of a life, as if there were nothing else; None: nothing."""
    if not parted:
        return life
    process, (from_ms, until_ms) = life.process, span
    witnesses, lists = _witnesses_in(process, span), process.lists.within(from_ms, until_ms)
    results = [result for result in process.results if from_ms <= result.at_ms <= until_ms]
    edges = (edge for channel in process.channels for edge in (channel.first_ms, channel.last_ms))
    requests = (at_ms for channel in process.channels for at_ms, _ in channel.requests)
    signs = [at_ms for at_ms in chain(edges, requests) if from_ms <= at_ms <= until_ms]
    signs += [seen[0].at_ms for seen in witnesses.values()]
    signs += lists.instants[:1] + [result.at_ms for result in results[:1]]
    if not signs:
        return None
    first_ms = min(signs)
    heard = (first_ms, until_ms)
    began, ended = process.first_ms >= from_ms, process.last_ms <= until_ms
    part = replace(
        process,
        channels=[_channel_in(c, heard) for c in process.channels if c.first_ms <= until_ms and c.last_ms >= first_ms],
        connections=(),
        first_ms=first_ms,
        last_ms=min(process.last_ms, until_ms),
        lists=lists,
        versions=_versions_in(process, span),
        witnesses=witnesses,
        results=results,
        log_from_start=process.log_from_start and began,
    )
    return replace(
        life,
        process=part,
        end=life.end if ended else End(until_ms, None, None, process.last_evidence),
        seen_from_start=life.seen_from_start and began,
    )


def _channel_in(channel: Channel, span: Span) -> Channel:
    from_ms, until_ms = span
    left_ms, closed = channel.unregistered_ms, channel.closed
    return replace(
        channel,
        first_ms=max(channel.first_ms, from_ms),
        last_ms=min(channel.last_ms, until_ms),
        unregistered_ms=left_ms if left_ms is not None and from_ms <= left_ms <= until_ms else None,
        closed=closed if closed is not None and from_ms <= closed.latest_ms <= until_ms else None,
        from_start=channel.from_start and channel.first_ms >= from_ms,
        pauses=[pause for pause in channel.pauses if from_ms <= pause[0] and pause[1] <= until_ms],
        requests=[request for request in channel.requests if from_ms <= request[0] <= until_ms],
    )


def _witnesses_in(process: Process, span: Span) -> dict[MessageQueue, list[Witness]]:
    inside = {
        queue: [witness for witness in seen if span[0] <= witness.at_ms <= span[1]]
        for queue, seen in process.witnesses.items()
    }
    return {queue: seen for queue, seen in inside.items() if seen}


def _versions_in(process: Process, span: Span) -> dict[str, list[HeardVersion]]:
    """The versions heard in a span, and the one in force as it began, unless the hole before it may hold its
    successor."""
    versions = {}
    for topic, heard in process.versions.items():
        inside = [version for version in heard if span[0] <= version.heard_ms <= span[1]]
        before = [version for version in heard if version.heard_ms < span[0]]
        if before and (not inside or inside[0].sub_version >= span[0]):
            inside.insert(0, HeardVersion(span[0], before[-1].sub_version, before[-1].evidence))
        if inside:
            versions[topic] = inside
    return versions


def whole(
    segments: Sequence[Segment], lives: Sequence[Life], committed: Mapping[MessageQueue, int], warm_up_ms: int
) -> tuple[Sequence[Life], list[Tenure]]:
    """The whole lives and their tenures: those that a hole parts are one again, unless something speaks against it.

    Args:
        committed: when each queue was first seen committed by anybody.
        warm_up_ms: how long after a hole the record is complete again.
    """
    if len(segments) == 1:
        lives, tenures = segments[0].lives, list(segments[0].tenures)
    else:
        blind = {part.key for segment in segments for part in segment.lives if part.rounds_missing}
        lives = [replace(life, rounds_missing=life.key in blind) for life in lives]
        tenures = _whole(segments, lives, committed, warm_up_ms)
    for tenure in tenures:
        _set_in_order(tenure)
    return lives, tenures


def _whole(
    segments: Sequence[Segment], lives: Iterable[Life], committed: Mapping[MessageQueue, int], warm_up_ms: int
) -> list[Tenure]:
    whole = {life.key: life for life in lives}
    tenures: list[Tenure] = []
    before: list[Tenure] = []
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        begun = [_since_the_hole(tenure, segment) for tenure in segment.tenures]
        rejoined = _rejoined(before, [tenure for tenure in begun if tenure.begin_earliest == segment.hole_ms], segment)
        before = []
        for tenure in begun:
            earlier = rejoined.get(tenure)
            if earlier is None:
                tenures.append(tenure)
            else:
                earlier.end_earliest, earlier.end_latest = tenure.end_earliest, tenure.end_latest
                earlier.end_list, earlier.end_evidence = tenure.end_list, tenure.end_evidence
            last = earlier or tenure
            heard_until_ms, last.life = tenure.process.last_ms, whole[tenure.life.key]
            if following is not None and last.end_latest is None and heard_until_ms < last.process.last_ms:
                heard_ms = _heard_again_ms(last.life, segments, segment)
                told = committed.get(last.queue, EVER) <= segment.span[1]
                last.end_latest = heard_ms + warm_up_ms if told and heard_ms is not None else last.life.end.latest_ms
                before.append(last)
    return tenures


def _heard_again_ms(life: Life, segments: Sequence[Segment], last: Segment) -> int | None:
    """When a process is first heard after a segment; None: only in holes."""
    later = (segment for segment in segments if segment.span[0] > last.span[1])
    heard = (part.process.first_ms for segment in later for part in segment.lives if part.key == life.key)
    return min(heard, default=None)


def _since_the_hole(tenure: Tenure, segment: Segment) -> Tenure:
    """A tenure that was there when its segment began may have begun in the hole before."""
    if segment.hole_ms is not None and not tenure.life.seen_from_start:
        begun_ms = tenure.begin_earliest
        tenure.begin_earliest = segment.hole_ms if begun_ms is None else max(begun_ms, segment.hole_ms)
    return tenure


def _rejoined(before: Iterable[Tenure], after: Sequence[Tenure], segment: Segment) -> dict[Tenure, Tenure]:
    """Maps each tenure after a hole to the tenure it continues: the queue had no other owner around the hole, and of
    push consumers no queue of its topic came or went.
    """
    held: dict[MessageQueue, list[Tenure]] = {}
    for tenure in before:
        held.setdefault(tenure.queue, []).append(tenure)
    taken = Counter(tenure.queue for tenure in after)
    rejoined = {}
    for tenure in after:
        earlier = held.get(tenure.queue, [])
        versions = tenure.process.versions.get(tenure.queue.topic)
        unchanged = versions is None or versions[0].heard_ms == segment.span[0]
        if unchanged and len(earlier) == taken[tenure.queue] == 1 and earlier[0].life.key == tenure.life.key:
            rejoined[tenure] = earlier[0]
    return rejoined


def limit_to_logs(tenures: Iterable[Tenure], spans: LogSpans) -> None:
    """End what is certain where a log ends: a process whose rounds only its log shows surely holds no queue after
    that."""
    for tenure in tenures:
        process = tenure.process
        if process.has_log and not process.captured and not process.has_log_without_zone:
            tenure.end_earliest = min(tenure.end_earliest, max(process.log_until_ms(spans), tenure.begin_latest))
