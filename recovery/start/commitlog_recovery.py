"""Where the log ends after a start: from which file it is read, what ends it, what is dispatched on the way.

Source: CommitLog#recoverNormally, #recoverAbnormally, #isMappedFileMatchedRecover @4.9.8, 5.3.1, 5.3.3, 5.3.4, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from parsers.evidence.mapped import release_pages
from parsers.kernels.arrays import Longs, Mask
from recovery.broker.mapped_file_queue import LoadFailed, LogFile
from recovery.broker.memory import BrokerMemory
from recovery.broker.queue_database import QueueDatabase
from recovery.rules.dispatch import DispatchRequest
from recovery.rules.passing_settings import PassedBy
from recovery.scan.kernel import ScanBatch
from recovery.start.first_file import first_file_after_clean_exit, first_file_after_crash

Chooser = Callable[[Longs, Longs], Mask]
"""(physical offsets, sizes) -> which of the messages are dispatched."""


@dataclass(slots=True)
class _Walk:
    """Where reading stands: a file and the end of its last valid record.

    `read_at` is where Java's buffer stands: apart from `position` after a record whose sizes do not add up.
    """

    file: LogFile
    position: int
    read_at: int
    last_valid: int | None = None
    last_confirmed: int | None = None

    @property
    def end(self) -> int:
        return self.file.base_offset + self.position


def recover_commitlog(memory: BrokerMemory, *, clean_exit: bool) -> None:
    """Find the log's end and truncate log and queues to it.

    Raises:
        LoadFailed: accelerated recovery without a dispatched offset in the checkpoint.
        OutOfHeap: a size field that no bound is checked for and the heap cannot hold.
    """
    files, queued_before = memory.commitlog.files, memory.max_queued_offset()
    dispatch_from = dispatch_offset(memory, clean_exit)
    if not files:
        if not clean_exit or memory.version.forgets_queues_without_log:
            _forget_queues(memory)
        return
    if clean_exit:
        number = first_file_after_clean_exit(memory, dispatch_from)
    else:
        number = first_file_after_crash(memory)
    second = second_dispatched(memory, clean_exit)
    if second is not None:
        dispatch_from = min(dispatch_from, second)
    if memory.version.dispatches_to_databases:
        dispatch_from = min([dispatch_from, *(noted for noted in memory.noted_of_messages() if noted > 0)])
    wanted = _lacking_in_queues(memory, dispatch_from) if clean_exit else _confirmed(memory)
    start = _start_position(memory, files[number], dispatch_from, clean_exit)
    walk = _read(memory, number, start, wanted, clean_exit)
    _set_confirm_offset(memory, walk, files[number].base_offset + start, clean_exit)
    queued = memory.max_queued_offset() if memory.version.matches_whole_first_record else queued_before
    if memory.second_queues is not None:
        queued = max(queued, memory.second_queues.max_physical_offset)
    if queued >= walk.end if memory.version.truncates_queues_by_maximum else not clean_exit:
        _truncate_queues(memory, walk.end)
    memory.flushed_where = walk.end
    memory.commitlog.truncate_to(walk.end)


def second_dispatched(memory: BrokerMemory, clean_exit: bool) -> int | None:
    """`dispatch_offset` of the store of queues beside the one that decides; None without one."""
    if memory.second_queues is None:
        return memory.second_noted
    if not clean_exit and memory.version.keeps_dispatched_offset:
        return memory.checkpoint.logics_physical_offset or 0
    return memory.second_queues.max_physical_offset


def dispatch_offset(memory: BrokerMemory, clean_exit: bool) -> int:
    """Messages after this offset are known to the queues. ConsumeQueueStore#getDispatchFromPhyOffset; a database
    answers what it notes. RocksDBConsumeQueueStore#getDispatchFromPhyOffset."""
    if memory.database is not None or clean_exit or not memory.version.keeps_dispatched_offset:
        return memory.max_queued_offset()
    stored = memory.checkpoint
    if (
        memory.settings.enable_accelerated_recovery
        and stored.physic_msg_timestamp > 0
        and (stored.logics_physical_offset or 0) <= 0
    ):
        raise LoadFailed(
            "accelerated recovery is asked for, and the checkpoint does not say how far messages were dispatched",
            "ConsumeQueueStore#getDispatchFromPhyOffset (RuntimeException)",
            f"checkpoint: logicsPhysicalOffset {stored.logics_physical_offset}",
            PassedBy.WHOLE_FILES,
        )
    return stored.logics_physical_offset or 0


