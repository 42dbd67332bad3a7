"""Rows to bytes: one sink per format, each streaming; memory is bounded by a batch."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.cli.frame.asked.options import Format
from pipelines.cli.frame.errors import WrongUsage
from pipelines.cli.frame.visible import visible
from pipelines.cli.frame.written.json_form import is_number, json_lines, plain_text

CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]"
FORMULA, NUMBER = r"^[=+\-@\t]", r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


class Sink(Protocol):
    """Takes batches of one schema, one after the other."""

    def write(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def open_sink(format_: Format, schema: pa.Schema, out: BinaryIO, note: Callable[[str], None]) -> Sink:
    """The writer of a format.

    Args:
        note: called with what a reader of the table should know besides its rows.

    Raises:
        WrongUsage: bytes of parquet or arrow would go to a terminal.
    """
    if format_ in (Format.PARQUET, Format.ARROW) and out.isatty():
        raise WrongUsage(
            f"--format {format_.value} writes bytes that a terminal cannot show: add --out FILE, or a pipe"
        )
    match format_:
        case Format.JSONL:
            return JsonLines(out)
        case Format.JSON:
            return JsonArray(out)
        case Format.CSV:
            return Csv(schema, out)
        case Format.PARQUET:
            return Parquet(schema, out)
        case Format.ARROW:
            return ArrowIpc(schema, out)
        case Format.TABLE:
            from pipelines.cli.frame.written.documents import width_of
            from pipelines.cli.frame.written.text_table import TextTable

            return TextTable(schema, out, width_of(out), note)


def pick_columns(schema: pa.Schema, wanted: list[str] | None) -> list[str]:
    """The columns asked for, all of them when nobody asked.

    Raises:
        WrongUsage: a name that the table does not have.
    """
    names: list[str] = schema.names
    unknown = [name for name in wanted or [] if name not in names]
    if unknown:
        raise WrongUsage(f"--columns: no column {', '.join(unknown)} here; there are {', '.join(names)}")
    return wanted or names


class JsonLines:
    """One object per line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, batch: pa.RecordBatch) -> None:
        for text in json_lines(batch):
            self._out.write(text)
        self._out.flush()

    def close(self) -> None:
        self._out.flush()


class JsonArray:
    """One array of objects, one object a line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._before = out, b"[\n"

    def write(self, batch: pa.RecordBatch) -> None:
        for text in json_lines(batch):
            self._out.write(self._before)
            self._out.write(memoryview(text)[:-1].tobytes().replace(b"}\n{", b"},\n{"))
            self._before = b",\n"

    def close(self) -> None:
        self._out.write(b"\n]\n" if self._before == b",\n" else b"[]\n")


class Csv:
    """RFC 4180 with a header; text in quotes, nested values as their JSON text, unknown as nothing.

    Text that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay as they are. Control
    characters but tab and line feed are escapes, as in a table.
    """

    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        from pyarrow.csv import CSVWriter

        self._schema = pa.schema([(f.name, f.type if _is_plain(f.type) else pa.string()) for f in schema])
        self._writer = CSVWriter(pa.PythonFile(_Open(out), "w"), self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [c if _is_plain(c.type) else _harmless(c) for c in batch.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class Parquet:
    """One Parquet file, zstd. Bytes have no bounds: the least and the greatest would be held, whole bodies each."""

    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        from pyarrow.parquet import ParquetWriter

        self._schema = pa.schema([field.with_type(_storable(field.type)) for field in schema])
        bounded = [field.name for field in self._schema if not pa.types.is_binary(field.type)]
        self._writer = ParquetWriter(
            pa.PythonFile(_Open(out), "w"), self._schema, compression="zstd", write_statistics=bounded
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class ArrowIpc:
    """Arrow IPC: the file format with --out, the stream format in a pipe."""

    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        start = pa.ipc.new_stream if out is sys.stdout.buffer else pa.ipc.new_file
        self._writer = start(pa.PythonFile(_Open(out), "w"), schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


class _Open:
    """A binary output that Arrow may write to and ask its position, but neither close nor seek."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._written, self.closed = out, 0, False

    def write(self, text: bytes) -> int:
        self._out.write(text)
        self._written += len(text)
        return len(text)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        self._out.flush()

    def close(self) -> None:
        self._out.flush()


def _is_plain(kind: pa.DataType) -> bool:
    """CSV has a form for it that needs no quotes."""
    return bool(is_number(kind) or pa.types.is_boolean(kind))


def _harmless(column: pa.Array) -> pa.Array:
    """The texts of a column for a spreadsheet."""
    texts = plain_text(column)
    if not (pa.types.is_string(column.type) or pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type)):
        return texts
    if pc.any(pc.match_substring_regex(texts, CONTROL)).as_py():
        texts = pa.array([None if text is None else _escaped(text) for text in texts.to_pylist()], pa.string())
    formula = pc.and_(pc.match_substring_regex(texts, FORMULA), pc.invert(pc.match_substring_regex(texts, NUMBER)))
    return pc.if_else(formula, pc.binary_join_element_wise("'", texts, ""), texts)


def _escaped(text: str) -> str:
    return re.sub(CONTROL.replace("\\x{", "\\u").replace("}", ""), lambda found: visible(found[0]), text)


def _storable(kind: pa.DataType) -> pa.DataType:
    """Parquet has no view types."""
    if pa.types.is_binary_view(kind):
        return pa.binary()
    return pa.string() if pa.types.is_string_view(kind) else kind
