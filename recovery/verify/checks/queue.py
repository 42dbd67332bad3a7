"""One queue against the log: the rule that compares units with what dispatch makes of the records.

Pure: columns of one queue in, findings out. Locally it runs queue by queue, in Spark on groups of (topic, queue_id).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.java import INT_MAX, LONG_MAX
from parsers.topics import SCHEDULE_TOPIC
from recovery.rules.dispatch import COMMIT
from recovery.scan.intervals import Intervals, Longs, Mask, found_at, neighbours
from recovery.scan.kernel import Ints
from recovery.verify.checks.queue_places import QueuePlaces
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span

UNCLEAN = "the broker ended without shutting down: what dispatch had not reached yet, recovery dispatches"


class QueueMessages(NamedTuple):
    """What dispatch makes of the log for one queue, in physical order (rising `physical_offset`)."""

    queue_offset: Longs
    physical_offset: Longs
    msg_size: Longs
    tags_code: Longs


class QueueUnits(NamedTuple):
    """The units of one queue, in its order, up to the last one that is written; see `is_hole`."""

    queue_offset: Longs
    physical_offset: Longs
    msg_size: Longs
    tags_code: Longs

    @property
    def is_pre_blank(self) -> Mask:
        blank: Mask = (self.physical_offset == 0) & (self.msg_size == INT_MAX) & (self.tags_code == 0)
        return blank

    @property
    def is_hole(self) -> Mask:
        """Units that recovery refuses: unwritten in the middle, or overwritten."""
        hole: Mask = (self.physical_offset < 0) | (self.msg_size <= 0)
        return hole


class QueueHead(NamedTuple):
    """The units that a queue starts with and that no rule has to look at: pre-blanks, and units of expired messages.

    `settled_from`: the first queue offset that was settled, LONG_MAX without one; `settled_to`: behind the last one.
    `unsettled`: the queue offsets between them that were not.
    """

    expired: int
    first_expired: int
    last_expired: int
    blanks: int
    first_blank: int
    settled_from: int
    settled_to: int
    unsettled: Intervals


class LogFacts(NamedTuple):
    """What every queue needs of the log: the records that units point to, by physical offset, and its limits.

    `lost`: ranges that a finding about the log covers; units into them are its consequence.
    `dispatched_to`: where dispatch had come to, the end of the last message that any queue has.
    `misdirected`: records without a unit of their own that units of other queues point to (sorted).
    `delays_apart_ms`: how far a delivery time may lie from store time and delay.
    """

    physical_offset: Longs
    sys_flag: Ints
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    total_size: Ints
    topics: tuple[str, ...]
    start: int
    end: int
    lost: Intervals
    dispatched_to: int
    misdirected: Longs
    clean_exit: bool
    delays_apart_ms: int


def misdirected_units(messages: QueueMessages, units: QueueUnits, log: LogFacts) -> Longs:
    """Physical offsets of records that units of this queue point to although the records are not for this queue.

    Where the log has another message for the unit's place, the unit is wrong and the record is not concerned.
    """
    _, is_record = found_at(log.physical_offset, units.physical_offset)
    _, is_own = found_at(messages.physical_offset, units.physical_offset)
    is_record &= ~np.isin(units.queue_offset, messages.queue_offset)
    return np.unique(units.physical_offset[is_record & ~is_own & ~units.is_hole & ~units.is_pre_blank])


def unserved_messages(messages: QueueMessages, units: QueueUnits) -> Longs:
    """Physical offsets of the queue's messages that none of its units points to."""
    return messages.physical_offset[~np.isin(messages.physical_offset, units.physical_offset)]


class Compared(NamedTuple):
    """One queue put beside the log, before anything is said about it.

    Attributes:
        own: its units that are neither pre-blank nor hole; `row`: the message each leads to, where `is_own`.
        verdict: the kind of finding for each of `own`, "" where there is none.
        holes: queue offsets of invalid units.
        absent: messages that no right unit leads to; `served`: a right unit is in the place of theirs.
    """

    own: QueueUnits
    row: Longs
    is_own: Mask
    verdict: npt.NDArray[np.str_]
    holes: Longs
    absent: QueueMessages
    served: Mask


