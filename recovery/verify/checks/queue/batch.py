"""One BatchCQ against the log: its units say their own offsets, so they are compared one by one, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.batch import BATCH_UNIT
from parsers.damage.errors import StoreFormatError
from parsers.damage.runs import runs
from parsers.evidence.mapped import map_file
from parsers.kernels.arrays import Longs
from parsers.store.store_file import QueueKey, StoreFile
from recovery.scan.intervals import Intervals, found_at
from recovery.verify.checks.queue.queue import UNCLEAN
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.log_columns import LogColumns

Units = npt.NDArray[np.void]
OF_A_RECORD = ("unit_wrong_size", "queue_order")
"""Kinds of units that lead to a record of their queue, which may be the one that is wrong."""
MOST_PLACES = 16


def check_batch_queue(
    key: QueueKey, files: Sequence[StoreFile], log: LogColumns, lost: Intervals, *, dispatched_to: int, clean_exit: bool
) -> Judgement:
    """Every disagreement of one BatchCQ with the log.

    Units that a queue begins with may be of expired messages; after an unclean exit what dispatch had not reached is
    no disagreement. `dispatched_to`: the end of the last message that any queue has.
    """
    topic, queue_id = key
    code = log.topics.index(topic) if topic in log.topics else -1
    rows = np.flatnonzero((log.units.topic == code) & (log.units.queue_id == queue_id))
    record = log.units.record[rows]
    expected = log.messages.physical_offset[record]
    findings: list[Finding] = []
    explained: list[Explained] = []
    seen = [np.empty(0, np.int64)]
    lives = False
    for file in files:
        units = written_units(file)
        places = units["physical_offset"].astype(np.int64)
        at, is_own = found_at(expected, places)
        expired, beyond = (places >= 0) & (places < log.start), places >= log.end
        live = np.flatnonzero(is_own)
        head = expired & (np.arange(len(units)) < (0 if lives else live[0] if len(live) else len(units)))
        lives |= bool(len(live))
        explained += _expired(key, file, units, head)
        findings += _unit_findings(key, file, units, ~expired | head, "unit_into_deleted_log")
        findings += _unit_findings(key, file, units, ~beyond | lost.hold(places), "unit_beyond_log")
        known = is_own | expired | beyond | lost.hold(places)
        findings += _unit_findings(key, file, units, known, "unit_points_to_nothing")
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
    for found in _missing(key, expected, np.concatenate(seen), rows, log, dispatched_to):
        if found.kind == "not_dispatched_yet" and not clean_exit:
            explained.append(Explained("not dispatched yet", UNCLEAN, found.span, found.places))
        else:
            findings.append(found)
    return Judgement(tuple(findings), tuple(explained))


def batches_end(files: Sequence[StoreFile], log: LogColumns) -> int:
    """The end of the last record of the log that a BatchCQ has; the log's start without one."""
    ends = [
        units["physical_offset"].astype(np.int64) + units["msg_size"]
        for units in map(written_units, files)
        if len(units)
    ]
    return max((int(of_file[of_file <= log.end].max(initial=log.start)) for of_file in ends), default=log.start)


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
        unit = dict(zip(BATCH_UNIT.offsets, units[first].item(), strict=True))
        named = units[first : min(end, first + MOST_PLACES)] if kind in OF_A_RECORD else units[:0]
        records = (Place("", int(each["physical_offset"]), int(each["msg_size"])) for each in named)
        yield Finding(
            kind,
            Span(*key, unit["queue_offset"], None, unit["physical_offset"], unit["physical_offset"] + 1),
            (_place(key, file, first, end), *records),
            end - first,
            (f"unit: {unit}", "log: the record says otherwise, or there is none"),
        )


def _expired(key: QueueKey, file: StoreFile, units: Units, head: npt.NDArray[np.bool_]) -> Iterator[Explained]:
    for first, end in runs(head):
        why = "units below the log's start stay until their file expires"
        span = Span(*key, int(units["queue_offset"][first]), int(units["queue_offset"][end - 1]) + 1)
        yield Explained("expired head", why, span, (_place(key, file, first, end),))


def _place(key: QueueKey, file: StoreFile, first: int, end: int) -> Place:
    name = f"batchconsumequeue/{key[0]}/{key[1]}/{file.path.name}"
    return Place(name, first * BATCH_UNIT.size, (end - first) * BATCH_UNIT.size)


def _missing(
    key: QueueKey, expected: Longs, seen: Longs, rows: Longs, log: LogColumns, dispatched_to: int
) -> Iterator[Finding]:
    """Records without a unit, those that dispatch had not reached for themselves."""
    lacking = ~np.isin(expected, seen)
    reached = expected < dispatched_to
    for kind, chosen in (("not_dispatched", lacking & reached), ("not_dispatched_yet", lacking & ~reached)):
        for first, end in runs(chosen):
            offset, count = int(log.units.queue_offset[rows[first]]), end - first
            yield Finding(
                kind,
                Span(*key, offset, None, int(expected[first]), int(expected[end - 1]) + 1),
                (Place(f"batchconsumequeue/{key[0]}/{key[1]}", 0, 0),),
                count,
                (
                    f"log: {count} records from {int(expected[first])} on",
                    f"queue: no unit for them; dispatch had come to {dispatched_to}",
                ),
            )