def _forget_queues(memory: BrokerMemory) -> None:
    memory.flushed_where = 0
    for queue in memory.queues.values():
        queue.destroy()
    if memory.database is not None:
        memory.database.destroy()
    memory.because(
        "without a commitlog file all of consumequeue/ is deleted",
        "CommitLog#recoverNormally, #recoverAbnormally",
        "commitlog: no files",
    )


def _lacking_in_queues(memory: BrokerMemory, dispatch_from: int) -> Chooser:
    redispatches = memory.version.redispatches_after_clean_exit
    return lambda offset, size: np.asarray((offset > dispatch_from) & redispatches)


def _confirmed(memory: BrokerMemory) -> Chooser:
    """After a crash everything is dispatched; with duplicationEnable what was confirmed."""
    settings = memory.settings
    if not settings.duplication_enable and not settings.enable_controller_mode:
        return lambda offset, size: np.ones(len(offset), np.bool_)
    if not memory.version.dispatches_confirmed_only:
        return lambda offset, size: np.asarray(offset < memory.confirm_offset)
    return lambda offset, size: np.asarray(offset + size <= memory.confirmed_offset())


def _start_position(memory: BrokerMemory, file: LogFile, dispatch_from: int, clean_exit: bool) -> int:
    """enableAcceleratedRecovery starts inside the matched file."""
    if clean_exit or not memory.version.keeps_dispatched_offset or not memory.settings.enable_accelerated_recovery:
        return 0
    return max(0, dispatch_from - file.base_offset)


def _read(memory: BrokerMemory, number: int, start: int, wanted: Chooser, clean_exit: bool) -> _Walk:
    """Read record by record until one is not valid or the files end, dispatching what is wanted."""
    settings, files, version = memory.settings, memory.commitlog.files, memory.version
    walk = _Walk(files[number], start, start)
    if start > len(walk.file.stored):
        raise LoadFailed(
            "accelerated recovery would start beyond its file",
            "CommitLog#recoverAbnormally (IllegalArgumentException)",
            f"{walk.file.name}: position {start}",
            PassedBy.WHOLE_FILES,
        )
    while True:
        while run := memory.runs.take(walk.file.stored, walk.read_at, crc=settings.check_crc_on_recover):
            _advance(memory, walk, run, wanted)
        checked = memory.check.at(
            walk.file.stored, walk.read_at, crc=settings.check_crc_on_recover, duplication=settings.duplication_enable
        )
        walk.read_at = checked.read_to
        if checked.success and checked.size == 0:
            number += 1
            if number >= len(files):
                return walk
            walk.file, walk.position, walk.read_at = files[number], 0, 0
            continue
        if checked.request is None and checked.size > 0 and not clean_exit and version.takes_records_of_wrong_sizes:
            checked = replace(checked, request=DispatchRequest.empty(checked.size))
        if checked.request is None:
            _end_here(memory, walk, checked.reason or "", checked.passed_by)
            return walk
        if checked.size < 0:  # 3.x believes the size, and takes less than nothing for no record
            continue
        if not clean_exit and _foreign_offset(memory, walk.file, checked.request):
            why = "its own offset lies outside its file (checkCommitLogOffsetOnRecover)"
            _end_here(memory, walk, why, PassedBy.NO_OFFSET_CHECK)
            return walk
        walk.last_valid = walk.end
        walk.position += checked.size
        memory.bytes_checked += checked.size
        if wanted(np.array([checked.request.physical_offset]), np.array([checked.size]))[0]:
            memory.dispatch(checked.request, walk.last_valid)
            walk.last_confirmed = checked.request.physical_offset + checked.size


