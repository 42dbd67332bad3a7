"""How far the index reaches over the log, and which messages with keys it leaves out.

An index that was lost is begun anew where dispatch goes on: queries by key then answer from there, and say nothing of
what lies before. Source: IndexService#buildIndex, IndexHeader#getBeginPhyOffset, #getEndPhyOffset @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.segment import read_segment
from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.damage.errors import unheard
from parsers.index.open import OpenIndex
from parsers.store.store_file import StoreFile
from recovery.rules.dispatch import ROLLBACK
from recovery.scan.log_access import LogAccess

COLUMNS = ("physical_offset", "topic", "keys", "unique_id", "sys_flag")
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Uncovered:
    """Messages with keys that lie outside what the index covers: how many, the first and the last of them."""

    messages: int
    first_physical_offset: int
    last_physical_offset: int


@dataclass(frozen=True, slots=True)
class Reach:
    """What the headers of the index files say: first and last message, physical offsets and store times."""

    first_physical_offset: int
    last_physical_offset: int
    first_ms: int
    last_ms: int


def reach_of(opened: Sequence[OpenIndex]) -> Reach | None:
    """From the first to the last message that the index has; None for an index without entries."""
    headers = [found.header for found in opened if found.entries]
    if not headers:
        return None
    return Reach(
        headers[0]["begin_physical_offset"],
        headers[-1]["end_physical_offset"],
        headers[0]["begin_timestamp_ms"],
        headers[-1]["end_timestamp_ms"],
    )


def uncovered(
    files: Sequence[StoreFile], log: LogAccess, opened: Sequence[OpenIndex], topic: str | None = None
) -> Uncovered | None:
    """The messages with keys, of one topic or of all, that the index does not reach; None where it reaches every one.

    Reads only those parts of the log that no index file spans.
    """
    found = [place for begin, end in _outside(files, log, opened) for place in _keyed(files, begin, end, topic)]
    return Uncovered(len(found), found[0], found[-1]) if found else None


def uncovered_behind(
    files: Sequence[StoreFile], log: LogAccess, last_indexed: int | None, topic: str | None = None
) -> Uncovered | None:
    """The messages with keys behind the last one of an index that lacks none before it, None where there are none."""
    if not files:
        return None
    begin = log.min_physical_offset if last_indexed is None else _record_end(log, last_indexed)
    found = [*_keyed(files, begin, (files[-1].base_offset or 0) + files[-1].size, topic)]
    return Uncovered(len(found), found[0], found[-1]) if found else None


def _outside(files: Sequence[StoreFile], log: LogAccess, opened: Sequence[OpenIndex]) -> Iterator[Range]:
    """The parts of the log before, between and after the spans of the index files."""
    if not files:
        return
    end = (files[-1].base_offset or 0) + files[-1].size
    spans = [
        (found.header["begin_physical_offset"], _record_end(log, found.header["end_physical_offset"]))
        for found in opened
        if found.entries
    ]
    marks = [(0, log.min_physical_offset), *sorted(spans), (end, end)]
    reached = 0
    for (_, before), (behind, _) in pairwise(marks):
        reached = max(reached, before)
        if reached < behind:
            yield reached, behind


def _record_end(log: LogAccess, physical_offset: int) -> int:
    message = log.message(physical_offset)
    return physical_offset + (1 if message is None else message.total_size)


def _keyed(files: Sequence[StoreFile], begin: int, end: int, topic: str | None) -> Iterator[int]:
    """Physical offsets of the messages in a range that dispatch makes index entries for."""
    for file in files:
        base = file.base_offset or 0
        start, stop = max(0, begin - base), min(file.size, end - base)
        if start < stop:
            for batch in read_segment(file, columns=COLUMNS, between=(start, stop), damage=unheard):
                places = _indexed(batch, topic)["physical_offset"].to_pylist()
                yield from (place for place in places if begin <= place < end)  # a DLedger entry starts before it


def _indexed(batch: pa.RecordBatch, topic: str | None) -> pa.RecordBatch:
    transaction = pc.bit_wise_and(batch["sys_flag"], pa.scalar(SYS_FLAG_TRANSACTION, batch["sys_flag"].type))
    wanted = pc.and_(
        pc.not_equal(transaction, ROLLBACK), pc.or_(pc.is_valid(batch["unique_id"]), pc.is_valid(batch["keys"]))
    )
    return batch.filter(wanted if topic is None else pc.and_(wanted, pc.equal(batch["topic"], topic)))
