"""How far a DLedger node knows its log to be committed, and what it dispatches of it while it loads after a crash.

Source: DLedgerMmapFileStore#recover, #updateCommittedIndex @0.3.1.2; DLedgerCommitLog#getMaxOffset,
#dledgerRecoverAbnormally, #isMmapFileMatchedRecover @5.2.0, 5.3.3, 5.5.1.
"""

from __future__ import annotations

import numpy as np

from parsers.commitlog.dledger_headers.entry import EntryHeader, decode_header
from parsers.commitlog.dledger_headers.layout import HEADER_SIZE
from parsers.commitlog.record.layout import MAGIC_V1
from parsers.damage.errors import TruncatedRecord
from parsers.dledger.index import EntryIndex
from parsers.values.java import decode_utf8, parse_whole
from recovery.broker.mapped_file_queue import LoadFailed, LogFile
from recovery.broker.memory import BrokerMemory
from recovery.start.first_file import FirstRecord, is_dispatched, matches_by_time

NO_ENTRY = -1
COMMITTED_INDEX = "committedIndex"


def entry_index(memory: BrokerMemory) -> EntryIndex:
    """The index of the node's entries, as it is on disk."""
    files = memory.evidence.dledger_index
    return EntryIndex((entry.path, entry.number) for entry in files if entry.number is not None)


def committed_offset(memory: BrokerMemory, last_entry: int) -> int:
    """The end of the last entry that the node notes as committed, as far as it has it; else where its log begins.

    Raises:
        LoadFailed: a number that is none.
    """
    number = min(_noted(memory), last_entry)
    header = None if number <= NO_ENTRY else _entry(memory, number)
    return max(memory.commitlog.min_offset, 0) if header is None else header.position + header.entry_size


def _noted(memory: BrokerMemory) -> int:
    """committedIndex of the node's checkpoint, NO_ENTRY without one."""
    pairs = (line.partition("=") for line in decode_utf8(memory.evidence.dledger_checkpoint or b"").splitlines())
    text = {name.strip(): value.strip() for name, _, value in pairs}.get(COMMITTED_INDEX, "")
    number = parse_whole(text) if text else NO_ENTRY
    if number is None:
        source = "DLedgerMmapFileStore#recover (NumberFormatException)"
        raise LoadFailed("the number of the committed entry is none", source, f"{COMMITTED_INDEX}={text}")
    return number


def _entry(memory: BrokerMemory, number: int) -> EntryHeader | None:
    """The header of an entry, by the index or, where that is wrong, along the files; None where they do not have it."""
    (unit,) = entry_index(memory).units_of(np.array([number], np.int64))
    files = memory.commitlog.files
    holding = (file for file in files if file.base_offset <= int(unit["position"]) < file.end_offset)
    for file in holding:
        header = _header(file, int(unit["position"]) - file.base_offset)
        if header is not None and header.entry_index == number:
            return header
    for file in reversed(files):
        header = _header(file, 0)
        if header is not None and header.entry_index <= number:
            return _along(file, header, number)
    return None


def _along(file: LogFile, header: EntryHeader | None, number: int) -> EntryHeader | None:
    while header is not None and header.entry_index < number:
        header = _header(file, header.position - file.base_offset + header.entry_size)
    return header


def _header(file: LogFile, at: int) -> EntryHeader | None:
    """The header at a byte of a file, where an entry says that it stands there."""
    try:
        header = decode_header(file.stored, at)
    except TruncatedRecord:
        return None
    return header if header.position == file.base_offset + at and header.entry_size > HEADER_SIZE else None


def dispatch_after_crash(memory: BrokerMemory) -> int:
    """Dispatch the messages from the newest file on whose first one the checkpoint covers; what the broker takes for
    the log's end: where its last file begins and the sizes of the messages in it, without their headers."""
    settings, files = memory.settings, memory.commitlog.files
    number = next((n for n in range(len(files) - 1, 0, -1) if _covered(memory, files[n])), 0)
    memory.because(
        "messages are dispatched again from the newest file on whose first one the checkpoint covers",
        "DLedgerCommitLog#dledgerRecoverAbnormally, #isMmapFileMatchedRecover",
        files[number].name,
    )
    for file in files[number:]:
        counted, goes_on = _dispatch_file(memory, file, crc=settings.check_crc_on_recover)
        if not goes_on:
            break
    return file.base_offset + counted


def _covered(memory: BrokerMemory, file: LogFile) -> bool:
    record = file.stored[HEADER_SIZE:]
    first = FirstRecord.of(record)
    if first is None or first.magic_code != MAGIC_V1 or first.store_timestamp_ms == 0:
        return False
    if memory.version.matches_whole_first_record:
        return is_dispatched(memory, first, memory.checkpoint.logics_physical_offset or 0, False)
    return matches_by_time(memory, record)


def _dispatch_file(memory: BrokerMemory, file: LogFile, *, crc: bool) -> tuple[int, bool]:
    """The sizes of the messages of a file, also behind the log's end, and whether a blank ends them."""
    settings, at, counted = memory.settings, 0, 0
    while True:
        while run := memory.runs.take(file.stored, at, crc=crc):
            memory.dispatch_batch(run, memory.runs.scanner, np.ones(run.rows, np.bool_), file.base_offset)
            counted += int(run.records.total_size.sum())
            at = int(run.records.file_pos[-1]) + int(run.records.total_size[-1])
        checked = memory.check.at(file.stored, at, crc=crc, duplication=settings.duplication_enable)
        if checked.request is None:
            return counted, checked.success
        if not settings.duplication_enable or checked.request.physical_offset < memory.committed_offset:
            memory.dispatch(checked.request, file.base_offset + at + HEADER_SIZE)
        at, counted = checked.read_to, counted + checked.size
