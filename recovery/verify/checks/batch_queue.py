"""One BatchCQ against the log: its units say their own offsets, so they are compared one by one, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.batch import BATCH_UNIT
from parsers.errors import StoreFormatError
from parsers.mapped import map_file
from parsers.runs import runs
from parsers.store import QueueKey, StoreFile
from recovery.scan.intervals import Intervals, Longs, found_at
from recovery.verify.findings.finding import Finding, Judgement, Place, Span
from recovery.verify.settle.log_columns import LogColumns

Units = npt.NDArray[np.void]


def check_batch_queue(key: QueueKey, files: Sequence[StoreFile], log: LogColumns, lost: Intervals) -> Judgement:
    """Every disagreement of one BatchCQ with the log."""
    topic, queue_id = key
    code = log.topics.index(topic) if topic in log.topics else -1
    rows = np.flatnonzero((log.units.topic == code) & (log.units.queue_id == queue_id))
    record = log.units.record[rows]
    expected = log.messages.physical_offset[record]
    findings: list[Finding] = []
    seen = [np.empty(0, np.int64)]
    for file in files:
        units = written_units(file)
        places = units["physical_offset"].astype(np.int64)
        at, is_own = found_at(expected, places)
        findings += _unit_findings(key, file, units, is_own | lost.hold(places), "unit_points_to_nothing")
        same = np.ones(len(units), np.bool_)
        if len(expected):
            messages = log.messages
            same &= units["msg_size"] == messages.total_size[record][at]
            same &= units["tags_code"] == messages.tags_code[record][at]
            same &= units["store_timestamp_ms"] == messages.store_timestamp_ms[record][at]
        findings += _unit_findings(key, file, units, same | ~is_own, "unit_wrong_size")
        if len(expected):
            order = units["queue_offset"] == log.units.queue_offset[rows][at]
            order &= units["message_count"] == log.units.message_count[rows][at]
            findings += _unit_findings(key, file, units, order | ~is_own | ~same, "queue_order")
        seen.append(places[is_own])
    return Judgement((*findings, *_missing(key, expected, np.concatenate(seen), rows, log)))


def written_units(file: StoreFile) -> Units:
    """The units of one file up to the last that is written; none of a file that cannot be read."""
    try:
        view = BATCH_UNIT.array(map_file(file.path))
    except StoreFormatError:
        return np.empty(0, BATCH_UNIT.dtype)
    written = np.flatnonzero(view["msg_size"] != 0)
    return view[: int(written[-1]) + 1 if len(written) else 0]


def _unit_findings(
    key: QueueKey, file: StoreFile, units: Units, right: npt.NDArray[np.bool_], kind: str
) -> Iterator[Finding]:
    for first, end in runs(~right):
        name = f"batchconsumequeue/{key[0]}/{key[1]}/{file.path.name}"
        unit = dict(zip(BATCH_UNIT.offsets, units[first].item(), strict=True))
        yield Finding(
            kind,
            Span(*key, unit["queue_offset"], None, unit["physical_offset"], unit["physical_offset"] + 1),
            (Place(name, first * BATCH_UNIT.size, (end - first) * BATCH_UNIT.size),),
            end - first,
            (f"unit: {unit}", "log: the record says otherwise, or there is none"),
        )


def _missing(key: QueueKey, expected: Longs, seen: Longs, rows: Longs, log: LogColumns) -> Iterator[Finding]:
    for first, end in runs(~np.isin(expected, seen)):
        offset, count = int(log.units.queue_offset[rows[first]]), end - first
        yield Finding(
            "not_dispatched",
            Span(*key, offset, None, int(expected[first]), int(expected[end - 1]) + 1),
            (Place(f"batchconsumequeue/{key[0]}/{key[1]}", 0, 0),),
            count,
            (f"log: {count} records from {int(expected[first])} on", "queue: no unit for them"),
        )
