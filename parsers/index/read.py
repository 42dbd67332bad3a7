"""IndexFiles to Arrow: one row for each file, one row for each entry, damage named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report, reporting
from parsers.damage.runs import JoinedRuns
from parsers.evidence.spans import spans
from parsers.index.geometry import Geometry
from parsers.index.kernel import EntryColumns, decode_entries
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_ENTRY
from parsers.index.open import OpenIndex, open_index
from parsers.index.schema import INDEX_ENTRY_SCHEMA, INDEX_FILE_SCHEMA
from parsers.layouts.constants import named_constant
from parsers.store.store_file import StoreFile

BATCH_ENTRIES = 1 << 16


def read_index(
    files: Sequence[StoreFile],
    *,
    geometry: Geometry | None = None,
    batch_entries: int = BATCH_ENTRIES,
    damage: DamageSink | None = None,
) -> Iterator[pa.RecordBatch]:
    """The entries of index files as batches of INDEX_ENTRY_SCHEMA, in file order and entry order.

    `slot` is key_hash modulo the file's slots. An entry that putKey cannot have written (a negative number, or a chain
    link to itself or a newer entry) is damage, not a row. See `open_index` for `geometry` and what else is reported.
    """
    for opened in open_index(files, geometry=geometry, damage=damage):
        with reporting(opened.file.path, damage):
            yield from _file_batches(opened, batch_entries, damage)


def entries_to_batch(opened: OpenIndex, first_no: int, end_no: int) -> pa.RecordBatch:
    """Entries `first_no` to before `end_no` as rows of INDEX_ENTRY_SCHEMA, impossible ones left out."""
    count = end_no - first_no
    types = [field.type.to_pandas_dtype() for field in INDEX_ENTRY_SCHEMA if field.name in EntryColumns._fields]
    columns = EntryColumns(*(np.empty(count, each) for each in types))
    rows = decode_entries(opened.data, opened.slots, first_no, end_no, columns)
    file = named_constant(opened.file.name, rows)
    return pa.RecordBatch.from_arrays(
        [file, *(pa.array(column[:rows]) for column in columns)], schema=INDEX_ENTRY_SCHEMA
    )


def index_files(
    files: Sequence[StoreFile], *, geometry: Geometry | None = None, damage: DamageSink | None = None
) -> pa.RecordBatch:
    """One row of INDEX_FILE_SCHEMA for each file that could be opened; `geometry_known` says how, or why not."""
    rows = []
    for opened in open_index(files, geometry=geometry, damage=damage):
        known = opened.geometry
        rows.append(
            {
                "file": opened.file.name,
                "file_size": len(opened.data),
                **opened.header,
                "entries": opened.entries if known else None,
                "hash_slots": known.hash_slots if known else None,
                "max_entries": known.max_entries if known else None,
                "geometry_known": opened.why,
            }
        )
    return pa.RecordBatch.from_pylist(rows, schema=INDEX_FILE_SCHEMA)


def _file_batches(opened: OpenIndex, batch_entries: int, damage: DamageSink | None) -> Iterator[pa.RecordBatch]:
    refused = JoinedRuns(lambda first, end: report(_refused(opened, first, end), damage), at_once=damage is None)
    begin, end = opened.entry_at(ENTRIES_FIRST_NO), opened.entry_at(ENTRIES_FIRST_NO + opened.entries)
    for at, piece in spans(opened.data, begin, end, batch_entries * INDEX_ENTRY.size):
        first = ENTRIES_FIRST_NO + (at - begin) // INDEX_ENTRY.size
        count = len(piece) // INDEX_ENTRY.size
        batch = entries_to_batch(opened, first, first + count)
        if batch.num_rows < count:
            refused.add(_impossible(np.frombuffer(piece, INDEX_ENTRY.dtype), first), first)
        if batch.num_rows:
            yield batch
    refused.close()


def _impossible(view: npt.NDArray[np.void], first_no: int) -> npt.NDArray[np.bool_]:
    negative = (view["key_hash"] < 0) | (view["physical_offset"] < 0) | (view["time_diff_s"] < 0)
    numbers = np.arange(first_no, first_no + len(view))
    impossible: npt.NDArray[np.bool_] = negative | (view["prev_index_no"] < 0) | (view["prev_index_no"] >= numbers)
    return impossible


def _refused(opened: OpenIndex, first_no: int, end_no: int) -> StoreFormatError:
    return CorruptRecord(
        f"{end_no - first_no} index entries that no broker writes",
        at=opened.entry_at(first_no),
        expected=f"numbers from 0 up, prev_index_no below {first_no}",
        actual=INDEX_ENTRY.unpack(opened.data.data, opened.entry_at(first_no)),
        path=opened.file.path,
        length=(end_no - first_no) * INDEX_ENTRY.size,
    )
