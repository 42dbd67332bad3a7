"""Where a DLedger node's log ends when it starts, before it meets the other replicas.

DLedger reads its own log, from the third-last file on or from an older one whose first entry is as the index says; what
does not fit ends it. An index that disagrees is written anew. Then the queues are cut to the log, as ever.
Source: dledger DLedgerMmapFileStore#recover, MmapFileList#load, #checkSelf @0.1, 0.2.3, 0.3.1.2;
DLedgerCommitLog#recover @4.9.8, #dledgerRecoverNormally @5.3.3.
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
from recovery.start.dledger_kernel import BROKEN, NEXT_FILE, walk_entries

FILES_READ = 3
NO_ENTRY = -1
EXITS = "DLedgerMmapFileStore#load, #recover (System.exit)"


def recover_dledger(memory: BrokerMemory) -> None:
    """Add the node's files to the log, find its end, truncate log and queues to it.

    Raises:
        LoadFailed: files that DLedger does not load, or whose end lies too far before them: the process ends.
    """
    files = _listed(memory)
    first = _first_file(memory, files)
    end = _end_of(memory, files, first)
    if files[-1].base_offset - end > files[-1].size:
        raise LoadFailed("the log ends more than a file before its last file", EXITS, f"it ends at {end}")
    memory.commitlog.files += files
    if memory.max_queued_offset() >= end:
        for queue in memory.queues.values():
            queue.truncate_to_log(end)
        memory.because(
            "units of messages at or beyond the log's end are dropped from every queue",
            "DLedgerCommitLog#recover, ConsumeQueue#truncateDirtyLogicFiles",
            f"the node's log ends at {end}",
        )
    memory.commitlog.truncate_to(end)


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
    indexed = memory.evidence.dledger_index
    index = EntryIndex((entry.path, entry.number) for entry in indexed if entry.number is not None)
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


def _end_of(memory: BrokerMemory, files: list[LogFile], first: int) -> int:
    last_index = last_term = NO_ENTRY
    end, at = files[first].base_offset, 0
    for file in files[first:]:
        data = np.frombuffer(file.stored, np.uint8)
        at, last_index, last_term, why = walk_entries(data, 0, file.base_offset, last_index, last_term)
        end = file.base_offset + at
        memory.bytes_checked += max(0, min(at, len(data)))
        release_pages(file.stored, 0, len(data))
        if why == BROKEN:
            memory.log_ends_because = f"an entry that does not fit ({file.name}, position {at})"
        if why != NEXT_FILE:
            break
    memory.because(
        "the node's log ends where no entry follows, before the other replicas are asked",
        "DLedgerMmapFileStore#recover",
        memory.log_ends_because or f"the last entry is number {last_index} of term {last_term}; the log ends at {end}",
    )
    return end