def compare(messages: QueueMessages, units: QueueUnits, head: QueueHead, files: QueuePlaces, log: LogFacts) -> Compared:
    """Put one queue of single messages beside the log; see `check_queue` for what may be left out."""
    live = ~units.is_hole & ~units.is_pre_blank
    own = QueueUnits._make(column[live] for column in units)
    row, is_own = found_at(messages.physical_offset, own.physical_offset)
    verdict = _verdicts(messages, own, row, is_own, head, files, log)
    holes = units.queue_offset[units.is_hole]
    bad_slots = np.union1d(own.queue_offset[verdict != ""], holes)
    missing = ~np.isin(messages.physical_offset, own.physical_offset[is_own & (verdict == "")])
    missing &= ~np.isin(messages.queue_offset, bad_slots) & ~np.isin(messages.physical_offset, log.misdirected)
    missing &= ~np.isin(messages.physical_offset, own.physical_offset[verdict == "queue_order"])
    absent = QueueMessages._make(column[missing] for column in messages)
    served = np.isin(absent.queue_offset, own.queue_offset[is_own & (verdict == "")])
    settled = (absent.queue_offset >= head.settled_from) & (absent.queue_offset < head.settled_to)
    served |= settled & ~head.unsettled.hold(absent.queue_offset)
    return Compared(own, row, is_own, verdict, holes, absent, served)


def check_queue(
    messages: QueueMessages, units: QueueUnits, head: QueueHead, files: QueuePlaces, log: LogFacts
) -> Judgement:
    """Every disagreement of one queue of single messages with the log, neighbours of one cause in one finding.

    Messages and units that are each other's may be left out, both together, but for those that share their record
    with one that is not.
    """
    own, row, _, verdict, holes, absent, served = compare(messages, units, head, files, log)
    findings = [*_unit_findings(messages, own, row, verdict, files, log), *_hole_findings(holes, messages, files)]
    explained = list(_explained(own, units, head, files, log))
    for found in _missing_findings(absent, served, files, log):
        if found.kind == "not_dispatched_yet" and not log.clean_exit:
            explained.append(Explained("not dispatched yet", UNCLEAN, found.span, found.places))
        else:
            findings.append(found)
    return Judgement(tuple(findings), tuple(explained))


def _verdicts(
    messages: QueueMessages,
    own: QueueUnits,
    row: Longs,
    is_own: Mask,
    head: QueueHead,
    files: QueuePlaces,
    log: LogFacts,
) -> npt.NDArray[np.str_]:
    """The kind of finding for each valid unit, "" where there is none."""
    record, is_record = found_at(log.physical_offset, own.physical_offset)
    lost = log.lost.hold(own.physical_offset)
    shifted = is_own & (messages.queue_offset[row] != own.queue_offset) if len(messages.queue_offset) else is_own
    transaction = log.sys_flag[record] & 0xC if len(log.sys_flag) else np.zeros(len(record), np.int32)
    dispatched = (transaction == 0) | (transaction == COMMIT)
    same_queue = _same_queue(record, files, log)
    expired = own.physical_offset < log.start
    conditions = [
        lost & ~is_record,
        is_own & shifted,
        is_own & (_of(messages.msg_size, row) != own.msg_size),
        is_own & ~_right_tags(_of(messages.tags_code, row), own.tags_code, files, log),
        is_own,
        is_record & same_queue & ~dispatched,
        is_record,
        expired & ~_follows_live(own, is_own, head),
        expired,
        own.physical_offset >= log.end,
    ]
    kinds = [
        "",
        "queue_order",
        "unit_wrong_size",
        "unit_wrong_tags_code",
        "",
        "unit_unexpected",
        "unit_of_other_message",
        "",
        "unit_into_deleted_log",
        "unit_beyond_log",
    ]
    return np.select(conditions, kinds, "unit_points_to_nothing")


def _follows_live(own: QueueUnits, is_own: Mask, head: QueueHead) -> Mask:
    """Units behind the first one whose message is there: an expired head ends before it."""
    live = own.queue_offset[is_own][:1].tolist()
    follows: Mask = own.queue_offset > min(head.settled_from, *live, LONG_MAX)
    return follows


def _of(column: Longs, row: Longs) -> Longs:
    return column[row] if len(column) else np.zeros(len(row), np.int64)


def _right_tags(expected: Longs, stored: Longs, files: QueuePlaces, log: LogFacts) -> Mask:
    apart_ms = log.delays_apart_ms if files.topic == SCHEDULE_TOPIC else 0
    right: Mask = np.abs(stored - expected) <= apart_ms
    return right


def _same_queue(record: Longs, files: QueuePlaces, log: LogFacts) -> Mask:
    if files.topic not in log.topics or not len(log.topic):
        return np.zeros(len(record), np.bool_)
    same: Mask = (log.topic[record] == log.topics.index(files.topic)) & (log.queue_id[record] == files.queue_id)
    return same


def _unit_findings(
    messages: QueueMessages,
    own: QueueUnits,
    row: Longs,
    verdict: npt.NDArray[np.str_],
    files: QueuePlaces,
    log: LogFacts,
) -> Iterator[Finding]:
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


MOST_PLACES = 16
OF_OTHER = "unit_of_other_message"
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
