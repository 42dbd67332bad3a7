"""Index files against the log: entries, seconds, chains, headers, and the keys that no entry holds.

Pure: columns in, findings out. Entries and keys that the first pass settled are left out, both together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.index.layout import INDEX_HEADER, INDEX_SLOT
from parsers.index.open import OpenIndex
from parsers.kernels.arrays import Ints, Longs, Mask
from recovery.rules.dispatch import PREPARED
from recovery.scan.intervals import Intervals, found_at, neighbours
from recovery.verify.checks.index.chains import chain_findings, entry_findings, strange_to_their_slots
from recovery.verify.checks.index.context import IndexContext, LeftEntries, SettledInVain
from recovery.verify.checks.index.header import (
    begins_in_log,
    counts_rightly,
    ends_as_last_entry,
    header_findings,
    is_in_log,
    slots_in_use,
    untold_fields,
)
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.index_entries import (
    FOLDER,
    Chains,
    Entries,
    beside_strays,
    entry_places,
    name_of,
    read_entries,
    read_places,
    record_places,
    strays_of,
)
from recovery.verify.settle.index_kernel import seconds_since
from recovery.verify.settle.log_columns import ExpectedKeys, MessageColumns


@dataclass(slots=True)
class _Seen:
    """What the files hold of the keys, as rows of ExpectedKeys; filled file by file."""

    present: Mask
    blamed_records: list[Longs]
    blamed_hashes: list[Ints]
    cut: list[tuple[int, int]]


def check_index(opened: Sequence[OpenIndex], left: Mapping[str, LeftEntries], context: IndexContext) -> Judgement:
    """Every disagreement of the index files, given in name order, with the log; `left` by a file's name.

    Raises SettledInVain.
    """
    findings: list[Finding] = []
    explained: list[Explained] = []
    owed = _owed(context.keys)
    seen = _Seen(np.isin(owed, owed[context.keys.settled]), [], [], [])
    for file in opened:
        if file.geometry is None:
            if file.header["index_count"] > 1:
                findings.append(_whole_file("index_unreadable", file, file.why))
            continue
        of_file = left[file.file.path.name]
        entries = read_entries(file, of_file.numbers, context.messages)
        if of_file.chains is None:
            findings.append(_size_finding(file, entries, context, seen))
        else:
            findings += _file_findings(file, entries, of_file, of_file.chains, context, seen)
            explained += _explained(file, of_file)
    findings += _missing_keys(context, seen, bool(opened))
    return Judgement(tuple(findings), tuple(explained))


def _explained(file: OpenIndex, left: LeftEntries) -> Iterator[Explained]:
    if left.expired:
        why = "a file goes when all its messages are expired"
        yield Explained("expired index entries", why, Span(), entry_places(file, 1, left.expired))


def _file_findings(
    file: OpenIndex, entries: Entries, left: LeftEntries, chains: Chains, context: IndexContext, seen: _Seen
) -> Iterator[Finding]:
    lost = context.lost.hold(entries.physical_offset)
    has_key = _mark_present(entries, context, seen)
    expired = (entries.physical_offset >= 0) & (entries.physical_offset < context.start)
    counts = counts_rightly(file, entries, has_key, left.count, context)
    half_put = 0 if context.clean_exit else 1  # a killed broker had written the last entry and not the header
    behind = counts & (entries.number >= file.header["index_count"])
    unwritten = behind & entries.is_zero
    nothing = ~entries.is_record & ~lost & ~expired & ~unwritten
    wrong = entries.is_record & ~has_key & ~unwritten
    seen.blamed_records.append(entries.record[wrong])
    wrong |= behind & ~nothing & ~unwritten & (entries.number >= file.header["index_count"] + half_put)
    strays = _strays(file, left.count, chains, entries.number[wrong | nothing | unwritten])
    wrong |= np.isin(entries.number, strays)
    beside = np.isin(entries.number, beside_strays(file, left.count, strays))
    wrong |= beside & ~entries.is_record & ~nothing & ~unwritten
    seen.blamed_hashes.append(entries.key_hash[nothing])
    damaged = wrong | nothing
    times = (
        _times_wrong(file, entries, context, left, knows_first=not damaged[:1].any())
        & has_key
        & ~context.doubtful_times.hold(entries.physical_offset)
    )
    yield from entry_findings("index_entry_to_nothing", nothing, file, entries, context)
    yield from _unused_entry(file)
    yield from entry_findings("index_entry_wrong", wrong, file, entries, context)
    yield from entry_findings("index_time_wrong", times, file, entries, context)
    blamed = entries.number[damaged | unwritten]
    strange = strange_to_their_slots(file, entries, blamed, left.count, chains, context)
    of_strange = read_entries(file, strange, context.messages)
    yield from entry_findings("index_chain_wrong", np.ones(len(strange), np.bool_), file, of_strange, context)
    blamed = np.union1d(blamed, strange)
    yield from chain_findings(file, entries, blamed, counts, left.count, chains, context)
    if counts and file.header["index_count"] > left.count + 1:
        yield _lost_entries(file, entries.number[damaged], left.count, context, seen)
    breaks = len(blamed) > 0 and len(chains.broken) + len(chains.slots) > 0
    begins, proven = begins_in_log(file, context), is_in_log(file, context)
    untold = untold_fields(damaged, begins=begins, counts=counts, breaks=breaks, proven=proven)
    if times[-1:].any() and ends_as_last_entry(file, entries):
        untold.add("end_timestamp_ms")
    yield from header_findings(file, entries, chains, context, untold)


def _unused_entry(file: OpenIndex) -> Iterator[Finding]:
    """Bytes before the first entry, where no broker writes: its number is 1. IndexFile#putKey @3.2.6, 5.5.1."""
    if file.data[file.entry_at(0) : file.entry_at(1)].any():
        said = "entry 0, which no broker writes, is not zeros"
        yield Finding("index_entry_to_nothing", Span(), entry_places(file, 0, 1), 1, (said,))


