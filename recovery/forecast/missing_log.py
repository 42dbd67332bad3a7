"""Bytes of the log that no file has although the log goes on after them: a start neither loses nor brings them back.

Source: MappedFileQueue#load, #checkSelf @4.9.8, 5.3.3: a gap between two files is logged and nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from recovery.broker.mapped_file_queue import FileList
from recovery.forecast.losses import units_of
from recovery.forecast.repair import Repair
from recovery.start.restart import Restart


@dataclass(frozen=True, slots=True)
class MissingLog:
    """A run of bytes of the log without a file.

    Attributes:
        begin, end: physical offsets; `end` is where the next file begins.
        queue_units: how many units of queues lead there, as the queues are before the start; None where some are
            not counted: in files of another size, in parts of a database that cannot be read.
    """

    begin: int
    end: int
    queue_units: int | None


def missing_log(played: Restart) -> tuple[MissingLog, ...] | None:
    """The gaps in front of log files after this start, or where it waits for ever; None where load() is not played.

    A gap in front of a file without messages counts unless no queue leads there. Memory: the units of one queue file,
    or of one range of a database.
    """
    if not (played.loaded or played.hang):
        return None
    log = played.memory.commitlog
    found = (MissingLog(begin, end, _units_between(played, begin, end)) for begin, end in _gaps(log))
    return tuple(each for each in found if each.end < log.max_offset or each.queue_units != 0)


def _gaps(log: FileList) -> Iterator[tuple[int, int]]:
    for before, behind in pairwise(log.files):
        if before.end_offset < behind.base_offset <= log.max_offset:
            yield before.end_offset, behind.base_offset


def _units_between(played: Restart, begin: int, end: int) -> int | None:
    evidence, settings, found = played.memory.evidence, played.memory.settings, 0
    if evidence.database is not None:
        for key in evidence.database.limits:
            for units in evidence.database.units(key):
                found += int(((units["physical_offset"] >= begin) & (units["physical_offset"] < end)).sum())
        return None if evidence.database.unreadable else found
    for queues, file_size in (
        (evidence.queues, settings.consume_queue_file_size),
        (evidence.batch_queues, settings.mapped_file_size_batch_consume_queue),
    ):
        for entry in (entry for entries in queues.values() for entry in entries):
            if entry.size != file_size:
                return None
            places, sizes, _, _ = units_of(entry)
            found += int(((places >= begin) & (places < end) & (sizes > 0)).sum())
    return found


def put_back(missing: MissingLog, folders: int) -> Repair:
    """What is to be done about a gap. `folders`: how many the log lies in."""
    units = missing.queue_units
    several = "; look first whether a disk of storePathCommitLog is not mounted" if folders > 1 else ""
    return Repair(
        do=f"put the log's files of bytes {missing.begin} to {missing.end} back before the start{several}",
        evidence="no file has these bytes and the log goes on behind them: load() only logs the gap, and a pull passes "
        f"over the queue units that lead there ({'how many is not known' if units is None else units})",
        costs="nothing; without a copy or a replica the bytes stay lost, whether the broker is started or not",
    )
