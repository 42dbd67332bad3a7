"""Arrow columns to JSON text, whole columns at a time.

Forms: times ISO 8601 UTC with milliseconds and Z; (name, value) structs and map entries as pairs, so that properties
are a list of `[name, value]` in stored order; binary as base64; 64-bit integers as numbers; unknown as null.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PIECE_BYTES = 2 << 20
"""Text is built for about so many bytes of rows at a time."""
FIRST_PRINTABLE, QUOTE, BACKSLASH = 0x20, 0x22, 0x5C
NEEDS_ESCAPE = r'[\x00-\x1f"\\]'
PAIR = ("name", "value")
YEAR_1, YEAR_10000 = -62135596800000, 253402300800000


def json_lines(batch: pa.RecordBatch) -> Iterator[pa.Buffer]:
    """One JSON object per row, each line ended; in pieces of bounded size."""
    for piece in _pieces(batch):
        objects = json_objects(piece)
        lines = pc.binary_join_element_wise(objects, "", "\n")
        yield _text_bytes(lines)


def json_objects(batch: pa.RecordBatch) -> pa.Array:
    """One JSON object text per row, keys in column order."""
    parts: list[pa.Array | pa.Scalar] = []
    for position, name in enumerate(batch.schema.names):
        opening = "{" if position == 0 else ","
        parts += [pa.scalar(f"{opening}{json.dumps(name)}:"), json_text(batch.column(position))]
    return pc.binary_join_element_wise(*parts, pa.scalar("}"), pa.scalar(""))


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if batch.num_rows == 0:
        return
    rows = max(1, min(batch.num_rows, PIECE_BYTES * batch.num_rows // max(1, batch.nbytes)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _text_bytes(texts: pa.StringArray) -> pa.Buffer:
    """The bytes of all values, one after the other, as they lie in memory."""
    _, ends, text = texts.buffers()
    if text is None:
        return pa.py_buffer(b"")
    first, last = np.frombuffer(ends, np.int32)[[texts.offset, texts.offset + len(texts)]].tolist()
    return text.slice(first, last - first)


def json_text(column: pa.Array) -> pa.Array:
    """The JSON text of each value of a column; `null` for unknown ones."""
    return pc.fill_null(_present(column), "null")


def plain_text(column: pa.Array) -> pa.Array:
    """The text of each value for CSV and tables: as in JSON, without the quotes; null stays null."""
    column = _decoded(column)
    if _is_text(column.type):
        return column.cast(pa.string())
    if pa.types.is_timestamp(column.type):
        return _instant_texts(column, lambda texts: texts)
    if _is_binary(column.type):
        return _base64_texts(column)
    return _present(column)


def _present(column: pa.Array) -> pa.Array:
    column = _decoded(column)
    kind = column.type
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.string())
    if pa.types.is_floating(kind):
        return pc.if_else(pc.is_finite(column), column.cast(pa.string()), None)
    if pa.types.is_timestamp(kind):
        return _instant_texts(column, quoted)
    if _is_text(kind):
        return quoted(column.cast(pa.string()))
    if _is_binary(kind):
        return pc.binary_join_element_wise('"', _base64_texts(column), '"', "")
    return _nested(column)


def _decoded(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _base64_texts(column: pa.Array) -> pa.Array:
    """One text per value; a large value is not held twice."""
    encoded = [base64.b64encode(value.as_buffer()) if value.is_valid else None for value in column.cast(pa.binary())]
    ends = np.cumsum([0, *(len(text or b"") for text in encoded)], dtype=np.int32)
    held = pa.py_buffer(b"".join(filter(None, encoded)))
    texts = pa.Array.from_buffers(pa.string(), len(encoded), [None, pa.py_buffer(ends), held])
    return texts if column.null_count == 0 else pc.if_else(column.is_valid(), texts, None)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    checks = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(check(kind) for check in checks)


def _instant_texts(column: pa.Array, finish: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """ISO texts; a number (epoch milliseconds) where the calendar ends."""
    epoch_ms = epoch_milliseconds(column)
    in_calendar = pc.and_(pc.greater_equal(epoch_ms, YEAR_1), pc.less(epoch_ms, YEAR_10000))
    if pc.all(in_calendar).as_py() is not False:
        return finish(iso_text(epoch_ms))
    inside = pc.if_else(in_calendar, epoch_ms, None)
    return pc.coalesce(finish(iso_text(inside)), epoch_ms.cast(pa.string()))


def epoch_milliseconds(column: pa.Array) -> pa.Array:
    """Timestamps of any unit as int64 milliseconds."""
    return column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())


def iso_text(epoch_ms: pa.Array) -> pa.Array:
    """`2026-11-21T13:05:00.123Z` for each number of milliseconds."""
    spaced = epoch_ms.cast(pa.timestamp("ms")).cast(pa.string())
    return pc.binary_join_element_wise(pc.replace_substring(spaced, " ", "T", max_replacements=1), "Z", "")


def quoted(texts: pa.Array) -> pa.Array:
    """JSON strings. Only values that hold a quote, a backslash or a control character pass through Python."""
    plain = pc.binary_join_element_wise('"', texts, '"', "")
    held = np.frombuffer(_text_bytes(texts), np.uint8)
    if not ((held < FIRST_PRINTABLE) | (held == QUOTE) | (held == BACKSLASH)).any():
        return plain
    special = pc.fill_null(pc.match_substring_regex(texts, NEEDS_ESCAPE), False)
    escaped = [json.dumps(text, ensure_ascii=False) for text in texts.filter(special).to_pylist()]
    return pc.replace_with_mask(plain, special, pa.array(escaped, pa.string()))


def _nested(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_struct(kind):
        return pc.if_else(column.is_valid(), _struct_text(column), None)
    if pa.types.is_map(kind):
        entries = pa.StructArray.from_arrays([column.keys, column.items], names=list(PAIR))
        return _bracketed(column, entries)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _bracketed(column, column.values)
    return quoted(pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string()))


def _struct_text(column: pa.StructArray) -> pa.Array:
    names = [field.name for field in column.type]
    values = [json_text(pc.struct_field(column, [position])) for position in range(len(names))]
    if tuple(names) == PAIR:
        return pc.binary_join_element_wise("[", values[0], ",", values[1], "]", "")
    parts: list[pa.Array | str] = []
    for position, (name, value) in enumerate(zip(names, values, strict=True)):
        parts += [("{" if position == 0 else ",") + f"{json.dumps(name)}:", value]
    return pc.binary_join_element_wise(*parts, "}", "")


def _bracketed(column: pa.Array, children: pa.Array) -> pa.Array:
    """`[a,b,…]` per row; of `children` only the run that this slice's rows hold is looked at."""
    first, last = column.offsets[0].as_py(), column.offsets[len(column)].as_py()
    texts = json_text(children.slice(first, last - first))
    offsets = pc.subtract(column.offsets.cast(pa.int32()), pa.scalar(first, pa.int32()))
    joined = pc.binary_join_element_wise("[", pc.binary_join(pa.ListArray.from_arrays(offsets, texts), ","), "]", "")
    return pc.if_else(column.is_valid(), joined, None)


def is_number(kind: pa.DataType) -> bool:
    """Whole numbers and decimals."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
