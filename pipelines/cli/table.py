"""The table a person reads: header, aligned columns, cut to the width of the terminal; streaming.

Widths are settled by the first rows; what is too wide later is cut with an ellipsis. Columns that do not fit are named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from rich.cells import cell_len, set_cell_size

from pipelines.cli.json_form import plain_text

GAP = "  "
SETTLING_ROWS = 200
NARROWEST = 8
"""No text column is cut to fewer cells."""
UNKNOWN = "–"
BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class TextTable:
    """A sink. Numbers to the right, everything else to the left, unknown as a dash."""

    def __init__(self, schema: pa.Schema, out: BinaryIO, width: int, note: Callable[[str], None]) -> None:
        self._out, self._width, self._note = out, width, note
        self._names: list[str] = schema.names
        self._right = [_is_number(field.type) for field in schema]
        self._whole = [_is_number(field.type) or pa.types.is_timestamp(field.type) for field in schema]
        self._waiting: list[list[str]] = []
        self._widths: list[int] | None = None
        self._styled = out.isatty()

    def write(self, batch: pa.RecordBatch) -> None:
        rows = [list(row) for row in zip(*map(_cells, batch.columns), strict=True)]
        if self._widths is not None:
            self._print(rows)
            return
        self._waiting += rows
        if len(self._waiting) >= SETTLING_ROWS:
            self._settle()

    def close(self) -> None:
        if self._widths is None:
            self._settle()
        self._out.flush()

    def _settle(self) -> None:
        if len(self._waiting) == 1 and not self._fits_in_a_line():
            self._print_record(self._waiting[0])
            return
        natural = [max(map(cell_len, column)) for column in zip(self._names, *self._waiting, strict=True)]
        self._widths, dropped = fit(natural, self._whole, self._width)
        header = self._line(self._names)
        self._out.write(f"{BOLD}{header}{PLAIN}\n".encode() if self._styled else f"{header}\n".encode())
        self._print(self._waiting)
        self._waiting = []
        if dropped:
            self._note(f"too narrow for {', '.join(self._names[-dropped:])}: --columns, or --format jsonl")

    def _fits_in_a_line(self) -> bool:
        cells = [max(map(cell_len, column)) for column in zip(self._names, *self._waiting, strict=True)]
        return sum(cells) + len(GAP) * (len(cells) - 1) <= self._width

    def _print_record(self, row: list[str]) -> None:
        """A single wide row reads better downwards."""
        longest = max(map(len, self._names))
        for name, cell in zip(self._names, row, strict=True):
            self._out.write(f"{name:<{longest}}{GAP}{cell}\n".encode("utf-8", "replace"))

    def _print(self, rows: list[list[str]]) -> None:
        self._out.write("".join(f"{self._line(row)}\n" for row in rows).encode("utf-8", "replace"))
        self._out.flush()

    def _line(self, cells: list[str]) -> str:
        assert self._widths is not None
        padded = map(_pad, cells, self._widths, self._right)
        return GAP.join(padded).rstrip()


def fit(natural: list[int], fixed: list[bool], width: int) -> tuple[list[int], int]:
    """Widths that fit, and how many columns at the end had to go. `fixed` ones (numbers, times) are never cut."""
    kept = len(natural)
    while kept > 1:
        widths = _shrunk(natural[:kept], fixed, width - len(GAP) * (kept - 1))
        if widths is not None:
            return widths, len(natural) - kept
        kept -= 1
    return [min(natural[0], width)], len(natural) - 1


def _shrunk(natural: list[int], fixed: list[bool], room: int) -> list[int] | None:
    """Cut the widest text columns to one common width until all fit; None when the narrowest do not."""
    smallest = [n if hold else min(n, NARROWEST) for n, hold in zip(natural, fixed, strict=False)]
    if sum(smallest) > room:
        return None
    cap = max(natural)
    while (
        widths := [n if hold else min(n, max(cap, NARROWEST)) for n, hold in zip(natural, fixed, strict=False)]
    ) and sum(widths) > room:
        cap -= 1
    return widths


def _pad(text: str, width: int, right: bool) -> str:
    if cell_len(text) > width:
        return set_cell_size(text, width - 1) + "…"
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def _cells(column: pa.Array) -> list[str]:
    """Texts on one line: control characters become visible escapes."""
    texts = pc.fill_null(_readable(column), UNKNOWN).to_pylist()
    return [text if text.isprintable() else text.encode("unicode_escape").decode("ascii") for text in texts]


def _readable(column: pa.Array) -> pa.Array:
    if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
        return pc.binary_join(column, ", ")
    texts = plain_text(column)
    if pa.types.is_timestamp(column.type):
        return pc.replace_substring(pc.replace_substring(texts, "T", " "), "Z", "")
    return texts


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
