"""Index files against the log: entries, seconds, chains, headers, and the keys that no entry holds.

Pure: columns in, findings out. A file that is exactly what the log's keys make of it is told by one compiled pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import OpenIndex
from parsers.runs import runs
from recovery.checks.columns import ExpectedKeys, MessageColumns
from recovery.checks.finding import Explained, Finding, Judgement, Place, Span
from recovery.checks.index_entries import (
    FOLDER,
    Entries,
    entry_places,
    last_written,
    name_of,
    read_entries,
    record_places,
)
from recovery.checks.index_kernel import (
    agreeing_entries,
    chain_ends,
    empty_slots,
    seconds_since,
    slots_equal,
)
from recovery.checks.intervals import Intervals, Longs, Mask, found_at
from recovery.scan_kernel import Ints


@dataclass(frozen=True, slots=True)
class IndexContext:
    """What the rules need besides the files: the log's records and keys, and what a finding about the log covers."""

    messages: MessageColumns
    keys: ExpectedKeys
    start: int
    end: int
    lost: Intervals
    dispatched_to: int
    doubtful_times: Intervals
    clean_exit: bool
    counts_puts: bool


@dataclass(slots=True)
class _Seen:
    """What the files hold of the keys, as rows of ExpectedKeys; filled file by file."""

    present: Mask
    blamed_records: list[Longs]
    blamed_hashes: list[Ints]
    cut: list[tuple[int, int]]


def check_index(opened: Sequence[OpenIndex], context: IndexContext) -> Judgement:
    """Every disagreement of the index files, given in name order, with the log."""
    findings: list[Finding] = []
    explained: list[Explained] = []
    seen = _Seen(np.zeros(len(context.keys.record), np.bool_), [], [], [])
    before = 0
    for file in opened:
        if file.geometry is None:
            if file.header["index_count"] > 1:
                findings.append(_whole_file("index_unreadable", file, file.why))
            continue
        if len(file.data) != file.geometry.file_size:
            findings.append(_size_finding(file, context, seen))
        elif not _is_as_made(file, context, before, seen):
            findings += _file_findings(file, context, before, seen, explained)
        before = file.header["end_timestamp_ms"]
    findings += _missing_keys(context, seen, bool(opened))
    return Judgement(tuple(findings), tuple(explained))


def _is_as_made(file: OpenIndex, context: IndexContext, before: int, seen: _Seen) -> bool:
    """The file is byte for byte what the log's keys make of it, from some key on; marks these keys as present."""
    entries, first = file.entries, _first_key(file, context)
    if first is None:
        return entries == 0 and last_written(file) == 0 and _empty_header_ok(file)
    messages, header, newest = context.messages, file.header, empty_slots(file.slots)
    begin, last = header["begin_timestamp_ms"], first + entries - 1
    columns = (context.keys.key_hash, context.keys.record, first, messages.physical_offset, messages.store_timestamp_ms)
    if agreeing_entries(file.data, file.slots, entries, begin, before, *columns, newest) < entries:
        return False
    equal, used = slots_equal(file.data, newest)
    ends = context.keys.record[first], context.keys.record[last]
    stored = tuple(header[name] for name in INDEX_HEADER.offsets)
    times = messages.store_timestamp_ms[list(ends)].tolist()
    places = messages.physical_offset[list(ends)].tolist()
    slots = entries if context.counts_puts else used
    if not equal or stored != (*times, *places, slots, entries + 1) or last_written(file) > entries:
        return False
    seen.present[first : last + 1] = True
    return True


def _empty_header_ok(file: OpenIndex) -> bool:
    return file.header["index_count"] in (0, 1) and file.header["hash_slot_count"] == 0


def _first_key(file: OpenIndex, context: IndexContext) -> int | None:
    """The row of the key that the first entry holds; None without entries or without such a key."""
    if file.entries < 1 or file.geometry is None or not len(context.keys.record):
        return None
    entry = INDEX_ENTRY.unpack(file.data.data, file.entry_at(1))
    record, is_record = found_at(context.messages.physical_offset, np.array([entry["physical_offset"]]))
    if not is_record[0]:
        return None
    start, end = np.searchsorted(context.keys.record, [record[0], record[0] + 1]).tolist()
    alike = np.flatnonzero(context.keys.key_hash[start:end] == entry["key_hash"])
    return start + int(alike[0]) if len(alike) else None


