"""One queue of single messages put beside the log, before anything is said about it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Ints, Longs, Mask
from parsers.values.java import INT_MAX, LONG_MAX
from parsers.values.topics import SCHEDULE_TOPIC
from recovery.rules.dispatch import COMMIT
from recovery.scan.intervals import Intervals, found_at
from recovery.verify.checks.queue.places import QueuePlaces


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
    def is_zero(self) -> Mask:
        zero: Mask = (self.physical_offset == 0) & (self.msg_size == 0) & (self.tags_code == 0)
        return zero

    @property
    def is_hole(self) -> Mask:
        """Units that recovery refuses: unwritten in the middle, or overwritten."""
        hole: Mask = (self.physical_offset < 0) | (self.msg_size <= 0)
        return hole


class QueueHead(NamedTuple):
    """The units that a queue starts with and that no rule has to look at: pre-blanks, and units of expired messages.

    `settled_from`: the first queue offset that was settled, LONG_MAX without one; `settled_to`: after the last one.
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
    `file_size`: of each file of the log; a record lies in one.
    `lost_starts`: where messages started that are lost, as their units say (sorted): none reaches over the next one.
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
    file_size: int
    lost_starts: Longs


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
        holes: queue offsets of invalid units; not of zeros behind the last right one.
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
    right_end = max(
        int(own.queue_offset[verdict == ""].max(initial=-1)) + 1, head.settled_to, head.first_expired + head.expired
    )
    unwritten = units.is_zero & (units.queue_offset >= right_end)
    holes = units.queue_offset[units.is_hole & ~unwritten]
    bad_slots = np.union1d(own.queue_offset[verdict != ""], holes)
    missing = ~np.isin(messages.physical_offset, own.physical_offset[is_own & (verdict == "")])
    missing &= ~np.isin(messages.queue_offset, bad_slots) & ~np.isin(messages.physical_offset, log.misdirected)
    missing &= ~np.isin(messages.physical_offset, own.physical_offset[verdict == "queue_order"])
    absent = QueueMessages._make(column[missing] for column in messages)
    of_message = is_own | (own.physical_offset < log.start)
    served = np.isin(absent.queue_offset, own.queue_offset[of_message & (verdict == "")])
    after_expired = head.first_expired + head.expired
    served |= (absent.queue_offset >= head.first_expired) & (absent.queue_offset < after_expired)
    settled = (absent.queue_offset >= head.settled_from) & (absent.queue_offset < head.settled_to)
    served |= settled & ~head.unsettled.hold(absent.queue_offset)
    return Compared(own, row, is_own, verdict, holes, absent, served)


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
    in_one_file = own.physical_offset % log.file_size + own.msg_size <= log.file_size
    lost = log.lost.hold(own.physical_offset) & in_one_file
    following = np.append(log.lost_starts, LONG_MAX)[np.searchsorted(log.lost_starts, own.physical_offset, "right")]
    shifted = is_own & (messages.queue_offset[row] != own.queue_offset) if len(messages.queue_offset) else is_own
    transaction = log.sys_flag[record] & 0xC if len(log.sys_flag) else np.zeros(len(record), np.int32)
    dispatched = (transaction == 0) | (transaction == COMMIT)
    same_queue = _same_queue(record, files, log)
    expired = own.physical_offset < log.start
    conditions = [
        lost & ~is_record & (own.msg_size > following - own.physical_offset),
        lost & ~is_record,
        is_own & shifted,
        is_own & (_of(messages.msg_size, row) != own.msg_size),
        is_own & ~_right_tags(_of(messages.tags_code, row), own.tags_code, files, log),
        is_own,
        is_record & same_queue & ~dispatched,
        is_record,
        expired & in_one_file & ~_follows_live(own, is_own, head),
        expired,
        own.physical_offset >= log.end,
    ]
    kinds = [
        "unit_wrong_size",
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
    """Units after the first one whose message is there: an expired head ends before it."""
    live = own.queue_offset[is_own][:1].tolist()
    follows: Mask = own.queue_offset > min(head.settled_from, *live, LONG_MAX)
    return follows


def _of(column: Longs, row: Longs) -> Longs:
    return column[row] if len(column) else np.zeros(len(row), np.int64)


def _right_tags(expected: Longs, stored: Longs, files: QueuePlaces, log: LogFacts) -> Mask:
    apart_ms = log.delays_apart_ms if files.topic == SCHEDULE_TOPIC else 0
    beyond = stored - expected  # its absolute value would be below 0 where only the sign bit differs
    right: Mask = (-apart_ms <= beyond) & (beyond <= apart_ms)
    return right


def _same_queue(record: Longs, files: QueuePlaces, log: LogFacts) -> Mask:
    if files.topic not in log.topics or not len(log.topic):
        return np.zeros(len(record), np.bool_)
    same: Mask = (log.topic[record] == log.topics.index(files.topic)) & (log.queue_id[record] == files.queue_id)
    return same
