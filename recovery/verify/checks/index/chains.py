"""Runs of index entries that are wrong, and the chains that entries and slots form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from parsers.index.layout import INDEX_HEADER, INDEX_SLOT
from parsers.index.open import OpenIndex
from parsers.kernels.arrays import Ints, Longs, Mask
from recovery.scan.intervals import neighbours
from recovery.verify.checks.index.context import IndexContext
from recovery.verify.findings.finding import Finding, Place, Span
from recovery.verify.settle.index_entries import (
    Chains,
    Entries,
    entry_places,
    name_of,
    read_places,
    record_places,
    slots_of,
)


def entry_findings(
    kind: str, chosen: Mask, file: OpenIndex, entries: Entries, context: IndexContext
) -> Iterator[Finding]:
    rows = np.flatnonzero(chosen)
    for first, end in neighbours(entries.number[rows]):
        run = rows[first:end]
        number, offsets = int(entries.number[run[0]]), entries.physical_offset[run]
        hashes = ", ".join(str(value) for value in entries.key_hash[run[:3]].tolist())
        records = np.unique(entries.record[run][entries.is_record[run]])[:16]
        yield Finding(
            kind,
            Span(physical_offset=int(offsets.min()), end_physical_offset=int(offsets.max()) + 1),
            (*entry_places(file, number, len(run)), *record_places(records, context.messages)),
            len(run),
            (
                f"entries {number} to {number + len(run) - 1}: hashes {hashes}, offset {int(offsets[0])}, "
                f"{int(entries.time_diff_s[run[0]])} s",
                f"log: from {context.start} to {context.end}, records named above"
                if len(records)
                else "log: no record there",
            ),
        )


def chain_findings(
    file: OpenIndex, entries: Entries, wrong: Longs, counts: bool, count: int, chains: Chains, context: IndexContext
) -> Iterator[Finding]:
    """Breaks of the chains, except where an entry with a wrong hash is the cause; `wrong`: the numbers of such.

    `counts`: the header's counts are right (`counts_rightly`), not `count`.
    """
    slots = _slots_that_differ(file, chains)
    stored, held = np.split(_named(file, entries, chains, count), [len(chains.broken)])
    caused = np.isin(chains.broken, wrong) | np.isin(chains.previous, wrong) | np.isin(stored, wrong)
    broken = np.isin(entries.number, chains.broken[~caused])
    yield from entry_findings("index_chain_wrong", broken, file, entries, context)
    own = ~np.isin(chains.newest, wrong) & ~np.isin(held, wrong)
    if counts:  # slots of entries that were lost
        own &= (slots <= count) | (slots >= file.header["index_count"])
    if not context.clean_exit and len(entries) and file.header["index_count"] <= count:
        # a killed broker had not written the last entry's slot: IndexFile#putKey counts it afterwards @4.6.1, 5.5.1
        own &= (chains.newest != count) | (slots != entries.prev_index_no[-1])
    for first, end in neighbours(chains.slots[own]):
        slot, stands, newest = (int(column[own][first]) for column in (chains.slots, slots, chains.newest))
        yield Finding(
            "index_chain_wrong",
            Span(),
            (Place(name_of(file), INDEX_HEADER.size + INDEX_SLOT.size * slot, INDEX_SLOT.size * (end - first)),),
            end - first,
            (f"slot {slot}: newest entry {stands}", f"entries: newest of this slot is {newest}"),
        )


def _slots_that_differ(file: OpenIndex, chains: Chains) -> Ints:
    slots: Ints = INDEX_SLOT.array(file.data.data, at=INDEX_HEADER.size, count=file.slots)["newest_entry_no"]
    return slots[chains.slots]


def _named(file: OpenIndex, entries: Entries, chains: Chains, count: int) -> Longs:
    """What the entries that break the chains name, then what the slots do."""
    stored = entries.prev_index_no[np.searchsorted(entries.number, chains.broken)]
    return np.clip(np.concatenate((stored, _slots_that_differ(file, chains))), 0, count).astype(np.int64)


def strange_to_their_slots(
    file: OpenIndex, entries: Entries, wrong: Longs, count: int, chains: Chains, context: IndexContext
) -> Longs:
    """Entries of expired or lost messages, whose keys nobody has, that a chain of another slot names, and that the
    chain of the slot that their hash asks for leaves out, neither of them by one of the entries that are known to be
    wrong, and the former by none of these entries.
    """
    stored = _named(file, entries, chains, count)
    left_out = np.concatenate((chains.previous, chains.newest))[~np.isin(stored, wrong)]
    named = np.intersect1d(stored, left_out)
    named = named[named > 0]
    order = np.argsort(stored, kind="stable")
    by = np.concatenate((slots_of(file, chains.broken), chains.slots))[order[np.searchsorted(stored[order], named)]]
    in_other_slot = slots_of(file, named) != by
    places = read_places(file, named)
    nobody_has = ((places >= 0) & (places < context.start)) | context.lost.hold(places)
    strange: Longs = named[in_other_slot & nobody_has]
    namer = np.concatenate((chains.broken, np.zeros(len(chains.slots), np.int64)))
    return np.intersect1d(strange, stored[~np.isin(namer, strange) & ~np.isin(namer, wrong)])
