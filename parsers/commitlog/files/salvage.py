"""What lies between a break in the chain of records and the next message: damage, stale bytes, or the log's end.

The broker stops at a break and cuts the log there. Here every byte is named and reading goes on at the next record that
proves itself (`compiled/resync.py`). What a reused or pre-allocated file still holds after the log's end is stale,
never messages: records with another own offset (apache/rocketmq issue 10017), and, in the log's last file, records in
their own place that are older than the last message before them.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.commitlog.compiled.resync import BLANK_RECORD, NOTHING, PROVEN, STALE
from parsers.commitlog.files.check import body_crc_error, check_blank, check_record
from parsers.commitlog.files.logfile import LogFile
from parsers.commitlog.files.region import Region, RegionKind
from parsers.commitlog.record.layout import RECORD_START
from parsers.damage.errors import CorruptRecord, StoreFormatError
from parsers.evidence.spans import written_end


@dataclass(frozen=True, slots=True)
class LastMessages:
    """File positions of the last two messages before a break, -1 for none."""

    last: int = -1
    before: int = -1

    def then(self, last: int, before: int) -> LastMessages:
        """After more messages, of which these are the last two."""
        return LastMessages(last, before if before >= 0 else self.last) if last >= 0 else self


def across_break(log: LogFile, at: int, messages: LastMessages) -> tuple[list[Region], int]:
    """The regions from file position `at`, where the chain of records breaks, to the next message or end-of-file
    record, and where that is (the file's size without one).

    `messages`: the last two messages of the file before `at`. Every reader goes on after damage where this says.
    """
    if log.is_blank(at):
        region, at = end_of_file(log, at, messages)
        return [region], at
    return salvage(log, at, messages)


def salvage(log: LogFile, at: int, messages: LastMessages) -> tuple[list[Region], int]:
    """The regions from a break at file position `at` to the next message or end-of-file record, and where that is
    (the file's size without one)."""
    regions: list[Region] = []
    while at < log.size:
        zeros_end = log.written_from(at)
        if zeros_end == log.size:
            return [*regions, _region(log, at, log.size, "unwritten", "zeros to the file's end")], log.size
        found, kind = log.find(at)
        if kind == PROVEN and _is_leftover(log, found, messages):
            kind = STALE
        if kind == BLANK_RECORD and regions and regions[-1].kind == "stale" and found == at:
            return [
                *regions,
                _region(log, at, log.size, "stale", "an end-of-file record behind stale records"),
            ], log.size
        regions += _unproven(log, at, found, zeros_end, kind)
        if kind != STALE:
            return regions, found
        regions.append(_misplaced(log, found, messages, found == at and not regions))
        at = regions[-1].end
        if log.record_size(at) and regions[-1].kind == "damage":
            return regions, at
    return regions, log.size


def end_of_file(log: LogFile, at: int, messages: LastMessages) -> tuple[Region, int]:
    """The region that an end-of-file record at `at` begins, and where it ends.

    That is the file's end, unless the record does not reach it and messages follow: then it is no such record. What a
    gap holds besides (fragments up to 4.9.0, an earlier life of the file) is part of the blank.
    """
    error = check_blank(log.view, at, log.header)
    if error is None and messages.last < 0 and _is_of_another_file(log, at):
        error = CorruptRecord("an end-of-file record behind records of another file only", at=at)
        return _damage(log, at, log.size, error), log.size
    if error is None:
        return Region(log.path, at, log.size - at, "blank", "end-of-file record"), log.size
    found, kind = log.find(at + 1)
    while kind in (STALE, BLANK_RECORD) or (kind == PROVEN and _is_leftover(log, found, messages)):
        found, kind = log.find(found + 1)
    if kind == PROVEN:
        return _damage(log, at, found, error), found
    return Region(log.path, at, log.size - at, "blank", error.problem, 0, error), log.size


def _is_of_another_file(log: LogFile, end: int) -> bool:
    """The file holds no message of its own before `end`, but several with the offsets of another file's.

    A single one may be the file's own with a damaged offset.
    """
    chained, records, _, _ = log.chain(0, end, False)
    return chained == end and records > 1 and log.distance(0) % log.size == 0


def _region(log: LogFile, at: int, end: int, kind: RegionKind, reason: str, records: int = 0) -> Region:
    return Region(log.path, at, end - at, kind, reason, records)


def _damage(log: LogFile, at: int, end: int, error: StoreFormatError, records: int = 0) -> Region:
    return Region(log.path, at, end - at, "damage", error.problem, records, error)


def _unproven(log: LogFile, at: int, found: int, zeros_end: int, kind: int) -> list[Region]:
    """The bytes up to `found`, where something of `kind` is: what they are, given that no record in them is proven."""
    if found == at:
        return []
    if found == log.size and not log.is_followed and (written := written_end(log.path, log.data)) < found:
        unwritten = _region(log, written, found, "unwritten", "zeros to the file's end")
        return [*_unproven(log, at, written, zeros_end, kind), unwritten]
    if zeros_end - at < RECORD_START.size or kind == NOTHING:
        if kind == STALE and not log.stands_in_place(at):
            return [_region(log, at, found, "stale", "the rest of an overwritten record")]
        return [_damage(log, at, found, why_not(log, at))]
    if kind in (PROVEN, BLANK_RECORD):
        error = CorruptRecord("zeros between records", at=at, field="magic_code", actual=0)
        return [_damage(log, at, found, error)]
    zeros_end = min(zeros_end, found)
    regions = [_region(log, at, zeros_end, "unwritten", "zeros behind the last record")]
    return regions + _unproven(log, zeros_end, found, zeros_end, kind)


def why_not(log: LogFile, at: int) -> StoreFormatError:
    """Why no message is proven at `at`."""
    try:
        error: StoreFormatError = body_crc_error(check_record(log.view, at, log.base_offset, log.header), at)
    except StoreFormatError as found:
        error = found
    error.at = at
    return error


def _misplaced(log: LogFile, at: int, messages: LastMessages, is_chained: bool) -> Region:
    """The run of records at `at` that are whole but no messages of the log."""
    in_place = log.stands_in_place(at)
    end, records, _, _ = log.chain(at, log.size, in_place)
    if at == 0 and _is_another_files(log, end, records):
        named = log.base_offset + log.distance(at)
        error = CorruptRecord("the file holds the records of another", at=at, field="physical_offset", actual=named)
        ends_here = not log.is_followed and log.written_from(end) == log.size
        return _damage(log, at, end if ends_here else log.size, error, records)
    if in_place:
        return _region(log, at, end, "stale", "records older than the last message before them", records)
    if is_chained and _goes_on(log, at, end, records, messages):
        return _damage(log, at, end, why_not(log, at), records)
    return _region(log, at, end, "stale", "records of another place in the log", records)


def _is_another_files(log: LogFile, end: int, records: int) -> bool:
    """The file's first bytes, up to `end`, are those of another file of the log: it was renamed, copied or exchanged.

    What a reused file still holds is older, and does not reach its end: records of a file further back, and then zeros,
    are stale.
    """
    distance = log.distance(0)
    if records < 2 or distance == 0 or distance % log.size:
        return False
    is_full = log.find(end, end + 1)[1] == BLANK_RECORD
    return is_full or (distance > 0 and log.written_from(end) == log.size)


def _goes_on(log: LogFile, at: int, end: int, records: int, messages: LastMessages) -> bool:
    """The log goes on after misplaced records that stand in its chain: they are its own, with damaged offsets."""
    if log.record_size(end) or log.find(end, end + 1)[1] == BLANK_RECORD:
        return True
    is_newest = messages.last >= 0 and log.store_timestamp_ms(at) >= log.store_timestamp_ms(messages.last)
    return records == 1 and is_newest and log.written_from(end) == log.size


def _is_leftover(log: LogFile, at: int, messages: LastMessages) -> bool:
    """A proven record of an earlier life of the file: it and the one after it are older than the last two messages.

    Two on each side, so that one damaged time does not make the rest of a log stale.
    """
    if log.is_followed or messages.last < 0:
        return False
    newest = [log.store_timestamp_ms(place) for place in (messages.last, messages.before) if place >= 0]
    following = at + log.record_size(at)
    oldest = [log.store_timestamp_ms(at)]
    if log.record_size(following):
        oldest.append(log.store_timestamp_ms(following))
    return max(oldest) < min(newest)
