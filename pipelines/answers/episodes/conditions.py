"""What held while a group fell behind: who owned a queue, who waited for its lock, how far dispatch was."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from parsers.values.utc import EPOCH, MILLISECOND
from pipelines.answers.episodes.curve import Floats, Longs
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.recordings.store_log import StoreLog
from rebalance.readers.logs.templates.store import STORE_MEANINGS

Row = Mapping[str, Any]
Span = tuple[int, int]
QueueKey = tuple[str, str, int]
"""(group, topic, queue_id)."""
EVER = 1 << 62
LOCK_KIND, ORPHAN_KIND = "lock_stall", "orphan"
LOCK_WORD = "lock"
BEHIND_BYTES = 1 << 16
"""Dispatch that is less behind than this is no delay: it is measured while messages come in."""
LINES_APART_MS = 61_000
"""The broker says it once a minute (`dispatch_log`), and a little late."""


class StoreTimes(NamedTuple):
    """By kind of line of store.log and storeerror.log its instants, in order, and from when to when the logs speak."""

    by_kind: Mapping[str, Sequence[int]]
    span: Span


@dataclass(frozen=True, slots=True)
class Told:
    """What a broker's logs and store tell besides who owned which queue.

    Attributes:
        behind: (epoch ms, bytes) of the lines about dispatch.
        absent: by group, when no consumer of it was connected.
        covered: the spans that the broker's logs speak of.
        until_ms: the end of what logs tell of ownership.
        record_size: mean bytes of a record in the log; None: unknown, so that no delay of dispatch can be counted.
        store_times: when store.log and storeerror.log say what; None: neither is there, or no entry in them.
    """

    behind: Sequence[tuple[int, int]] = ()
    absent: Mapping[str, list[Span]] = field(default_factory=dict)
    covered: Sequence[Span] = ()
    until_ms: int = EVER
    record_size: float | None = None
    store_times: StoreTimes | None = None


@dataclass(frozen=True, slots=True)
class Behind:
    """A span in which dispatch was behind the log, by so many messages at the line that begins or ends it."""

    begin: int
    end: int
    messages: float


@dataclass(slots=True)
class Conditions:
    """Spans of time (epoch ms) by queue.

    Attributes:
        owned: a client may have had the queue.
        groups: groups that the record of ownership knows, each with the time from which on it does.
        until_ms: the end of that record: nothing is known of ownership after it.
        absent: by group, when no consumer of it was connected to the broker; a group that no log names is not there.
        covered: when the broker's log tells who is connected.
        waits: an ordered consumer waited for the queue's lock.
        behind: the broker said that its dispatch was behind the log.
        store_times: when store.log and storeerror.log say what; None: neither is there, or no entry in them.
    """

    owned: dict[QueueKey, list[Span]] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    until_ms: int = EVER
    absent: dict[str, list[Span]] = field(default_factory=dict)
    covered: list[Span] = field(default_factory=list)
    waits: dict[QueueKey, list[Span]] = field(default_factory=dict)
    behind: list[Behind] = field(default_factory=list)
    store_times: StoreTimes | None = None

    def said_by_store(self, from_ms: int, until_ms: int) -> str | None:
        """The kinds of lines of store.log in a span, with how many, most first; empty: none. None where there is no
        line, and the log does not reach over the whole span."""
        if self.store_times is None:
            return None
        logged, (first_ms, last_ms) = self.store_times.by_kind.items(), self.store_times.span
        within = ((bisect_right(at, until_ms) - bisect_left(at, from_ms), kind) for kind, at in logged)
        said = ", ".join(f"{kind} {lines}" for lines, kind in sorted(within, key=_most_first) if lines)
        return said if said or (first_ms <= from_ms and until_ms <= last_ms) else None

    def ownership(self, key: QueueKey, at_ms: Longs) -> tuple[Floats, Floats]:
        """The shares of each step between instants in which nobody can have had a queue, and in which somebody may
        have; what is left of a step is in no log."""
        replayed = self._replayed(key[0])
        absent = self.absent.get(key[0])
        known = shares(joined([*replayed, *(self.covered if absent is not None else ())]), at_ms)
        owned = shares([(begin, min(end, self.until_ms)) for begin, end in self.owned.get(key, ())], at_ms)
        nobody = np.maximum(shares(replayed, at_ms) - owned, shares(absent or (), at_ms))
        nobody = np.clip(np.minimum(nobody, known), 0.0, 1.0)
        return nobody, known - nobody

    def is_owned(self, key: QueueKey, at_ms: int) -> bool | None:
        """Whether a client may have had a queue at an instant; None where nothing tells."""
        absent = self.absent.get(key[0])
        if _is_in(absent or (), at_ms):
            return False
        if _is_in(self._replayed(key[0]), at_ms):
            return _is_in(self.owned.get(key, ()), at_ms)
        return True if absent is not None and _is_in(self.covered, at_ms) else None

    def _replayed(self, group: str) -> list[Span]:
        """When the replay of logs knows who owned the queues of a group."""
        since = self.groups.get(group)
        return [] if since is None or since >= self.until_ms else [(since, self.until_ms)]


def _most_first(said: tuple[int, str]) -> tuple[int, str]:
    return -said[0], said[1]


def store_times(log: StoreLog | None) -> StoreTimes | None:
    """When the logs of the store say what; None where there are none, or no entry in them."""
    if log is None or log.span is None:
        return None
    found: dict[str, list[int]] = {}
    for each in log.lines:
        if each.name in STORE_MEANINGS:
            found.setdefault(each.name, []).extend(each.times)
    return StoreTimes({kind: sorted(times) for kind, times in found.items()}, log.span)


def _is_in(spans: Iterable[Span], at_ms: int) -> bool:
    return any(begin <= at_ms <= end for begin, end in spans)


def absences_of(record: OffsetRecord) -> dict[str, list[Span]]:
    """When nobody of each group was connected, by the log of a broker."""
    if not record.covered:
        return {}
    until_ms = max(end for _, end in record.covered)
    found = {group: joined(there.absences(record.boots, until_ms)) for group, there in record.presence.items()}
    return {group: spans for group, spans in found.items() if record.boots or record.presence[group].nobody_ms}


def conditions_of(intervals: Iterable[Row], anomalies: Iterable[Row], told: Told | None = None) -> Conditions:
    """From rows of `ownership_intervals` and `ownership_anomalies` of one broker, and what else its logs tell."""
    told = told or Told()
    found = Conditions(absent=dict(told.absent), covered=joined(told.covered), until_ms=told.until_ms)
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
    found.store_times = told.store_times
    found.behind = spans_behind(sorted(told.behind), told.record_size)
    return found


def _ms(time: Any) -> int | None:
    return None if time is None else int((time - EPOCH) // MILLISECOND)


def spans_behind(lines: Sequence[tuple[int, int]], record_size: float | None) -> list[Behind]:
    """Around each line that says it, one span from the line before and one to the line after it.

    In each of them dispatch fell behind or caught up by no more than the line says. A line that is more than a minute
    away tells nothing. None where the size of a record is not known: bytes do not tell how many messages that is.
    """
    times = [at for at, _ in lines]
    found: dict[Span, float] = {}
    for at, size in lines if record_size else ():
        if size >= BEHIND_BYTES:
            before, after = bisect_left(times, at) - 1, bisect_right(times, at)
            begin = max(times[before] if before >= 0 else 0, at - LINES_APART_MS)
            end = min(times[after] if after < len(times) else EVER, at + LINES_APART_MS)
            for span in ((begin, at), (at, end)):
                found[span] = max(size / (record_size or 1.0), found.get(span, 0.0))
    return [Behind(begin, end, messages) for (begin, end), messages in sorted(found.items())]


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
    if not spans:
        return np.zeros(len(at_ms) - 1, np.float64)
    begins, ends = np.array(sorted(spans), np.int64).T
    ends = np.maximum(begins, ends)
    before = np.concatenate(([0], np.cumsum(np.minimum(ends, at_ms[-1]).clip(begins) - begins)))
    place = np.searchsorted(begins, at_ms, "right")
    inside = np.where(place > 0, np.minimum(at_ms, ends[place - 1]) - begins[place - 1], 0)
    covered = np.where(place > 0, before[place - 1] + inside, 0)
    share: Floats = np.diff(covered) / np.maximum(np.diff(at_ms), 1)
    return share