def _file_findings(
    file: OpenIndex, context: IndexContext, before: int, seen: _Seen, explained: list[Explained]
) -> Iterator[Finding]:
    entries = read_entries(file, context.messages)
    lost = context.lost.hold(entries.physical_offset)
    has_key = _mark_present(entries, context, seen)
    expired = entries.physical_offset < context.start
    nothing = ~entries.is_record & ~lost & ~expired
    wrong = entries.is_record & ~has_key
    seen.blamed_records.append(entries.record[wrong])
    seen.blamed_hashes.append(entries.key_hash[nothing])
    times = (
        _times_wrong(file, entries, context, before) & has_key & ~context.doubtful_times.hold(entries.physical_offset)
    )
    yield from _entry_findings("index_entry_to_nothing", nothing, file, entries, context)
    yield from _entry_findings("index_entry_wrong", wrong, file, entries, context)
    yield from _entry_findings("index_time_wrong", times, file, entries, context)
    yield from _chain_findings(file, entries, wrong, context)
    yield from _header_findings(file, entries, context)
    if expired.any():
        count = int(expired.sum())
        explained.append(
            Explained(
                "expired index entries",
                "a file goes when all its messages are expired",
                Span(),
                entry_places(file, 1, count),
            )
        )


def _mark_present(entries: Entries, context: IndexContext, seen: _Seen) -> Mask:
    """Which entries hold a key of their record; marks those keys as present."""
    owed = (context.keys.record.astype(np.int64) << 32) | context.keys.key_hash
    order = np.argsort(owed, kind="stable")
    held = np.where(entries.is_record, (entries.record << 32) | entries.key_hash, -1)
    _, has_key = found_at(owed[order], held)
    seen.present[np.isin(owed, held[has_key])] = True
    return has_key & entries.is_record