def _strays(file: OpenIndex, count: int, chains: Chains, wrong: Longs) -> Longs:
    """Entries out of the order of the log, whichever of them are known to be wrong otherwise."""
    if not len(chains.strays) or not len(wrong):
        return chains.strays
    return np.intersect1d(chains.strays, strays_of(file, count, wrong))


def _owed(keys: ExpectedKeys) -> Longs:
    """Record and hash of each key as one number: a record may have a key twice."""
    owed: Longs = (keys.record << 32) | keys.key_hash
    return owed


def _mark_present(entries: Entries, context: IndexContext, seen: _Seen) -> Mask:
    """Which entries hold a key of their record; marks those keys as present."""
    owed = _owed(context.keys)
    order = np.argsort(owed, kind="stable")
    held = np.where(entries.is_record, (entries.record << 32) | entries.key_hash, -1)
    _, has_key = found_at(owed[order], held)
    seen.present[np.isin(owed, held[has_key])] = True
    return has_key & entries.is_record


def _times_wrong(
    file: OpenIndex, entries: Entries, context: IndexContext, left: LeftEntries, *, knows_first: bool
) -> Mask:
    """Entries whose seconds are not those of their record; the first one may count from the previous file's end.

    No entry is wrong where neither the first record nor the header has the time that the file begins with.

    `knows_first`: the first entry is not damaged itself, so that its record begins the file's time.

    Raises SettledInVain.
    """
    none_wrong = np.zeros(len(entries), np.bool_)
    if not len(entries):
        return none_wrong
    stored = context.messages.store_timestamp_ms[entries.record] if len(context.messages.topic) else entries.record
    is_sure = knows_first and entries.is_record[0] and not context.doubtful_times.hold(entries.physical_offset[:1])[0]
    begin = int(stored[0]) if is_sure else file.header["begin_timestamp_ms"]
    if left.settled_since_ms not in (None, begin):
        raise SettledInVain(name_of(file))
    if begin <= 0:
        return none_wrong
    seconds = np.clip((stored - begin) // 1000, 0, 2**31 - 1)
    wrong: Mask = entries.is_record & (seconds != entries.time_diff_s)
    first = {seconds_since(int(stored[0]), since) for since in (begin, *left.ends_before_ms)}
    wrong[0] = bool(entries.is_record[0]) and int(entries.time_diff_s[0]) not in first
    return wrong


def _size_finding(file: OpenIndex, entries: Entries, context: IndexContext, seen: _Seen) -> Finding:
    """A file of another size; the keys of entries that it has lost are missing by that cause."""
    full = file.geometry.file_size if file.geometry else 0
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


def _lost_entries(file: OpenIndex, damaged: Longs, written: int, context: IndexContext, seen: _Seen) -> Finding:
    """Entries after the last one written that the header counts, and all slots unless it counts those that are used.

    The messages begin with that of the last entry that is not among the `damaged` ones.
    """
    counted = file.header["index_count"] - 1
    lacks_slots = context.counts_puts or len(slots_in_use(file)) != file.header["hash_slot_count"]
    slots = (Place(name_of(file), INDEX_HEADER.size, file.slots * INDEX_SLOT.size),) if lacks_slots else ()
    at_the_end = damaged[::-1] == written - np.arange(len(damaged))
    whole = written - int(np.logical_and.accumulate(at_the_end).sum())
    start = int(read_places(file, np.array([whole]))[0]) if whole else file.header["begin_physical_offset"]
    end = file.header["end_physical_offset"] + 1
    seen.cut.append((start, end))
    return Finding(
        "index_entries_lost",
        Span(physical_offset=start, end_physical_offset=end),
        (*entry_places(file, written + 1, counted - written), *slots),
        counted - written,
        (
            f"entries {written + 1} to {counted}: zeros",
            f"header: {counted} entries, the last for the message at {file.header['end_physical_offset']}",
        ),
    )


def _forgive_blamed_hashes(keys: ExpectedKeys, seen: _Seen) -> None:
    """An entry that points to nothing still has its key's hash: where as many keys of that hash are missing as such
    entries are there, they are the same keys."""
    blamed = np.concatenate([np.empty(0, np.int64), *seen.blamed_hashes])
    hashes, counts = np.unique(blamed, return_counts=True)
    rows = np.flatnonzero(~seen.present)
    missing, of_row, lacking = np.unique(keys.key_hash[rows].astype(np.int64), return_inverse=True, return_counts=True)
    at, is_blamed = found_at(hashes, missing)
    if len(hashes):
        seen.present[rows[(is_blamed & (lacking <= counts[at]))[of_row]]] = True


def _forgive_tags(keys: ExpectedKeys, messages: MessageColumns, seen: _Seen) -> None:
    """Tags are not missed where the other keys are there: a broker before 5.4.0 dispatched the message. No entry goes
    by itself. A message that has its tag alone is judged as the messages beside it are."""
    firsts = np.flatnonzero(np.diff(keys.record, prepend=-1))
    lasts = np.append(firsts[1:], len(keys.record)) - 1
    tagged = messages.tags_code[keys.record[firsts]] != 0
    missing = np.add.reduceat(~seen.present, firsts, dtype=np.int64)
    tag_alone = tagged & (missing == 1) & ~seen.present[lasts]
    owners = keys.owner[firsts]
    lacking = owners[(missing > 0) & ~tag_alone]
    single = (firsts == lasts) & np.isin(owners, [*(lacking - 1), *(lacking + 1)])
    seen.present[lasts[tag_alone & ~single]] = True


def _missing_keys(context: IndexContext, seen: _Seen, any_file: bool) -> Iterator[Finding]:
    """Keys of dispatched messages that no entry holds, messages that follow one another in one finding."""
    keys, messages = context.keys, context.messages
    _forgive_blamed_hashes(keys, seen)
    if not seen.present.all() and any_file and context.indexes_tags:
        _forgive_tags(keys, messages, seen)
    if seen.present.all():
        return
    first_keys = np.flatnonzero(np.diff(keys.record, prepend=-1))
    owners = keys.record[first_keys]
    lacking = np.isin(owners, keys.record[~seen.present])
    places = messages.physical_offset[owners]
    blamed = np.concatenate(seen.blamed_records) if seen.blamed_records else np.zeros(0, np.int64)
    lacking &= ~np.isin(owners, blamed) & (places < context.dispatched_to) & ~Intervals.of(seen.cut).hold(places)
    if not context.clean_exit:  # dispatch puts a message into its queue first: the last one may lack its keys
        lacking &= places + messages.total_size[owners] < context.dispatched_to
    rows = np.flatnonzero(lacking)
    for first, end in neighbours(keys.owner[first_keys[rows]]):
        begin, last = owners[rows[first]], owners[rows[end - 1]]
        count = int(
            (~seen.present[np.searchsorted(keys.record, begin) : np.searchsorted(keys.record, last, "right")]).sum()
        )
        start, behind = (int(messages.physical_offset[record]) for record in (begin, last))
        yield Finding(
            "index_keys_missing",
            Span(physical_offset=start, end_physical_offset=behind + int(messages.total_size[last])),
            (Place(FOLDER, 0, 0), *_prepared_places(owners[rows[first:end]], messages)),
            count,
            (
                f"log: {end - first} messages with keys from {start} to {behind}",
                f"index: {count} of their keys are in no entry" if any_file else "index: there is no file",
            ),
        )


def _prepared_places(records: Longs, messages: MessageColumns) -> list[Place]:
    """Prepared records that have no entries may be rolled back ones, which have none."""
    prepared = messages.sys_flag[records] & SYS_FLAG_TRANSACTION == PREPARED
    return record_places(records[prepared][:16], messages)


def _whole_file(kind: str, file: OpenIndex, why: str) -> Finding:
    return Finding(kind, Span(), (Place(name_of(file), 0, len(file.data)),), 1, (why,))
