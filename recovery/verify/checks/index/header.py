"""The headers of index files against their entries and the log."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from parsers.damage.runs import runs
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import OpenIndex
from parsers.kernels.arrays import Ints, Mask
from parsers.values.java import INT_MAX, LONG_MAX
from recovery.scan.intervals import found_at
from recovery.verify.checks.index.context import IndexContext
from recovery.verify.findings.finding import Finding, Place, Span
from recovery.verify.settle.index_entries import Chains, Entries, entry_places, name_of, read_places
from recovery.verify.settle.index_kernel import seconds_since
from recovery.verify.settle.log_columns import LOST_MESSAGES_MS

BEGINS = ("begin_timestamp_ms", "begin_physical_offset")
COUNTS = ("hash_slot_count", "index_count")
ENDS = ("end_timestamp_ms", "end_physical_offset")


def _empty_header_ok(file: OpenIndex) -> bool:
    return file.header["index_count"] in (0, 1) and file.header["hash_slot_count"] == 0


def slots_in_use(file: OpenIndex) -> Ints:
    """The newest entry of each slot that has one."""
    slots = INDEX_SLOT.array(file.data.data, at=INDEX_HEADER.size, count=file.slots)["newest_entry_no"]
    used: Ints = slots[slots != 0]
    return used


def counts_rightly(file: OpenIndex, entries: Entries, has_key: Mask, written: int, context: IndexContext) -> bool:
    """Whether a header is right that counts other entries than are written: entries were lost, or other bytes lie
    after them.

    The newest entry that a slot holds is the last that it counts; or the log has what it begins and ends with, which is
    behind the last entry, or none of the entries after those that it counts is of a message.
    """
    counted = file.header["index_count"] - ENTRIES_FIRST_NO
    if counted in (written, 0):
        return False
    ends_later = not written or int(entries.physical_offset[-1]) < file.header["end_physical_offset"]
    after = entries.number > counted
    leads_nowhere = int(after.sum()) == written - counted and not has_key[after].any()
    fits = ends_later if counted > written else leads_nowhere
    return (fits and is_in_log(file, context)) or int(slots_in_use(file).max(initial=0)) == counted


def is_in_log(file: OpenIndex, context: IndexContext) -> bool:
    """Whether the log has the messages that a header begins and ends with, with their times; the first may have
    expired."""
    offsets = np.array([file.header["begin_physical_offset"], file.header["end_physical_offset"]])
    record, is_record = found_at(context.messages.physical_offset, offsets)
    times = np.array([file.header["begin_timestamp_ms"], file.header["end_timestamp_ms"]])
    if not is_record[1]:
        return False
    same = is_record & (context.messages.store_timestamp_ms[record] == times)
    return bool(same[1] and (same[0] or 0 <= offsets[0] < context.start))


def begins_in_log(file: OpenIndex, context: IndexContext) -> bool:
    """Whether the log has the message that a header begins with, with its time: an entry that says another is wrong."""
    record, is_record = found_at(context.messages.physical_offset, np.array([file.header["begin_physical_offset"]]))
    stored = context.messages.store_timestamp_ms[record[is_record]]
    return bool(stored.tolist() == [file.header["begin_timestamp_ms"]])


def untold_fields(damaged: Mask, *, begins: bool, counts: bool, breaks: bool, proven: bool) -> set[str]:
    """Header fields that the entries cannot tell.

    Args:
        damaged: which entries are damaged themselves: the first tells no begin then, the last no end.
        begins: the header begins rightly (`begins_in_log`).
        counts: the header's counts are right (`counts_rightly`), and its last entry is another than the last written.
        breaks: chains are broken, and entries are damaged: they do not tell the slots in use.
        proven: the log has what the header begins and ends with: a last entry that is damaged is no entry, or one more.
    """
    untold = {*COUNTS, *ENDS} if counts else set()
    untold |= {*BEGINS} if begins or damaged[:1].any() else set()
    untold |= {*ENDS} if damaged[-1:].any() else set()
    untold |= {"index_count"} if damaged[-1:].any() and proven else set()
    return untold | ({"hash_slot_count"} if breaks else set())


def ends_as_last_entry(file: OpenIndex, entries: Entries) -> bool:
    """Whether a header's end is as long after its begin as its last entry says: where the record has another time, two
    witnesses stand against it."""
    begin_ms, end_ms = file.header["begin_timestamp_ms"], file.header["end_timestamp_ms"]
    return len(entries) > 1 and seconds_since(end_ms, begin_ms) == int(entries.time_diff_s[-1])


def header_findings(
    file: OpenIndex, entries: Entries, chains: Chains, context: IndexContext, untold: Collection[str]
) -> Iterator[Finding]:
    """Header fields that the entries contradict, neighbours together. `untold`: see `untold_fields`."""
    if not len(entries) and _empty_header_ok(file):
        return
    should = _header_of(entries, chains, context)
    should |= dict.fromkeys(name for name in untold if name in should)
    wrong = [name for name, value in should.items() if value is not None and file.header[name] != value]
    latest_ms = context.latest_ms + LOST_MESSAGES_MS if context.latest_ms else LONG_MAX
    if should.get("end_timestamp_ms", 0) is None and file.header["end_timestamp_ms"] > latest_ms:
        wrong.append("end_timestamp_ms")
    if len(entries) and file.header["begin_timestamp_ms"] <= 0 and "begin_timestamp_ms" not in wrong:
        wrong.append("begin_timestamp_ms")  # it is set with the first entry
    half_put = set() if context.clean_exit else _half_put(file, entries, should)
    wrong = [name for name in wrong if name not in half_put]
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
                "entries and log: " + ", ".join(f"{name} {_said(should[name], context)}" for name in names),
            ),
        )
    if (
        len(entries)
        and not {*BEGINS, *ENDS} & {*untold}
        and should["end_timestamp_ms"] is None
        and not {"begin_timestamp_ms", "end_timestamp_ms"} & {*wrong}
    ):
        yield from _times_against_last_entry(file, entries, context)


def _times_against_last_entry(file: OpenIndex, entries: Entries, context: IndexContext) -> Iterator[Finding]:
    """The header's two times, where the log has lost the last message: they are as far apart as its entry says.

    The first entry counts from the end of the file before it; seconds below 0 are written as 0.
    Source: IndexFile#putKey @4.9.8, 5.3.3.
    """
    number, seconds = int(entries.number[-1]), int(entries.time_diff_s[-1])
    begin_ms, end_ms = file.header["begin_timestamp_ms"], file.header["end_timestamp_ms"]
    counted_ms = 1_000 * seconds if number > 1 else 0
    too_late = end_ms - begin_ms > counted_ms + 999
    too_early = seconds > 0 and number > 1 and context.clean_exit and end_ms - begin_ms < counted_ms
    if begin_ms <= 0 or not 0 <= seconds < INT_MAX or not (too_late or too_early):
        return
    at, end = INDEX_HEADER.offsets["begin_timestamp_ms"], INDEX_HEADER.offsets["begin_physical_offset"]
    yield Finding(
        "index_header_wrong",
        Span(),
        (Place(name_of(file), at, end - at), *entry_places(file, number, 1)),
        2,
        (
            f"header: begin_timestamp_ms {begin_ms}, end_timestamp_ms {end_ms}",
            f"entries and log: entry {number} was written {seconds} s after the file's first one",
        ),
    )


def _half_put(file: OpenIndex, entries: Entries, should: Mapping[str, int | None]) -> set[str]:
    """Fields that are still those of the entry before the last one: a killed broker came no further.

    Source: IndexFile#putKey writes entry, slot, counts, end offset and end time, in this order @4.9.8, 5.3.3.
    """
    last, header = int(max(entries.number, default=0)), file.header
    if last < 2:
        return set()
    fields = set[str]()
    if header["index_count"] == last:
        fields.add("index_count")
        fields |= {"hash_slot_count"} if header["hash_slot_count"] + 1 == should["hash_slot_count"] else set()
    if header["end_physical_offset"] == int(read_places(file, np.array([last - 1]))[0]):
        fields.add("end_physical_offset")
    newest_ms = should["end_timestamp_ms"]
    if fields and newest_ms is not None and header["begin_timestamp_ms"] <= header["end_timestamp_ms"] <= newest_ms:
        fields.add("end_timestamp_ms")
    return fields


def _said(value: int | None, context: IndexContext) -> str:
    return f"not later than {context.latest_ms}" if value is None else str(value)


def _header_of(entries: Entries, chains: Chains, context: IndexContext) -> dict[str, int | None]:
    """What the header should say; None where the records that would tell are gone."""
    if not len(entries):
        return {"index_count": 1, "hash_slot_count": 0}
    doubtful = context.doubtful_times.hold(entries.physical_offset[[0, -1]])
    known = entries.is_record[[0, -1]] & ~doubtful
    times = [int(context.messages.store_timestamp_ms[entries.record[at]]) if known[at] else None for at in (0, -1)]
    count = int(entries.number[-1])
    return {
        "begin_timestamp_ms": times[0],
        "end_timestamp_ms": times[1],
        "begin_physical_offset": int(entries.physical_offset[0]),
        "end_physical_offset": int(entries.physical_offset[-1]),
        "hash_slot_count": count if context.counts_puts else chains.used,
        "index_count": count + 1,
    }
