"""Bytes of the log that no file has: between its files, where a start neither loses nor brings them back, and behind
the last one, where queues go on and a start cuts them.

Source: MappedFileQueue#load, #checkSelf @4.9.8, 5.3.3: a gap between two files is logged and nothing more.
ConsumeQueue#truncateDirtyLogicFiles: a queue ends where the log does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from parsers.kernels.arrays import Longs
from recovery.broker.mapped_file_queue import FileList
from recovery.broker.store_folder import Entry
from recovery.forecast.losses import units_of
from recovery.forecast.repair import Repair
from recovery.scan.intervals import reached_from
from recovery.start.restart import Restart

NONE: Longs = np.empty(0, np.int64)
ONCE_STARTED = (
    "without a copy or a replica these messages stay lost; once the broker has started they cannot be put back, as new "
    "messages take their place"
)


@dataclass(frozen=True, slots=True)
class MissingLog:
    """A run of bytes of the log without a file.

    Attributes:
        begin, end: physical offsets; `end` is where the next file begins, or where the messages of queues end.
        is_tail: it follows the last file.
        queue_units: how many units of queues lead there, as the queues are before the start; None where some are
            not counted: in files of another size, in parts of a database that cannot be read.
    """

    begin: int
    end: int
    queue_units: int | None
    is_tail: bool = False


def missing_log(played: Restart) -> tuple[MissingLog, ...] | None:
    """The gaps in front of log files after this start, or where it waits for ever, and what is gone behind the last
    file; None where load() is not played.

    A gap in front of a file without messages counts unless no queue leads there. Memory: the units of one queue file,
    or of one range of a database; 16 bytes for each unit that leads behind the log's files.
    """
    if not (played.loaded or played.hang):
        return None
    log = played.memory.commitlog
    found = (MissingLog(begin, end, _units_between(played, begin, end)) for begin, end in _gaps(log))
    gaps = tuple(each for each in found if each.end < log.max_offset or each.queue_units != 0)
    return (*gaps, *missing_tail(played))


def missing_tail(played: Restart) -> Iterator[MissingLog]:
    """What queues have behind the last file of the log as the folder lies there; nothing of a DLedger node's log.

    A single unit that leads further is a damaged one, unless a message would start where the files end.
    """
    evidence, file_size = played.memory.evidence, played.memory.settings.mapped_file_size_commit_log
    if evidence.log_is_dledgers:
        return
    files = [entry for entry in evidence.commitlog if entry.number is not None and not entry.is_folder]
    end = max(((entry.number or 0) + entry.size for entry in files), default=0)
    starts, ends = (np.concatenate(column) for column in zip(*_behind(played, end), strict=True))
    reached = reached_from(end, np.maximum(starts, end), ends, file_size)
    inside = starts < reached
    if reached > end and (inside.sum() > 1 or (starts == end).any()):
        units = int(inside.sum()) if _all_units_are_read(played) else None
        yield MissingLog(end, reached, units, is_tail=True)


def _gaps(log: FileList) -> Iterator[tuple[int, int]]:
    for before, behind in pairwise(log.files):
        if before.end_offset < behind.base_offset <= log.max_offset:
            yield before.end_offset, behind.base_offset


def _behind(played: Restart, end: int) -> Iterator[tuple[Longs, Longs]]:
    """Where the messages of units begin and end that end behind a place and could lie in one file of the log."""
    yield NONE, NONE
    log_file = played.memory.settings.mapped_file_size_commit_log
    for places, sizes in _unit_columns(played):
        rows = (places + sizes > end) & (sizes > 0) & (places >= 0)
        starts, ends = places[rows], places[rows] + sizes[rows]
        fits = (ends - 1) // log_file == starts // log_file
        yield starts[fits], ends[fits]


def _units_between(played: Restart, begin: int, end: int) -> int | None:
    found = sum(
        int(((places >= begin) & (places < end) & (sizes > 0)).sum()) for places, sizes in _unit_columns(played)
    )
    return found if _all_units_are_read(played) else None


def _unit_columns(played: Restart) -> Iterator[tuple[Longs, Longs]]:
    """Physical offsets and sizes of the units of every queue, as they are before the start."""
    database = played.memory.evidence.database
    if database is not None:
        for key in database.limits:
            for units in database.units(key):
                yield units["physical_offset"].astype(np.int64), units["msg_size"].astype(np.int64)
        return
    for entry, file_size in _queue_files(played):
        if entry.size == file_size:
            places, sizes, _, _ = units_of(entry)
            yield places, sizes


def _all_units_are_read(played: Restart) -> bool:
    """Whether `_unit_columns`, read to its end, had the units of every queue."""
    database = played.memory.evidence.database
    if database is not None:
        return not database.unreadable
    return all(entry.size == file_size for entry, file_size in _queue_files(played))


def _queue_files(played: Restart) -> Iterator[tuple[Entry, int]]:
    """Every file of a queue, and the size that files of its kind have."""
    evidence, settings = played.memory.evidence, played.memory.settings
    for queues, file_size in (
        (evidence.queues, settings.consume_queue_file_size),
        (evidence.batch_queues, settings.mapped_file_size_batch_consume_queue),
    ):
        for entries in queues.values():
            yield from ((entry, file_size) for entry in entries)


def put_back(missing: MissingLog, folders: int) -> Repair:
    """What is to be done about bytes that no file has. `folders`: how many the log lies in."""
    several = "; look first whether a disk of storePathCommitLog is not mounted" if folders > 1 else ""
    units = "how many is not known" if missing.queue_units is None else missing.queue_units
    if missing.is_tail:
        evidence = f"no file has these bytes, and queue units lead there ({units}): a start cuts the queues back"
        costs = f"nothing; {ONCE_STARTED}"
    else:
        evidence = (
            "no file has these bytes and the log goes on behind them: load() only logs the gap, and a pull passes "
            f"over the queue units that lead there ({units})"
        )
        costs = "nothing; without a copy or a replica the bytes stay lost, whether the broker is started or not"
    return Repair(
        do=f"put the log's files of bytes {missing.begin} to {missing.end} back before the start{several}",
        evidence=evidence,
        costs=costs,
    )


def from_a_copy(messages: int) -> Repair:
    """What is to be done about lost messages whose bytes the files have, but no record in them."""
    return Repair(
        do="look in a replica or a backup for the log's files with the messages that are listed as lost without a "
        "readable record; where `rocketlens compare` finds one history in both stores, put these files in the place of "
        "the present ones before the start, and keep those",
        evidence=f"{messages} queue units lead behind the log's new end, to bytes that hold no readable record",
        costs=f"nothing; {ONCE_STARTED}",
    )
