"""What held while a group fell behind: who owned a queue, who waited for its lock, how far dispatch was."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parsers.utc import EPOCH, MILLISECOND
from pipelines.answers.episodes.curve import Floats, Longs
from pipelines.answers.offsets.record import OffsetRecord

Row = Mapping[str, Any]
Span = tuple[int, int]
QueueKey = tuple[str, str, int]
"""(group, topic, queue_id)."""
EVER = 1 << 62
LOCK_KIND, ORPHAN_KIND = "lock_stall", "orphan"
LOCK_WORD = "lock"
BEHIND_BYTES = 1 << 16
"""Dispatch that is less behind than this is no delay: it is measured while messages come in."""


@dataclass(slots=True)
class Conditions:
    """Spans of time (epoch ms) by queue.

    Attributes:
        owned: a client may have had the queue.
        groups: groups that the record of ownership knows, each with the time from which on it does.
        absent: by group, when no consumer of it was connected to the broker; a group that no log tells of is not there.
        waits: an ordered consumer waited for the queue's lock.
        behind: the broker said that its dispatch was behind the log.
    """

    owned: dict[QueueKey, list[Span]] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    absent: dict[str, list[Span]] = field(default_factory=dict)
    waits: dict[QueueKey, list[Span]] = field(default_factory=dict)
    behind: list[Span] = field(default_factory=list)

    def unowned(self, key: QueueKey, at_ms: Longs) -> Floats | None:
        """The share of each step between instants in which nobody can have had a queue; None where nothing tells."""
        since, absent = self.groups.get(key[0]), self.absent.get(key[0])
        if since is None and absent is None:
            return None
        owned = shares(self.owned.get(key, ()), at_ms)
        known = shares([(EVER if since is None else since, EVER)], at_ms)
        nobody: Floats = np.clip(np.maximum(known - owned, shares(absent or (), at_ms)), 0.0, 1.0)
        return nobody

    def is_owned(self, key: QueueKey, at_ms: int) -> bool | None:
        """Whether a client may have had a queue at an instant; None where nothing tells."""
        absent = self.absent.get(key[0])
        if any(begin <= at_ms <= end for begin, end in absent or ()):
            return False
        if at_ms < self.groups.get(key[0], EVER):
            return None if absent is None else True
        return any(begin <= at_ms <= end for begin, end in self.owned.get(key, ()))


def absences_of(record: OffsetRecord) -> dict[str, list[Span]]:
    """When nobody of each group was connected, by the log of a broker."""
    if not record.covered:
        return {}
    until_ms = max(end for _, end in record.covered)
    found = {group: joined(there.absences(record.boots, until_ms)) for group, there in record.presence.items()}
    return {group: spans for group, spans in found.items() if record.boots or record.presence[group].nobody_ms}


def conditions_of(
    intervals: Iterable[Row],
    anomalies: Iterable[Row],
    behind: Iterable[tuple[int, int]] = (),
    absent: Mapping[str, list[Span]] | None = None,
) -> Conditions:
    """From rows of `ownership_intervals` and `ownership_anomalies`, (epoch ms, bytes) of the broker's lines about its
    dispatch, and when nobody was connected."""
    found = Conditions(absent=dict(absent or {}))
    for row in intervals:
        key = row["group"], row["topic"], row["queue_id"]
        begin, end = _ms(row["begin_earliest"]), _ms(row["end_latest"])
        found.owned.setdefault(key, []).append((begin or 0, EVER if end is None else end))
        since = 0 if begin is None else begin
        found.groups[row["group"]] = min(since, found.groups.get(row["group"], EVER))
    for row in anomalies:
        waits = row["kind"] == LOCK_KIND or (row["kind"] == ORPHAN_KIND and LOCK_WORD in (row["cause"] or ""))
        begin, end = _ms(row["begin_at"]), _ms(row["end_at"])
        if waits and row["queue_id"] is not None:
            key = row["group"], row["topic"], row["queue_id"]
            found.waits.setdefault(key, []).append((begin or 0, EVER if end is None else end))
    found.owned = {key: joined(spans) for key, spans in found.owned.items()}
    found.waits = {key: joined(spans) for key, spans in found.waits.items()}
    found.behind = joined(_spans_behind(sorted(behind)))
    return found


def _ms(time: Any) -> int | None:
    return None if time is None else int((time - EPOCH) // MILLISECOND)


def _spans_behind(lines: Sequence[tuple[int, int]]) -> list[Span]:
    """From the line before to the line behind each one that says it: dispatch fell behind and caught up between."""
    times = [at for at, _ in lines]
    spans = []
    for at, size in lines:
        if size >= BEHIND_BYTES:
            before, after = bisect_left(times, at) - 1, bisect_right(times, at)
            spans.append((times[before] if before >= 0 else at, times[after] if after < len(times) else EVER))
    return spans


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that touch as one."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found


def shares(spans: Sequence[Span], at_ms: Longs) -> Floats:
    """The share of each step between instants that lies in any of the spans, which do not overlap."""
    begins, ends = at_ms[:-1], at_ms[1:]
    covered = np.zeros(len(begins), np.float64)
    for begin, end in spans:
        covered += np.clip(np.minimum(ends, end) - np.maximum(begins, begin), 0, None)
    share: Floats = covered / np.maximum(ends - begins, 1)
    return share
