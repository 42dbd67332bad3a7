"""One queue against the log: the rule that compares units with what dispatch makes of the records.

Pure: columns of one queue in, findings out. Locally it runs queue by queue, in Spark on groups of (topic, queue_id).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Longs, Mask
from parsers.values.java import LONG_MAX
from recovery.scan.intervals import found_at, neighbours
from recovery.verify.checks.queue.compared import LogFacts, QueueHead, QueueMessages, QueueUnits, compare
from recovery.verify.checks.queue.places import QueuePlaces
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span

UNCLEAN = "the broker ended without shutting down: what dispatch had not reached yet, recovery dispatches"


def check_queue(
    messages: QueueMessages, units: QueueUnits, head: QueueHead, files: QueuePlaces, log: LogFacts
) -> Judgement:
    """Every disagreement of one queue of single messages with the log, neighbours of one cause in one finding.

    Messages and units that are each other's may be left out, both together, but for those that share their record
    with one that is not.
    """
    own, row, is_own, verdict, holes, absent, served = compare(messages, units, head, files, log)
    findings = [*_unit_findings(messages, own, row, verdict, files, log), *_hole_findings(holes, messages, files)]
    if not is_own.any():
        findings += _head_findings(messages, head, files, log)
    explained = list(_explained(own, units, head, files, log))
    for found in _missing_findings(absent, served, files, log):
        if found.kind == "not_dispatched_yet" and not log.clean_exit:
            explained.append(Explained("not dispatched yet", UNCLEAN, found.span, found.places))
        else:
            findings.append(found)
    return Judgement(tuple(findings), tuple(explained))


def _unit_findings(
    messages: QueueMessages,
    own: QueueUnits,
    row: Longs,
    verdict: npt.NDArray[np.str_],
    files: QueuePlaces,
    log: LogFacts,
) -> Iterator[Finding]:
    right = own.queue_offset[verdict == ""]
    for kind in np.unique(verdict[verdict != ""]).tolist():
        chosen = np.flatnonzero(verdict == kind)
        for first, end in neighbours(own.queue_offset[chosen]):
            rows = chosen[first:end]
            unit, count = int(rows[0]), len(rows)
            slot = int(own.queue_offset[unit])
            place, size = int(own.physical_offset[unit]), int(own.msg_size[unit])
            yield Finding(
                kind,
                Span(files.topic, files.queue_id, slot, slot + count, place, int(own.physical_offset[rows[-1]]) + 1),
                (
                    *files.places(slot, count),
                    *_record_places(own.physical_offset[rows], log),
                    *(_own_places(own.physical_offset[rows], files, log) if kind == OF_OTHER else ()),
                    *(_left_places(messages.queue_offset[row[rows]], right, files) if kind == OUT_OF_ORDER else ()),
                ),
                count,
                (
                    f"unit {slot}: offset {place}, size {size}, tags code {int(own.tags_code[unit])}",
                    _record_says(place, log),
                ),
            )


def _record_places(physical_offsets: Longs, log: LogFacts) -> list[Place]:
    """The records that units point to, as places in the log (file names are set by the caller, who knows the files)."""
    record, is_record = found_at(log.physical_offset, physical_offsets)
    known = record[is_record]
    return [Place("", int(log.physical_offset[at]), int(log.total_size[at])) for at in known[:MOST_PLACES].tolist()]


def _own_places(physical_offsets: Longs, files: QueuePlaces, log: LogFacts) -> Iterator[Place]:
    """Where the units of those records belong that have none of their own."""
    record, is_record = found_at(log.physical_offset, physical_offsets)
    stray = record[is_record & np.isin(physical_offsets, log.misdirected)]
    queues = np.stack([log.topic[stray], log.queue_id[stray]], axis=1).astype(np.int64)
    for topic, queue_id in np.unique(queues, axis=0).tolist():
        of_queue = stray[(log.topic[stray] == topic) & (log.queue_id[stray] == queue_id)]
        slots, own = np.unique(log.queue_offset[of_queue]), files.of(log.topics[topic], queue_id)
        for first, end in neighbours(slots):
            yield from own.places(int(slots[first]), end - first)


def _left_places(slots: Longs, right: Longs, files: QueuePlaces) -> Iterator[Place]:
    """The places of the units that are in other places, where no right unit is."""
    empty = np.setdiff1d(slots, right)
    for first, end in neighbours(empty):
        yield from files.places(int(empty[first]), end - first)


MOST_PLACES = 16
OF_OTHER = "unit_of_other_message"
OUT_OF_ORDER = "queue_order"
OFFSET_TAKEN = "queue_offset_taken"


def _record_says(physical_offset: int, log: LogFacts) -> str:
    record, is_record = found_at(log.physical_offset, np.array([physical_offset]))
    if not is_record[0]:
        return f"log: no record starts at {physical_offset}; it holds {log.start} to {log.end}"
    at = int(record[0])
    queue = f"{log.topics[log.topic[at]]}/{log.queue_id[at]}"
    return (
        f"record at {physical_offset}: queue {queue}, queue offset {log.queue_offset[at]}, size {log.total_size[at]}, "
        f"sysFlag {int(log.sys_flag[at]):#x}"
    )


def _head_findings(messages: QueueMessages, head: QueueHead, files: QueuePlaces, log: LogFacts) -> Iterator[Finding]:
    """Units of expired messages in and after the places of messages that the log still has, where units of other
    queues lead to all of these: the file is another queue's. A single message may itself have been altered."""
    lead_elsewhere = np.isin(messages.physical_offset, log.misdirected).all()
    if len(messages.queue_offset) < 2 or not lead_elsewhere or head.settled_from != LONG_MAX:
        return
    at = int(messages.queue_offset.argmin())
    slot, place = int(messages.queue_offset[at]), int(messages.physical_offset[at])
    first, end = max(slot, head.first_expired), head.first_expired + head.expired
    if first < end:
        span = Span(files.topic, files.queue_id, first, end)
        said = f"units {first} to {end - 1} are of messages before {log.start}, where the log begins"
        evidence = said, f"log: the message of queue offset {slot} is at {place}"
        yield Finding("unit_into_deleted_log", span, files.places(first, end - first), end - first, evidence)


