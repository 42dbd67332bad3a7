"""The minimum offset that a broker of one version answers for a queue, from the queue's files.

Source: ConsumeQueue#correctMinOffset @4.9.7 (reads on from the first unit), 5.0.0 (searches by halves). A broker that
has been running begins where its minimum was: `correct_min` of recovery/broker/consume_queue.py plays that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.batch import read_units
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import units
from parsers.consumequeue.summary import FILES_RECOVERED, QueueSummary
from parsers.damage.errors import StoreFormatError
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX, to_long
from recovery.rules.versions import BrokerVersion

Offsets = npt.NDArray[np.int64]
Units = npt.NDArray[np.void]


def broker_minimum(found: QueueSummary, files: Sequence[StoreFile], log_start: int, version: BrokerVersion) -> int:
    """What the broker answers once it has been started: the first message that still exists, or 0 for a queue whose
    first file leads to none any more. Since 5.0.0 a queue whose last unit is of a deleted message says its maximum, and
    the first message is searched by halves, which passes over it where units are out of order.

    A broker counts the pre-blanks that a queue begins with; here its first message follows them. A queue of batches
    begins after the deleted messages that its first file begins with.

    Args:
        files: the queue's files in offset order; none for a queue that a database keeps.
        log_start: the byte where the CommitLog begins.
    """
    if files and files[0].kind == "batchconsumequeue":
        return _batch_minimum(found, files, log_start)
    is_empty = found.min_queue_offset == found.max_queue_offset
    if not files or (is_empty and version.searches_minimum_from_the_end):
        return found.min_queue_offset
    first = (files[0].base_offset or 0) // CQ_UNIT.size
    ends = (files[1].base_offset or 0) // CQ_UNIT.size if len(files) > 1 else found.max_queue_offset
    try:
        readable = units(files[0])[: max(0, min(ends, found.max_queue_offset) - first)]
    except StoreFormatError:
        return found.min_queue_offset
    at = _first_of(readable, log_start, version, intact=first == 0)
    return 0 if at is None else first + at


def readable_messages(found: QueueSummary, minimum: int) -> int:
    """How many offsets a consumer can still read: from the first message that exists, but not below the minimum.

    A pull below the minimum is OFFSET_TOO_SMALL (DefaultMessageStore#getMessage @5.3.3).
    """
    return max(0, found.max_queue_offset - max(found.min_queue_offset, minimum))


def _batch_minimum(found: QueueSummary, files: Sequence[StoreFile], log_start: int) -> int:
    """Where BatchConsumeQueue#correctMinOffset @5.3.3 begins; -1 is its answer for a first file without a unit."""
    try:
        readable = read_units(files[0], ends_queue=len(files) <= FILES_RECOVERED)
    except StoreFormatError:
        return found.min_queue_offset
    if not len(readable):
        return -1
    exists = readable["physical_offset"] >= log_start
    expired = int(np.argmax(exists)) if exists.any() else len(readable)
    last = readable[max(0, expired - 1)]
    return to_long(int(last["queue_offset"]) + (int(last["message_count"]) if expired else 0))


def _first_of(readable: Units, log_start: int, version: BrokerVersion, *, intact: bool) -> int | None:
    """The place of the unit that the minimum is corrected to; None where it is not corrected."""
    offsets = readable["physical_offset"]
    search = search_minimum if version.searches_minimum_from_the_end else scan_minimum
    at = 0 if intact and len(offsets) and offsets[0] >= log_start else search(offsets, log_start)
    return None if at is None else _behind_pre_blanks(readable, at)


def _behind_pre_blanks(readable: Units, at: int) -> int | None:
    rest = readable[at:]
    blank = (rest["physical_offset"] == 0) & (rest["msg_size"] == INT_MAX) & (rest["tags_code"] == 0)
    return None if blank.all() else at + int(np.argmin(blank))


def scan_minimum(offsets: Offsets, log_start: int) -> int | None:
    """The first unit whose message exists, as 4.x looks for it; None without one."""
    exists = offsets >= log_start
    return int(np.argmax(exists)) if exists.any() else None


def search_minimum(offsets: Offsets, log_start: int) -> int | None:
    """Java's search by halves for the first unit whose message exists (5.0.0); None where the one or two units that it
    looks at in the end are of deleted messages."""
    low, high = 0, len(offsets) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if offsets[middle] > log_start:
            high = middle
        elif offsets[middle] == log_start:
            low = high = middle
        else:
            low = middle
    return next((at for at in range(low, high + 1) if offsets[at] >= log_start), None)
