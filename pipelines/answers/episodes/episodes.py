"""Episodes in which a group was behind, and what caused them: rows of the table `lag_episodes`, and status words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from parsers.layouts.columns import schema_from
from parsers.values.utc import utc
from pipelines.answers.episodes.conditions import Conditions
from pipelines.answers.episodes.curve import TopicCurve
from pipelines.answers.episodes.shares import CAUSES, split
from pipelines.answers.episodes.status import WINDOW, status_of
from recovery.query.lag import AHEAD

DIGITS = 4
STATUS_SCHEMA = schema_from(
    "group text, topic text, queue_id i32, at time, status text, messages_behind i64, instants i32, reason text"
)
LEAST_MESSAGES = 100
USUAL_TIMES = 3
"""Lag below so many times its lower quartile is the delay of commits, no episode."""
COMMIT_S = 10
"""But no delay of commits is longer: a client commits every 5 s, and the broker saves the table every 5 s.

Source: ClientConfig.persistConsumerOffsetInterval, BrokerConfig.flushConsumerOffsetInterval @4.9.7, 5.3.3.
"""
NOT_NOW = "the last table that was kept tells nothing of this queue"
NO_USUAL = (
    "the record has no time in which the group was not behind: what usually comes in is unknown, and a burst, a hot "
    "queue and a slow client cannot be told"
)
BEGAN_BEFORE = "it was behind already when the record begins"
NO_OWNER_ROWS = (
    "which queue had an owner is not on record: one without an owner, or whose owner waits for its lock in no log that "
    "is here, looks like one with a slow client"
)
NO_OWNERS = "no log tells who owned the queues: a gap in ownership and a slow client cannot be told from the rest"


def episode_rows(
    curves: Iterable[TopicCurve], conditions: Conditions, *, least: int = LEAST_MESSAGES
) -> Iterator[dict[str, Any]]:
    """One row for each run of instants at which a group was at least `least` messages behind on a topic, and further
    than the delay of its commits explains."""
    for curve in curves:
        if len(curve.at_ms) < 2:
            continue
        total = curve.lag.sum(axis=0)
        high = total >= max(least, _delay_of_commits(curve, total))
        if not high.any():
            continue
        quiet = ~(high[:-1] | high[1:])
        found = split(curve, conditions, quiet)
        lacks = [_lacks(curve.key[1], conditions), None if quiet.any() else NO_USUAL]
        for first, last in _runs(high, total):
            row = _row(curve, found.area, (first, last), (bool(high[first]), bool(high[last])), lacks)
            said = conditions.said_by_store(int(curve.at_ms[first]), int(curve.at_ms[last]))
            yield {**row, "store_log": said}


def _delay_of_commits(curve: TopicCurve, total: np.ndarray) -> float:
    """How many messages a group that keeps up may seem to be behind: what comes in before its offsets are kept."""
    held = curve.held[:, :-1] & curve.held[:, 1:]
    arrivals = np.where(held, np.clip(np.diff(curve.ends), 0, None), 0).sum(axis=0)
    usual = float(np.median(arrivals / (np.maximum(np.diff(curve.at_ms), 1) / 1000)))
    return min(USUAL_TIMES * float(np.quantile(total, 0.25)), COMMIT_S * usual)


def _runs(high: np.ndarray, total: np.ndarray) -> Iterator[tuple[int, int]]:
    """First and last instant of each run: from the one from which on the lag only rose, to the first one after it."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], high.astype(np.int8), [0]))))
    free = 0
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        first = max(begin - 1, free)
        while first > free and total[first - 1] < total[first]:
            first -= 1
        free = min(end, len(high) - 1)
        yield first, free


def _lacks(group: str, conditions: Conditions) -> str | None:
    if group in conditions.groups:
        return None
    return NO_OWNER_ROWS if group in conditions.absent else NO_OWNERS


def _row(
    curve: TopicCurve, area: np.ndarray, run: tuple[int, int], open_: tuple[bool, bool], lacks: list[str | None]
) -> dict[str, Any]:
    """`open_`: whether the group was behind at the run's first instant already, and still at its last one."""
    broker, group, topic = curve.key
    first, last = run
    total = curve.lag[:, first : last + 1].sum(axis=0)
    of_cause = area[:, :, first:last].sum(axis=(1, 2))
    whole = float(of_cause.sum())
    shares = of_cause / whole if whole else of_cause
    parts = {cause.value: round(float(share), DIGITS) for cause, share in zip(CAUSES, shares, strict=True)}
    peak = int(total.argmax())
    worst = int(area[:, :, first:last].sum(axis=(0, 2)).argmax())
    reasons = (BEGAN_BEFORE if open_[0] else None, *lacks, *dict.fromkeys(curve.reasons.values()))
    return {
        "broker": broker,
        "group": group,
        "topic": topic,
        "begin": None if open_[0] else utc(int(curve.at_ms[first])),
        "peak_at": utc(int(curve.at_ms[first + peak])),
        "end": None if open_[1] else utc(int(curve.at_ms[last])),
        "peak_messages": int(total[peak]),
        "message_seconds": round(whole, 3),
        "cause": max(parts, key=lambda name: parts[name]),
        **parts,
        "worst_queue_id": curve.queue_ids[worst],
        "reason": "; ".join(filter(None, reasons)) or None,
    }


def status_rows(curves: Iterable[TopicCurve], conditions: Conditions) -> Iterator[dict[str, Any]]:
    """One row for each queue: the status word of its last window, null where that is not known."""
    for curve in curves:
        _, group, topic = curve.key
        for row, queue_id in enumerate(curve.queue_ids):
            known = curve.known[row]
            at_ms, ends, offsets = (
                figures[known].tolist() for figures in (curve.at_ms, curve.ends[row], curve.offsets[row])
            )
            why = curve.reasons.get(queue_id)
            word, reason = None, None
            if known[-1] and ends[-1] >= offsets[-1]:
                owned = conditions.is_owned((group, topic, queue_id), at_ms[-1])
                word, reason = status_of(at_ms, ends, offsets, owned=owned)
            elif why is None:
                reason = AHEAD if known[-1] else NOT_NOW
            yield {
                "group": group,
                "topic": topic,
                "queue_id": queue_id,
                "at": utc(int(curve.at_ms[-1])),
                "status": word,
                "messages_behind": ends[-1] - offsets[-1] if known[-1] else None,
                "instants": len(at_ms[-WINDOW:]),
                "reason": "; ".join(filter(None, (reason, why))) or None,
            }
