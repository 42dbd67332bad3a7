"""Episodes in which a group was behind, and what caused them: rows of the table `lag_episodes`, and status words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from parsers.utc import utc
from pipelines.answers.episodes.conditions import Conditions
from pipelines.answers.episodes.curve import TopicCurve
from pipelines.answers.episodes.shares import CAUSES, split
from pipelines.answers.episodes.status import status_of

DIGITS = 4
STATUS_SCHEMA = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("queue_id", pa.int32()),
        ("at", pa.timestamp("us", "UTC")),
        ("status", pa.string()),
        ("messages_behind", pa.int64()),
        ("instants", pa.int32()),
        ("reason", pa.string()),
    ]
)
LEAST_MESSAGES = 100
USUAL_TIMES = 3
"""Lag below so many times its lower quartile is the delay of commits, no episode."""
NO_OWNER_ROWS = "which queue had an owner is not on record: one without an owner looks like one with a slow client"
NO_OWNERS = "no log tells who owned the queues: a gap in ownership and a slow client cannot be told from the rest"


def episode_rows(
    curves: Iterable[TopicCurve], conditions: Conditions, *, least: int = LEAST_MESSAGES
) -> Iterator[dict[str, Any]]:
    """One row for each run of instants at which a group was at least `least` messages behind on a topic, and at least
    USUAL_TIMES times the lower quartile of its lag there."""
    for curve in curves:
        if len(curve.at_ms) < 2:
            continue
        total = curve.lag.sum(axis=0)
        high = total >= max(least, USUAL_TIMES * float(np.quantile(total, 0.25)))
        if not high.any():
            continue
        found = split(curve, conditions, ~(high[:-1] | high[1:]))
        for first, last in _runs(high):
            yield _row(curve, found.area, first, last, _lacks(curve.key[1], conditions))


def _runs(high: np.ndarray) -> Iterator[tuple[int, int]]:
    """First and last instant of each run, those around it included: the lag rises from the one before."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], high.astype(np.int8), [0]))))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield max(begin - 1, 0), min(end, len(high) - 1)


def _lacks(group: str, conditions: Conditions) -> str | None:
    if group in conditions.groups:
        return None
    return NO_OWNER_ROWS if group in conditions.absent else NO_OWNERS


def _row(curve: TopicCurve, area: np.ndarray, first: int, last: int, reason: str | None) -> dict[str, Any]:
    broker, group, topic = curve.key
    total = curve.lag[:, first : last + 1].sum(axis=0)
    of_cause = area[:, :, first:last].sum(axis=(1, 2))
    whole = float(of_cause.sum())
    shares = of_cause / whole if whole else of_cause
    parts = {cause.value: round(float(share), DIGITS) for cause, share in zip(CAUSES, shares, strict=True)}
    peak = int(total.argmax())
    worst = int(area[:, :, first:last].sum(axis=(0, 2)).argmax())
    is_over = last < len(curve.at_ms) - 1 or total[-1] < total[peak] / 10
    return {
        "broker": broker,
        "group": group,
        "topic": topic,
        "begin": utc(int(curve.at_ms[first])),
        "peak_at": utc(int(curve.at_ms[first + peak])),
        "end": utc(int(curve.at_ms[last])) if is_over else None,
        "peak_messages": int(total[peak]),
        "message_seconds": round(whole, 3),
        "cause": max(parts, key=lambda name: parts[name]),
        **parts,
        "worst_queue_id": curve.queue_ids[worst],
        "reason": reason,
    }


def status_rows(curves: Iterable[TopicCurve], conditions: Conditions) -> Iterator[dict[str, Any]]:
    """One row for each queue: the status word of its last window."""
    for curve in curves:
        _, group, topic = curve.key
        for row, queue_id in enumerate(curve.queue_ids):
            owned = conditions.is_owned((group, topic, queue_id), int(curve.at_ms[-1]))
            lags = curve.lag[row].tolist()
            word, reason = status_of(
                curve.at_ms.tolist(), curve.ends[row].tolist(), curve.offsets[row].tolist(), owned=owned
            )
            yield {
                "group": group,
                "topic": topic,
                "queue_id": queue_id,
                "at": utc(int(curve.at_ms[-1])),
                "status": word,
                "messages_behind": lags[-1],
                "instants": len(lags),
                "reason": reason,
            }
