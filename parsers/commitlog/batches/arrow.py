"""A decoded run of records as a RecordBatch of the asked columns, without copies."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.batches.body_views import view_bodies
from parsers.commitlog.batches.slab import MOST_ROWS, Slab
from parsers.commitlog.compiled.columns import INTS, LONGS, NAMES, NO, TEXTS, UNKNOWN, VALUES, VERDICTS, WANTED, YES
from parsers.commitlog.files.logfile import LogFile
from parsers.layouts.columns import PAIR

NEEDED = {"body_decompressed": ("body",), "tags_code": ("tags_code", "tags")}


def wanted_bits(schema: pa.Schema) -> int:
    """What the decoder is asked for, for these columns."""
    needed = {part for name in schema.names for part in NEEDED.get(name, (name,))}
    return sum(bit for name, bit in WANTED.items() if name in needed)


def run_to_batch(slab: Slab, rows: int, schema: pa.Schema, log: LogFile) -> pa.RecordBatch:
    """The first `rows` rows of a decoded run. The batch holds the slab's memory; nothing but bits is copied."""
    arrays = [_column(slab, rows, field, log) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(slab: Slab, rows: int, field: pa.Field, log: LogFile) -> pa.Array:
    name = field.name
    if name in ("broker", "file"):
        return _constant(None if name == "broker" else log.path.name).slice(0, rows)
    if name == "body_view":
        return view_bodies(log, slab, rows)
    if name == "properties":
        return _properties(slab, rows, field.type)
    if pa.types.is_boolean(field.type):
        verdict = slab.columns.verdicts[VERDICTS.index(name), :rows]
        return _array(field.type, rows, _valid(verdict != UNKNOWN), _bits(verdict == YES))
    valid = _valid(slab.columns.verdicts[VERDICTS.index(name), :rows] != NO) if name in VERDICTS else None
    if name in TEXTS:
        return _text(slab, TEXTS.index(name), rows, field.type, valid)
    numbers = slab.columns.ints[INTS.index(name)] if name in INTS else slab.columns.longs[LONGS.index(name)]
    return _array(field.type, rows, valid, pa.py_buffer(numbers[:rows]))


def _text(slab: Slab, column: int, rows: int, of_type: pa.DataType, valid: pa.Buffer | None) -> pa.Array:
    ends = slab.columns.text_ends[column, : rows + 1]
    start = int(slab.columns.text_at[column])
    text = slab.columns.text[start : start + int(ends[rows])]
    return _array(of_type, rows, valid, pa.py_buffer(ends), pa.py_buffer(text))


def _properties(slab: Slab, rows: int, of_type: pa.ListType) -> pa.Array:
    pairs = int(slab.columns.pair_counts[rows])
    names, values = (
        pa.Array.from_buffers(
            pa.string(),
            pairs,
            [
                None,
                pa.py_buffer(slab.columns.pair_ends[which, : pairs + 1]),
                pa.py_buffer(_pair_text(slab, which, pairs)),
            ],
        )
        for which in (0, 1)
    )
    entries = pa.Array.from_buffers(PAIR, pairs, [None], children=[names, values])
    return pa.Array.from_buffers(
        of_type, rows, [None, pa.py_buffer(slab.columns.pair_counts[: rows + 1])], null_count=0, children=[entries]
    )


def _pair_text(slab: Slab, which: int, pairs: int) -> npt.NDArray[np.uint8]:
    start = int(slab.columns.text_at[NAMES if which == 0 else VALUES])
    return slab.columns.text[start : start + int(slab.columns.pair_ends[which, pairs])]


def _array(of_type: pa.DataType, rows: int, valid: pa.Buffer | None, *buffers: pa.Buffer) -> pa.Array:
    return pa.Array.from_buffers(of_type, rows, [valid, *buffers], null_count=-1 if valid is not None else 0)


def _bits(flags: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def _valid(flags: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    return None if flags.all() else _bits(flags)


@lru_cache(maxsize=16)
def _constant(value: str | None) -> pa.Array:
    """Make one text repeated for the longest batch; a slice of it is a constant column.

    Made from buffers, since `pa.scalar` imports pandas: a second before the first row.
    """
    if value is None:
        return pa.nulls(MOST_ROWS, pa.string())
    text = np.frombuffer(value.encode("utf-8", "replace"), np.uint8)
    ends = np.arange(MOST_ROWS + 1, dtype=np.int32) * len(text)
    return _array(pa.string(), MOST_ROWS, None, pa.py_buffer(ends), pa.py_buffer(np.tile(text, MOST_ROWS)))