def _times_wrong(file: OpenIndex, entries: Entries, context: IndexContext, before: int) -> Mask:
    """Entries whose seconds are not those of their record; the first one may count from the previous file's end."""
    if not len(entries):
        return np.zeros(0, np.bool_)
    stored = context.messages.store_timestamp_ms[entries.record] if len(context.messages.topic) else entries.record
    begin = int(stored[0]) if entries.is_record[0] else file.header["begin_timestamp_ms"]
    seconds = np.clip((stored - begin) // 1000, 0, 2**31 - 1) if begin > 0 else np.zeros(len(stored), np.int64)
    wrong: Mask = entries.is_record & (seconds != entries.time_diff_s)
    first = {seconds_since(int(stored[0]), before), seconds_since(int(stored[0]), begin)}
    wrong[0] = bool(entries.is_record[0]) and int(entries.time_diff_s[0]) not in first
    return wrong


def _entry_findings(
    kind: str, chosen: Mask, file: OpenIndex, entries: Entries, context: IndexContext
) -> Iterator[Finding]:
    for first, end in runs(chosen):
        offsets = entries.physical_offset[first:end]
        hashes = ", ".join(str(value) for value in entries.key_hash[first : min(end, first + 3)].tolist())
        records = np.unique(entries.record[first:end][entries.is_record[first:end]])[:16]
        yield Finding(
            kind,
            Span(physical_offset=int(offsets.min()), end_physical_offset=int(offsets.max()) + 1),
            (*entry_places(file, first + 1, end - first), *record_places(records, context.messages)),
            end - first,
            (
                f"entries {first + 1} to {end}: hashes {hashes}, offset {int(offsets[0])}, "
                f"{int(entries.time_diff_s[first])} s",
                f"log: from {context.start} to {context.end}, records named above"
                if len(records)
                else "log: no record there",
            ),
        )


def _chain_findings(file: OpenIndex, entries: Entries, wrong: Mask, context: IndexContext) -> Iterator[Finding]:
    """Breaks of the chains, except where an entry with a wrong hash is the cause."""
    previous, newest = np.zeros(len(entries), np.int32), empty_slots(file.slots)
    chain_ends(entries.key_hash, file.slots, previous, newest)
    blamed = np.concatenate(([False], wrong))
    stored = np.clip(entries.prev_index_no, 0, len(entries))
    broken = (previous != entries.prev_index_no) & ~wrong & ~blamed[previous] & ~blamed[stored]
    yield from _entry_findings("index_chain_wrong", broken, file, entries, context)
    slots = INDEX_SLOT.array(file.data.data, at=INDEX_HEADER.size, count=file.slots)["newest_entry_no"]
    differing = (slots != newest) & ~blamed[newest] & ~blamed[np.clip(slots, 0, len(entries))]
    for first, end in runs(differing):
        yield Finding(
            "index_chain_wrong",
            Span(),
            (Place(name_of(file), INDEX_HEADER.size + INDEX_SLOT.size * first, INDEX_SLOT.size * (end - first)),),
            end - first,
            (
                f"slot {first}: newest entry {int(slots[first])}",
                f"entries: newest of this slot is {int(newest[first])}",
            ),
        )


def _header_findings(file: OpenIndex, entries: Entries, context: IndexContext) -> Iterator[Finding]:
    """Header fields that the entries contradict, neighbours together."""
    if not len(entries) and _empty_header_ok(file):
        return
    should = _header_of(file, entries, context)
    wrong = [name for name, value in should.items() if value is not None and file.header[name] != value]
    fields = list(INDEX_HEADER.offsets)
    mask = np.array([name in wrong for name in fields])
    for first, end in runs(mask):
        at = INDEX_HEADER.offsets[fields[first]]
        length = (INDEX_HEADER.offsets[fields[end]] if end < len(fields) else INDEX_HEADER.size) - at
        names = fields[first:end]
        yield Finding(
            "index_header_wrong",
            Span(),
            (Place(name_of(file), at, length),),
            len(names),
            (
                "header: " + ", ".join(f"{name} {file.header[name]}" for name in names),
                "entries and log: " + ", ".join(f"{name} {should[name]}" for name in names),
            ),
        )


def _header_of(file: OpenIndex, entries: Entries, context: IndexContext) -> dict[str, int | None]:
    """What the header should say; None where the records that would tell are gone."""
    if not len(entries):
        return {"index_count": 1, "hash_slot_count": 0}
    doubtful = context.doubtful_times.hold(entries.physical_offset[[0, -1]])
    known = entries.is_record[[0, -1]] & ~doubtful
    times = [int(context.messages.store_timestamp_ms[entries.record[at]]) if known[at] else None for at in (0, -1)]
    used = len(entries) if context.counts_puts else len(np.unique(entries.key_hash % file.slots))
    return {
        "begin_timestamp_ms": times[0],
        "end_timestamp_ms": times[1],
        "begin_physical_offset": int(entries.physical_offset[0]),
        "end_physical_offset": int(entries.physical_offset[-1]),
        "hash_slot_count": used,
        "index_count": len(entries) + 1,
    }


def _size_finding(file: OpenIndex, context: IndexContext, seen: _Seen) -> Finding:
    """A file of another size; the keys of entries that it has lost are missing by that cause."""
    entries, full = read_entries(file, context.messages), file.geometry.file_size if file.geometry else 0
    _mark_present(entries, context, seen)
    first = file.header["begin_physical_offset"]
    seen.cut.append((first, file.header["end_physical_offset"] + 1))
    start, end = sorted((len(file.data), full))
    return Finding(
        "file_size_wrong",
        Span(),
        (Place(name_of(file), start, end - start),),
        1,
        (f"file: {len(file.data)} bytes", f"its slots and entries: {full} bytes"),
    )


def _forgive_blamed_hashes(keys: ExpectedKeys, seen: _Seen) -> None:
    """An entry that points to nothing still has its key's hash: where as many keys of that hash are missing as such
    entries are there, they are the same keys."""
    blamed = np.concatenate([np.empty(0, np.int32), *seen.blamed_hashes])
    hashes, counts = np.unique(blamed, return_counts=True)
    for key_hash, count in zip(hashes.tolist(), counts.tolist(), strict=True):
        missing = np.flatnonzero(~seen.present & (keys.key_hash == key_hash))
        if len(missing) <= count:
            seen.present[missing] = True


def _missing_keys(context: IndexContext, seen: _Seen, any_file: bool) -> Iterator[Finding]:
    """Keys of dispatched messages that no entry holds, messages that follow one another in one finding."""
    keys, messages = context.keys, context.messages
    _forgive_blamed_hashes(keys, seen)
    if seen.present.all():
        return
    owners = keys.record[np.flatnonzero(np.diff(keys.record, prepend=-1))]
    lacking = np.isin(owners, keys.record[~seen.present])
    places = messages.physical_offset[owners]
    blamed = np.concatenate(seen.blamed_records) if seen.blamed_records else np.zeros(0, np.int64)
    lacking &= ~np.isin(owners, blamed) & (places < context.dispatched_to) & ~Intervals.of(seen.cut).hold(places)
    if not context.clean_exit:  # dispatch puts a message into its queue first: the last one may lack its keys
        lacking &= places + messages.total_size[owners] < context.dispatched_to
    for first, end in runs(lacking):
        begin, last = owners[first], owners[end - 1]
        count = int(
            (~seen.present[np.searchsorted(keys.record, begin) : np.searchsorted(keys.record, last, "right")]).sum()
        )
        yield Finding(
            "index_keys_missing",
            Span(
                physical_offset=int(places[first]),
                end_physical_offset=int(places[end - 1]) + int(messages.total_size[last]),
            ),
            (Place(FOLDER, 0, 0),),
            count,
            (
                f"log: {end - first} messages with keys from {int(places[first])} to {int(places[end - 1])}",
                f"index: {count} of their keys are in no entry" if any_file else "index: there is no file",
            ),
        )


def _whole_file(kind: str, file: OpenIndex, why: str) -> Finding:
    return Finding(kind, Span(), (Place(name_of(file), 0, len(file.data)),), 1, (why,))
