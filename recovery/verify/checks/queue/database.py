"""The database of queues by itself: what cannot be read, limits that its own units contradict, normal leftovers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from parsers.commitlog.record.layout import HEAD
from parsers.store.store_file import QueueKey
from recovery.scan.intervals import Intervals, neighbours
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.database_spool import Spool, SpooledQueue
from recovery.verify.settle.unit_times import ASIDE

STALE = "a truncation moves a queue's end back and leaves the units behind it, which the next messages overwrite"
MOST_REASONS, MOST_RECORDS = 3, 16
COPY = "rocksdbCQDoubleWriteEnable writes the queues into a database beside their files, which are compared"


def check_database(root: Path, spooled: Spool, log_start: int, doubtful_times: Intervals) -> Judgement:
    """What the database says by itself of a log that starts at `log_start`, and the store times of its units.

    Args:
        doubtful_times: the records whose store times are somebody else's finding.
    """
    place = Place(spooled.folder, 0, 0)
    findings = list(_unreadable(root, spooled))
    explained = [] if spooled.is_stores else [Explained("second copy of the queues", COPY, places=(place,))]
    for key, queue in spooled.queues.items():
        findings += _limit_findings(key, queue, place, log_start)
        findings += _time_findings(key, spooled, place, doubtful_times)
        if queue.stale:
            span = Span(*key, queue.first_stale, queue.first_stale + queue.stale)
            explained.append(Explained("units behind the queue's end", STALE, span, (place,)))
    return Judgement(tuple(findings), tuple(explained))


def _unreadable(root: Path, spooled: Spool) -> Iterator[Finding]:
    """One finding for each file that is complained of. It is meant as a whole: RocksDB names the first bad block."""
    reasons: dict[str, list[str]] = {}
    for damage in spooled.damage:
        path = damage.path
        name = path.relative_to(root).as_posix() if path is not None and path.is_relative_to(root) else spooled.folder
        reasons.setdefault(name, []).append(damage.reason)
    for name, said in reasons.items():
        evidence = [f"{name}: {reason}" for reason in dict.fromkeys(said)]
        yield Finding("queue_database_damaged", Span(), (Place(name, 0, 0),), len(said), tuple(evidence[:MOST_REASONS]))


def _limit_findings(key: QueueKey, queue: SpooledQueue, place: Place, log_start: int) -> Iterator[Finding]:
    """`max` names the last message: while its record exists, its unit must be there, and say the same place.

    `min` may name the log's start instead of a unit, and is put right when a broker is asked for it.
    """
    last, unit = queue.limits.last, queue.last
    if last is None or last.physical_offset < log_start or not queue.is_whole:
        return
    if unit is None or unit["physical_offset"] != last.physical_offset:
        said = "none" if unit is None else f"physical offset {unit['physical_offset']}"
        yield Finding(
            "queue_limit_wrong",
            Span(*key, last.queue_offset, last.queue_offset + 1, last.physical_offset, last.physical_offset + 1),
            (place,),
            1,
            (f"max: message {last.queue_offset} at {last.physical_offset}", f"its unit: {said}"),
        )


def _time_findings(key: QueueKey, spooled: Spool, place: Place, doubtful_times: Intervals) -> Iterator[Finding]:
    units = spooled.wrong_times.get(key, np.empty(0, ASIDE))
    units = units[~doubtful_times.hold(units["physical_offset"])]
    wrong = units["queue_offset"].astype(np.int64)
    for first, end in neighbours(wrong):
        slot, count = int(wrong[first]), end - first
        places = units["physical_offset"][first:end].tolist()
        span = Span(*key, slot, slot + count, places[0], places[-1] + 1)
        said = f"units {slot} to {slot + count - 1}: another store time than their records have"
        records = (Place("", at, HEAD.size) for at in places[:MOST_RECORDS])
        yield Finding("unit_wrong_store_time", span, (place, *records), count, (said,))
