"""Units that hold an address instead of a tags code (enableConsumeQueueExt), against their ext units and the log.

Source: ConsumeQueue#putMessagePositionInfoWrapper, ConsumeQueueExt#put, DefaultMessageStore#getMessage @4.2.0 … 5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.ext_columns import ExtColumns
from parsers.consumequeue.layout import MAX_EXT_ADDRESS
from parsers.kernels.arrays import Longs
from parsers.values.java import LONG_MIN
from recovery.scan.intervals import Intervals, found_at, neighbours
from recovery.verify.checks.queue.compared import QueueMessages, QueueUnits
from recovery.verify.checks.queue.places import QueuePlaces
from recovery.verify.findings.finding import Finding, Place, Span
from recovery.verify.settle.log_columns import MessageColumns

MISSING, WRONG = "ext_unit_missing", "ext_unit_wrong"
MOST_RECORDS = 16


class ExtContext(NamedTuple):
    """What the rule needs besides the queue: the size of ext files, the log's records and their places, and the ranges
    of records whose store times are somebody else's finding."""

    file_size: int
    log: MessageColumns
    record_place: Callable[[int, int], Place]
    doubtful_times: Intervals


def hold_addresses(queues: Iterable[QueueUnits]) -> bool:
    """Most units are ext addresses, and not by a chance of one: those of a store that has lost its ext files."""
    told = [units.tags_code[~(units.is_hole | units.is_pre_blank)] for units in queues]
    addresses = sum(int(np.count_nonzero(codes <= MAX_EXT_ADDRESS)) for codes in told)
    return addresses > max(1, sum(map(len, told)) // 2)


def with_expected_tags(units: QueueUnits, messages: QueueMessages) -> QueueUnits:
    """The units with the tags code that their message has in place of an address; what addresses lead to is judged by
    `check_ext`."""
    row, is_own = found_at(messages.physical_offset, units.physical_offset)
    replaced = is_own & (units.tags_code <= MAX_EXT_ADDRESS)
    tags_code = units.tags_code.copy()
    tags_code[replaced] = messages.tags_code[row[replaced]]
    return units._replace(tags_code=tags_code)


def check_ext(
    units: QueueUnits, messages: QueueMessages, ext: ExtColumns, places: QueuePlaces, context: ExtContext
) -> Iterator[Finding]:
    """Addresses that lead to no ext unit, and ext units that are not of the message of the unit.

    Ext units that no unit points to are left by every dispatch of a message that the queue has already.
    """
    own, is_own = found_at(messages.physical_offset, units.physical_offset)
    chosen = np.flatnonzero(is_own & (units.tags_code <= MAX_EXT_ADDRESS))
    asked = QueueUnits._make(column[chosen] for column in units)
    offset = asked.tags_code ^ LONG_MIN
    row, is_there = found_at(ext.ext_offset, offset)
    log = context.log
    record, is_record = found_at(log.physical_offset, asked.physical_offset)
    right = np.zeros(len(chosen), np.bool_)
    if len(ext.ext_offset) and len(log.physical_offset):
        right = ext.tags_code[row] == messages.tags_code[own[chosen]]
        same_time = ext.store_timestamp_ms[row] == log.store_timestamp_ms[record]
        right &= same_time | ~is_record | context.doubtful_times.hold(asked.physical_offset)
    for kind, wanted in ((MISSING, ~is_there), (WRONG, is_there & ~right)):
        rows = np.flatnonzero(wanted)
        for first, end in neighbours(asked.queue_offset[rows]):
            run = rows[first:end]
            finding = _finding(kind, run, asked, places, int(offset[run[0]]))
            yield replace(finding, places=(*finding.places, *_proofs(kind, asked, run, offset, ext, places, context)))


def _proofs(
    kind: str, asked: QueueUnits, run: Longs, offset: Longs, ext: ExtColumns, places: QueuePlaces, context: ExtContext
) -> Iterator[Place]:
    """The ext units, or all ext files of a queue that has none left; of a unit that contradicts its record that too."""
    if not len(ext.ext_offset):
        yield Place(f"consumequeue_ext/{places.topic}/{places.queue_id}", 0, 0)
        return
    yield from _ext_places(offset[run], ext, places, context.file_size)
    if kind == WRONG:
        for row in run[:MOST_RECORDS].tolist():
            yield context.record_place(int(asked.physical_offset[row]), int(asked.msg_size[row]))


def _finding(kind: str, rows: Longs, asked: QueueUnits, places: QueuePlaces, address: int) -> Finding:
    slot, count = int(asked.queue_offset[rows[0]]), len(rows)
    return Finding(
        kind,
        Span(
            places.topic,
            places.queue_id,
            slot,
            slot + count,
            int(asked.physical_offset[rows[0]]),
            int(asked.physical_offset[rows[-1]]) + 1,
        ),
        places.places(slot, count),
        count,
        (
            f"unit {slot}: its address is byte {address} of the queue's ext files",
            "no ext unit begins there" if kind == MISSING else "the ext unit there has another tags code or store time",
        ),
    )


def _ext_places(offset: Longs, ext: ExtColumns, places: QueuePlaces, file_size: int) -> Iterator[Place]:
    """The bytes from the first of these addresses to the last, file by file; where a file's units end before the first,
    from there to the file's end: what ended them hides all that follow."""
    for base in np.unique(offset - offset % file_size).tolist():
        inside = offset[(offset >= base) & (offset - base < file_size)]
        first, last = int(inside.min()), int(inside.max())
        of_file = (ext.ext_offset >= base) & (ext.ext_offset - base < file_size)
        if bool((of_file & (ext.ext_offset >= first)).any()):
            end = last + CQ_EXT_UNIT.size
        else:
            first, end = int((ext.ext_offset + ext.unit_size)[of_file].max(initial=base)), base + file_size
        folder = f"consumequeue_ext/{places.topic}/{places.queue_id}"
        yield Place(f"{folder}/{base:020d}", first - base, end - first)
