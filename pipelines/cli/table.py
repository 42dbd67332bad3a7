"""The table a person reads: header, aligned columns, cut to the width of the terminal; streaming.

Widths are settled by the first rows; text that is too wide is cut with an ellipsis, numbers and times never are.
Columns that do not fit are named.
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
READABLE, NARROWEST = 20, 8
"""Cells that a text column is left before headings are cut, and at the very least."""
SHORT_HEADING = 12
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
        widest = [max(map(cell_len, column)) for column in zip(*self._waiting, strict=True)] or [0] * len(self._names)
        headings = list(map(cell_len, self._names))
        self._widths, dropped = fit(widest, headings, self._whole, self._width)
        header = GAP.join(map(_pad, map(_cut, self._names, self._widths), self._widths, self._right)).rstrip()
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
        fitted = [
            cell if whole else _cut(cell, width)
            for cell, width, whole in zip(cells, self._widths, self._whole, strict=False)
        ]
        return GAP.join(map(_pad, fitted, self._widths, self._right)).rstrip()


def fit(widest: list[int], headings: list[int], whole: list[bool], width: int) -> tuple[list[int], int]:
    """Widths that fit, and how many columns at the end had to go.

    Cells of `whole` columns (numbers, times) are never cut, their headings are when they are wider than the cells. Text
    is cut to READABLE cells first, then headings, then text to NARROWEST, and only then columns go.
    """
    full = [max(cells, heading) for cells, heading in zip(widest, headings, strict=True)]
    tight = [max(cells, min(heading, SHORT_HEADING)) for cells, heading in zip(widest, headings, strict=True)]
    natural = [narrow if hold else wide for narrow, wide, hold in zip(tight, full, whole, strict=True)]
    for kept in range(len(full), 0, -1):
        room = width - len(GAP) * (kept - 1)
        for columns, narrowest in ((full, READABLE), (natural, READABLE), (natural, NARROWEST)):
            widths = _shrunk(columns[:kept], whole, room, narrowest)
            if widths is not None:
                return widths, len(full) - kept
    return [min(full[0], width)], len(full) - 1


def _shrunk(natural: list[int], whole: list[bool], room: int, narrowest: int) -> list[int] | None:
    """Cut the widest text columns to one common width until all fit; None when the narrowest do not."""
    for cap in range(max(*natural, narrowest), narrowest - 1, -1):
        widths = [n if hold else min(n, cap) for n, hold in zip(natural, whole, strict=False)]
        if sum(widths) <= room:
            return widths
    return None


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def _pad(text: str, width: int, right: bool) -> str:
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
