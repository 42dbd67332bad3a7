"""Where a DLedger node's log and queues end when it starts, before it meets the other replicas.

DLedger reads its own log, from the third-last file on or from an older one whose first entry is as the index says; what
does not fit ends it. An index that disagrees is written anew. Then the queues are cut to the log; after a crash since
5.2.0 its messages are dispatched before, and the queues are cut to where the broker takes its end to be.
Source: dledger DLedgerMmapFileStore#recover, MmapFileList#load, #checkSelf @0.1, 0.2.3, 0.3.1.2;
DLedgerCommitLog#recover @4.9.8, #dledgerRecoverNormally, #dledgerRecoverAbnormally @5.3.3.
"""

from __future__ import annotations

import numpy as np

from parsers.commitlog.dledger_headers.entry import decode_header
from parsers.commitlog.dledger_headers.layout import HEADER_SIZE, MAGIC_ENTRY
from parsers.damage.errors import TruncatedRecord
from parsers.dledger.index import EntryIndex
from parsers.evidence.mapped import release_pages
from recovery.broker.mapped_file_queue import FileList, LoadFailed, LogFile, list_files
from recovery.broker.memory import BrokerMemory
from recovery.start.commitlog_recovery import dispatch_offset
from recovery.start.dledger_dispatch import NO_ENTRY, committed_offset, dispatch_after_crash, entry_index
from recovery.start.dledger_kernel import BROKEN, NEXT_FILE, walk_entries

FILES_READ = 3
EXITS = "DLedgerMmapFileStore#load, #recover (System.exit)"


def recover_dledger(memory: BrokerMemory) -> None:
    """Add the node's files to the log, find its end, truncate log and queues to it.

    Raises:
        LoadFailed: files that DLedger does not load, or whose end lies too far before them: the process ends.
    """
    files = _listed(memory)
    first = _first_file(memory, files)
    end, last_entry = _end_of(memory, files, first)
    if files[-1].base_offset - end > files[-1].size:
        raise LoadFailed("the log ends more than a file before its last file", EXITS, f"it ends at {end}")
    memory.commitlog.files += files
    memory.commitlog.truncate_to(end)
    memory.committed_offset = committed_offset(memory, last_entry)
    queued = dispatch_offset(memory, clean_exit=not memory.evidence.abort)
    dispatches = memory.evidence.abort and memory.version.dispatches_dledger_after_crash and memory.queues_are_known
    _cut_queues(memory, queued, end, dispatch_after_crash(memory) if dispatches else end)


def _cut_queues(memory: BrokerMemory, queued: int, end: int, taken_for_end: int) -> None:
    """`queued`: how far messages were dispatched before: the queues' maximum, after a crash since 5.5.0 what the
    checkpoint notes."""
    if queued < taken_for_end:
        return
    for queue in memory.queues.values():
        queue.truncate_to_log(taken_for_end)
    where = f"the node's log ends at {end}"
    if taken_for_end == end:
        source = "DLedgerCommitLog#recover, ConsumeQueue#truncateDirtyLogicFiles"
        memory.because("units of messages at or beyond the log's end are dropped from every queue", source, where)
        return
    memory.because(
        "after a crash the broker counts the messages of its last file without their entries' headers, and drops the "
        "units of all behind the end that it comes to so; these messages are dispatched no more",
        "DLedgerCommitLog#dledgerRecoverAbnormally",
        f"{where}, the queues at {taken_for_end}",
    )


def _listed(memory: BrokerMemory) -> list[LogFile]:
    """All files, each of the configured size and begun where the one before ends."""
    size = memory.settings.mapped_file_size_commit_log
    listed = FileList(size)
    for entry in memory.evidence.dledger:
        if entry.size != size:
            said = f"{entry.path}: {entry.size} bytes, configured {size}"
            raise LoadFailed("a file whose size is not the configured one ends the process", EXITS, said)
    list_files(listed, memory.evidence.dledger, memory.version)
    for before, file in zip(listed.files, listed.files[1:], strict=False):
        if file.base_offset != before.end_offset:
            said = f"{before.name} is followed by {file.name}"
            source = "DLedgerMmapFileStore#recover, MmapFileList#checkSelf (DLedgerException)"
            raise LoadFailed("files that do not follow one another stop the broker from loading", source, said)
    return listed.files


def _first_file(memory: BrokerMemory, files: list[LogFile]) -> int:
    """The third-last file, or the newest before it whose first entry the index has as it is; else the first."""
    index = entry_index(memory)
    number = max(0, len(files) - FILES_READ)
    while number > 0 and not _is_indexed(files[number], index):
        number -= 1
    memory.because(
        "DLedger reads its log from the third-last file on, or from an older one that begins as the index says",
        "DLedgerMmapFileStore#recover",
        files[number].name,
    )
    return number


def _is_indexed(file: LogFile, index: EntryIndex) -> bool:
    try:
        header = decode_header(file.stored)
    except TruncatedRecord:
        return False
    if header.magic < MAGIC_ENTRY or header.entry_size <= HEADER_SIZE or header.position != file.base_offset:
        return False
    (unit,) = index.units_of(np.array([header.entry_index], np.int64))
    same = all(unit[name] == getattr(header, name) for name in ("magic", "entry_size", "entry_index", "term"))
    return same and header.entry_body_size + HEADER_SIZE == header.entry_size and unit["position"] == file.base_offset


def _end_of(memory: BrokerMemory, files: list[LogFile], first: int) -> tuple[int, int]:
    """Where the log ends, and the number of its last entry, NO_ENTRY without one."""
    last_index = last_term = NO_ENTRY
    end, at = files[first].base_offset, 0
    for file in files[first:]:
        data = np.frombuffer(file.stored, np.uint8)
        at, last_index, last_term, why = walk_entries(data, 0, file.base_offset, last_index, last_term)
        end = file.base_offset + at
        memory.bytes_checked += max(0, min(at, len(data)))
        release_pages(data, 0, len(data))
        if why == BROKEN:
            memory.log_ends_because = f"an entry that does not fit ({file.name}, position {at})"
        if why != NEXT_FILE:
            break
    memory.because(
        "the node's log ends where no entry follows, before the other replicas are asked",
        "DLedgerMmapFileStore#recover",
        memory.log_ends_because or f"the last entry is number {last_index} of term {last_term}; the log ends at {end}",
    )
    return end, last_index