def _advance(memory: BrokerMemory, walk: _Walk, run: ScanBatch, wanted: Chooser) -> None:
    """Take a run of valid records at once."""
    records = run.records
    chosen = wanted(records.physical_offset, records.total_size.astype(np.int64))
    base_offset = walk.end - walk.read_at
    if chosen.any():
        memory.dispatch_batch(run, memory.runs.scanner, chosen, base_offset)
    walk.last_valid = base_offset + int(records.file_pos[-1])
    read_to = int(records.file_pos[-1]) + int(records.total_size[-1])
    memory.bytes_checked += read_to - walk.read_at
    walk.position += read_to - walk.read_at
    walk.read_at = read_to
    release_pages(np.frombuffer(walk.file.stored, np.uint8), 0, read_to)


def _foreign_offset(memory: BrokerMemory, file: LogFile, request: DispatchRequest) -> bool:
    checks = memory.settings.check_commit_log_offset_on_recover and memory.version.keeps_dispatched_offset
    return checks and not file.base_offset <= request.physical_offset <= file.end_offset


def _end_here(memory: BrokerMemory, walk: _Walk, reason: str, passed_by: PassedBy | None) -> None:
    memory.because(
        f"the log ends where no valid record follows: {reason}",
        "CommitLog#checkMessageAndReturnSize",
        f"{walk.file.name}, position {walk.position}",
    )
    memory.log_ends_because = f"{reason} ({walk.file.name}, position {walk.position})"
    memory.log_end_passed_by = passed_by


def _set_confirm_offset(memory: BrokerMemory, walk: _Walk, start_offset: int, clean_exit: bool) -> None:
    """Since 5.0.0: the start of the last valid record; with the controller kept inside the log."""
    if not memory.version.dispatches_confirmed_only:
        return
    if memory.settings.enable_controller_mode:
        most = walk.end if clean_exit else (walk.last_confirmed or start_offset)
        memory.confirm_offset = min(max(memory.confirm_offset, memory.commitlog.min_offset), most)
        return
    before = memory.confirmed_offset() if clean_exit else start_offset
    memory.confirm_offset = before if walk.last_valid is None else walk.last_valid


def _truncate_queues(memory: BrokerMemory, log_end: int) -> None:
    if memory.database is not None:
        _truncate_database(memory, memory.database, log_end)
        for second in () if memory.second_queues is None else memory.second_queues.queues.values():
            second.truncate_to_log(log_end)
        return
    memory.because(
        "units of messages at or beyond the log's end are dropped from every queue",
        "ConsumeQueue#truncateDirtyLogicFiles",
        f"the log ends at {log_end}",
    )
    for queue in memory.queues.values():
        queue.truncate_to_log(log_end)


def _truncate_database(memory: BrokerMemory, database: QueueDatabase, log_end: int) -> None:
    """Raises LoadFailed: before 5.3.2 one queue that cannot be moved back ends load()."""
    behind = database.noted_behind(log_end)
    if database.dispatched_to > log_end:
        memory.because(
            "the last message of every queue is moved back before the log's end; its units behind it stay",
            "RocksDBConsumeQueueStore#truncateDirty",
            f"the log ends at {log_end}, dispatch came to {database.dispatched_to}; {len(behind)} queues end behind it",
        )
    if len(memory.dispatched) and memory.version.truncates_database_by_its_limits:
        database.undecided = behind
    by_limits = memory.version.truncates_database_by_its_limits
    database.truncate(log_end, (lambda key: True) if by_limits else memory.knows_queue)
    if database.refused and not memory.version.truncates_database_by_its_limits:
        raise LoadFailed(
            "a queue of the database cannot be moved back before the log's end",
            "RocksDBConsumeQueueOffsetTable#correctMaxCqOffset (RocksDBException)",
            f"{'/'.join(map(str, database.refused[0]))}: its first message is not before {log_end}",
        )