def _hole_findings(holes: Longs, messages: QueueMessages, files: QueuePlaces) -> Iterator[Finding]:
    for first, end in neighbours(holes):
        slot, count = int(holes[first]), end - first
        owed = int(np.isin(messages.queue_offset, holes[first:end]).sum())
        yield Finding(
            "unit_invalid",
            Span(files.topic, files.queue_id, slot, slot + count),
            files.places(slot, count),
            count,
            (
                f"units {slot} to {slot + count - 1} are not valid, later ones are",
                f"log: {owed} messages for these places",
            ),
        )


def absent_kinds(absent: QueueMessages, served: Mask, files: QueuePlaces, log: LogFacts) -> npt.NDArray[np.str_]:
    """The kind of finding for each message without a unit, "" where another finding says it; `served`: a right unit is
    in the place of theirs, which is another message's then."""
    kinds = files.missing_kinds(absent.queue_offset, absent.physical_offset, log.dispatched_to)
    return np.where((kinds == "not_dispatched") & served, OFFSET_TAKEN, kinds)


def _missing_findings(absent: QueueMessages, served: Mask, files: QueuePlaces, log: LogFacts) -> Iterator[Finding]:
    if not len(absent.queue_offset):
        return
    kinds = absent_kinds(absent, served, files, log)
    for kind in np.unique(kinds[kinds != ""]).tolist():
        chosen = QueueMessages._make(column[kinds == kind] for column in absent)
        order = np.argsort(chosen.queue_offset, kind="stable")
        chosen = QueueMessages._make(column[order] for column in chosen)
        for first, end in neighbours(chosen.queue_offset):
            yield _missing_finding(kind, QueueMessages._make(column[first:end] for column in chosen), files, log)


def _missing_finding(kind: str, absent: QueueMessages, files: QueuePlaces, log: LogFacts) -> Finding:
    slot, count = int(absent.queue_offset[0]), len(absent.queue_offset)
    first, last = int(absent.physical_offset.min()), int(absent.physical_offset.max())
    taken = kind == OFFSET_TAKEN
    no_unit = "its units there are of other messages" if taken else "no unit for them"
    records = zip(absent.physical_offset[:MOST_PLACES].tolist(), absent.msg_size[:MOST_PLACES].tolist(), strict=True)
    return Finding(
        kind,
        Span(files.topic, files.queue_id, slot, slot + count, first, last + 1),
        (*files.missing_places(kind, slot, count), *(Place("", *record) for record in records if taken)),
        count,
        (
            f"log: {count} messages of queue offsets {slot} to {slot + count - 1}, at {first} to {last}",
            f"queue: {no_unit}; dispatch had come to {log.dispatched_to}",
        ),
    )


def _explained(
    own: QueueUnits, units: QueueUnits, head: QueueHead, files: QueuePlaces, log: LogFacts
) -> Iterator[Explained]:
    expired, blanks = own.queue_offset[own.physical_offset < log.start], units.queue_offset[units.is_pre_blank]
    for what, why, in_head, first, behind in (
        ("expired head", "units below the log's start stay until their file expires", *head[:2], expired),
        ("pre-blank", "the queue's first file is filled up to its first message", *head[3:5], blanks),
    ):
        count = in_head + len(behind)
        if count:
            slot = first if in_head else int(behind[0])
            span = Span(files.topic, files.queue_id, slot, slot + count)
            yield Explained(what, why, span, files.places(slot, count))
