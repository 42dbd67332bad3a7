"""The log file with which a recovery begins: the newest whose first record queues, index or checkpoint know.

Source: CommitLog#recoverNormally, #recoverAbnormally, #isMappedFileMatchedRecover @4.9.8, 5.3.1, 5.3.3, 5.3.4, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from parsers.commitlog.record.layout import HEAD, MAGIC_V1, MAGIC_V2, parts
from parsers.damage.errors import TruncatedRecord
from recovery.broker.mapped_file_queue import LoadFailed, LogFile
from recovery.broker.memory import BrokerMemory
from recovery.broker.queues_beside import QueuesBeside

FILES_READ_AFTER_CLEAN_EXIT = 3
DEFAULT_FILES_MATCHED = 10


def first_file_after_clean_exit(memory: BrokerMemory, dispatch_from: int) -> int:
    """The number of the file after a clean exit. `dispatch_from`: the queues know the messages before it."""
    files = memory.commitlog.files
    if not memory.version.redispatches_after_clean_exit:
        number = max(0, len(files) - FILES_READ_AFTER_CLEAN_EXIT)
        why = f"the last {FILES_READ_AFTER_CLEAN_EXIT} files are read; older ones are not looked at"
    elif memory.version.matches_whole_first_record:
        number = _newest(memory, lambda file: _matches_by_record(memory, file, dispatch_from, True), from_second=True)
        why = "reading starts at the newest file whose first record the queues and the index already hold"
    else:
        number = _newest(memory, lambda file: file.base_offset <= dispatch_from, from_second=True)
        why = "reading starts at the newest file that begins at or before the queues' maximum"
    memory.because(why, "CommitLog#recoverNormally", f"{files[number].name}; queues' maximum {dispatch_from}")
    return number


def first_file_after_crash(memory: BrokerMemory) -> int:
    """The number of the file after a crash."""
    version, stored = memory.version, memory.checkpoint
    if version.matches_whole_first_record:
        dispatched = _known_dispatched(memory)
        number = _newest(memory, lambda file: _matches_by_record(memory, file, dispatched, False), from_second=False)
        evidence = f"logicsPhysicalOffset {dispatched}, logicsMsgTimestamp {stored.logics_msg_timestamp}"
        if memory.database is not None:
            evidence = f"the database of queues notes {dispatched}"
    elif memory.database is not None:
        number = _newest(memory, lambda file: _matches_by_place(memory, file), from_second=False)
        evidence = f"the database of queues notes {memory.database.dispatched_to}"
    else:
        number = _newest(memory, lambda file: matches_by_time(memory, file.stored), from_second=False)
        evidence = f"oldest time in the checkpoint {_time_limit(memory)}"
    memory.because(
        "reading and dispatching starts at the newest file whose first record "
        + ("the checkpoint covers" if memory.database is None else "the queues have"),
        "CommitLog#recoverAbnormally",
        f"{memory.commitlog.files[number].name}; {evidence}",
    )
    return number


def _newest(memory: BrokerMemory, matches: Callable[[LogFile], bool], *, from_second: bool) -> int:
    """The newest file that matches, else the first. The first is taken unseen with `from_second`.

    Since 5.4.0 the search ends at the commitLogRecoverMaxNum-th file whether it matches or not. A database beside the
    queue files that lacks the first message of the file found takes it some files further back, and as far as it must
    where light queues are in the database alone.
    """
    files = memory.commitlog.files
    limit = memory.settings.commit_log_recover_max_num
    tries = limit if limit > 0 else DEFAULT_FILES_MATCHED
    extra = memory.settings.combine_cq_max_extra_search_commit_log_files
    needs_both = memory.settings.light_queues_in_database(memory.version)
    for number in range(len(files) - 1, 0 if from_second else -1, -1):
        tries -= 1
        found = matches(files[number])
        if found and not _other_has(memory, files[number]):
            if extra <= 0 and memory.files_give_offsets and not needs_both:
                raise LoadFailed(
                    "the database of queues is to answer and lacks messages of more log files than are searched for it",
                    "CombineConsumeQueueStore#isMappedFileMatchedRecover (IllegalArgumentException)",
                    f"{files[number].name}; combineCQMaxExtraSearchCommitLogFiles: "
                    f"{memory.settings.combine_cq_max_extra_search_commit_log_files}",
                )
            extra, found = extra - 1, extra <= 0 and not needs_both
        if found or (memory.version.limits_matched_files and tries <= 0):
            return number
    return 0


def _other_has(memory: BrokerMemory, file: LogFile) -> bool:
    """Whether the store of queues that does not decide has the first record, or has no say.

    CombineConsumeQueueStore#isMappedFileMatchedRecover @5.4.0.
    """
    is_passed_over = memory.version.passes_over_unwritten_queue_stores
    beside = memory.second_queues
    if beside is not None and not beside.decide:
        first, is_written = FirstRecord.of(file.stored), beside.max_physical_offset > 0
        return (is_passed_over and not is_written) or (first is not None and _second_have(memory, beside, first))
    noted = memory.second_noted if memory.database is None else memory.database.dispatched_to
    if noted is None or (is_passed_over and noted <= 0):
        return True
    return HEAD.unpack(file.stored)["physical_offset"] <= noted


def _second_have(memory: BrokerMemory, beside: QueuesBeside, first: FirstRecord) -> bool:
    clean_exit = not memory.evidence.abort
    dispatched = beside.max_physical_offset if clean_exit else memory.checkpoint.logics_physical_offset or 0
    return _files_have(memory, first, dispatched, clean_exit)


class FirstRecord(NamedTuple):
    """What is looked at of the first record of a file."""

    magic_code: int
    physical_offset: int
    store_timestamp_ms: int

    @classmethod
    def of(cls, stored: memoryview) -> FirstRecord | None:
        """None where the bytes end before, or have no magic code of a message."""
        try:
            head = HEAD.unpack(stored)
            if head["magic_code"] not in (MAGIC_V1, MAGIC_V2):
                return None
            form = parts(head["magic_code"], head["sys_flag"])
            stored_at = form.store_time.unpack(stored, form.head.size + form.born_host.size)["store_timestamp_ms"]
        except TruncatedRecord:
            return None
        return cls(head["magic_code"], head["physical_offset"], stored_at)


def matches_by_time(memory: BrokerMemory, stored: memoryview) -> bool:
    """Whether the checkpoint covers the record there: only its magic code and its store time are looked at."""
    first = FirstRecord.of(stored)
    if first is None or (first.magic_code == MAGIC_V2 and not memory.version.reads_v2_messages):
        return False
    return first.store_timestamp_ms != 0 and first.store_timestamp_ms <= _time_limit(memory)


def _matches_by_place(memory: BrokerMemory, file: LogFile) -> bool:
    """Whether recovery may begin at this file, for a broker with a database of queues: its first record has a magic
    code that is read, and an offset at or before the last one queued. @5.2.0."""
    try:
        head = HEAD.unpack(file.stored)
    except TruncatedRecord:
        return False
    is_message = head["magic_code"] == MAGIC_V1 or (head["magic_code"] == MAGIC_V2 and memory.version.reads_v2_messages)
    return is_message and head["physical_offset"] <= memory.max_queued_offset()


def _known_dispatched(memory: BrokerMemory) -> int:
    """How far messages were dispatched before a crash, as the checkpoint or the database of queues says."""
    return memory.checkpoint.logics_physical_offset or 0 if memory.database is None else memory.max_queued_offset()


def _time_limit(memory: BrokerMemory) -> int:
    by_index = memory.settings.message_index_enable and memory.settings.message_index_safe
    return memory.checkpoint.min_timestamp_index if by_index else memory.checkpoint.min_timestamp


def _matches_by_record(memory: BrokerMemory, file: LogFile, dispatched: int, clean_exit: bool) -> bool:
    """The whole first record is valid, and queues, rocksdbstore and (with messageIndexSafe) index have it."""
    checked = memory.check.at(
        file.stored, 0, crc=memory.settings.check_crc_on_recover, duplication=memory.settings.duplication_enable
    )
    request = checked.request
    if request is None or request.store_timestamp_ms == 0:
        return False
    if any(request.physical_offset > noted for noted in memory.noted_of_messages()):
        return False
    first = FirstRecord(MAGIC_V1, request.physical_offset, request.store_timestamp_ms)
    return is_dispatched(memory, first, dispatched, clean_exit)


def is_dispatched(memory: BrokerMemory, first: FirstRecord, dispatched: int, clean_exit: bool) -> bool:
    """Whether queues and (with messageIndexSafe) index have it. ConsumeQueueStore#isMappedFileMatchedRecover."""
    stored, settings = memory.checkpoint, memory.settings
    if (
        settings.message_index_enable
        and settings.message_index_safe
        and first.store_timestamp_ms > stored.index_msg_timestamp
    ):
        return False
    if memory.second_queues is not None and memory.second_queues.decide:
        return _second_have(memory, memory.second_queues, first)
    if memory.database is not None:
        return first.physical_offset <= dispatched
    return _files_have(memory, first, dispatched, clean_exit)


def _files_have(memory: BrokerMemory, first: FirstRecord, dispatched: int, clean_exit: bool) -> bool:
    """Whether queues in files have the message, by their maximum or, after a crash, by the checkpoint."""
    stored = memory.checkpoint
    if clean_exit:
        return first.physical_offset <= dispatched
    if not memory.version.keeps_dispatched_offset:
        return first.store_timestamp_ms <= stored.min_timestamp
    if dispatched <= 0:
        return first.store_timestamp_ms <= stored.logics_msg_timestamp
    return first.physical_offset <= dispatched
