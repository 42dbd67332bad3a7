"""The table a person reads: header, aligned columns, made to fit the terminal; streaming.

Widths are settled by the first rows. Numbers and times are never cut. Where the columns do not fit, the day of times
of one day is said once, and so is the value of a column that never changes. Headings break at their underscores,
sentences into lines, before a column of short words (kinds, names) is cut; a word that is too wide gets an ellipsis.
Columns that do not fit are named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, zip_longest
from operator import not_, or_
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from rich.cells import cell_len, set_cell_size

from pipelines.cli.frame.visible import visible, wrapped
from pipelines.cli.frame.written.json_form import is_number, plain_text

GAP = "  "
SETTLING_ROWS = 200
READABLE, NARROWEST = 20, 12
"""Cells that a text column is left before headings are broken, and at the very least."""
MOST_LINES = 10
"""Lines of one row that holds sentences."""
DAY = len("2026-11-21 ")
UNKNOWN = "–"
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
COLOURS = {"critical": "\x1b[1;31m", "error": "\x1b[31m", "warning": "\x1b[33m"}
"""Colours of the column `severity` on a terminal, where NO_COLOR is not set."""
ZEROS_OF_A_NAME = re.compile(r"(?<![0-9])0{6,}(?=[0-9])")
BYTES_SHOWN = 1 << 12


class TextTable:
    """A sink. Numbers to the right, everything else to the left, unknown as a dash."""

    def __init__(self, schema: pa.Schema, out: BinaryIO, width: int, note: Callable[[str], None]) -> None:
        self._out, self._width, self._note = out, width, note
        self._names: list[str] = schema.names
        self._right = [is_number(field.type) for field in schema]
        self._times = [bool(pa.types.is_timestamp(field.type)) for field in schema]
        self._whole = [right or time for right, time in zip(self._right, self._times, strict=True)]
        self._waiting: list[list[str]] = []
        self._widths: list[int] | None = None
        self._day = ""
        self._styled = out.isatty()
        self._coloured = self._styled and not os.environ.get("NO_COLOR")

    def write(self, batch: pa.RecordBatch) -> None:
        rows = [list(row) for row in zip(*map(_cells, batch.columns), strict=True)]
        if self._widths is not None:
            self._print(list(map(self._without_day, rows)) if self._day else rows)
            return
        self._waiting += rows
        if len(self._waiting) >= SETTLING_ROWS:
            self._settle()

    def close(self) -> None:
        if self._widths is None:
            if len(self._waiting) > 1:
                for shorten in (self._leave_out_the_unknown, self._say_the_day_once, self._say_what_never_changes):
                    if not self._fits_in_a_line():
                        shorten()
            self._settle()
        self._out.flush()

    def _settle(self) -> None:
        if self._styled and not self._waiting:
            return
        if len(self._waiting) == 1 and not self._fits_in_a_line():
            self._print_record(self._waiting[0])
            return
        if not self._fits_in_a_line():
            self._say_the_day_once()
        widest = [max(map(cell_len, column)) for column in zip(*self._waiting, strict=True)] or [0] * len(self._names)
        words = [all(map(_is_short_word, column)) for column in zip(*self._waiting, strict=True)] or self._whole
        self._widths, dropped = fit(widest, self._names, self._whole, self._width, words)
        self._print_header()
        waiting, self._waiting = self._waiting, []
        self._print(waiting)
        if dropped:
            self._note(
                f"the terminal is too narrow for {', '.join(self._names[-dropped:])}: "
                "choose with --columns, or take --format jsonl"
            )

    def _leave_out_the_unknown(self) -> None:
        """Columns in which no row has a value give their room to the others; only when every row is at hand."""
        known = [any(cell != UNKNOWN for cell in column) for column in zip(*self._waiting, strict=True)]
        if not any(known) or all(known):
            return
        self._note(f"no value in any row: {', '.join(compress(self._names, map(not_, known)))}")
        self._keep(known)

    def _say_what_never_changes(self) -> None:
        """Columns with one value in all rows give their room to the others; only when every row is at hand."""
        changes = [len(set(column)) > 1 for column in zip(*self._waiting, strict=True)]
        if not any(changes) or all(changes):
            return
        alike = compress(zip(self._names, self._waiting[0], strict=True), map(not_, changes))
        self._note(f"in every row: {', '.join(f'{name} {cell}' for name, cell in alike)}")
        self._keep(changes)

    def _keep(self, kept: Sequence[bool]) -> None:
        self._names = list(compress(self._names, kept))
        self._right, self._times, self._whole = (
            list(compress(flags, kept)) for flags in (self._right, self._times, self._whole)
        )
        self._waiting = [list(compress(row, kept)) for row in self._waiting]

    def _say_the_day_once(self) -> None:
        if self._day:
            return
        cells = [cell for row in self._waiting for cell, time in zip(row, self._times, strict=True) if time]
        days = {cell[:DAY] for cell in cells if cell != UNKNOWN}
        if len(days) == 1:
            self._day = days.pop()
            self._waiting = list(map(self._without_day, self._waiting))
            self._note(f"times without a date are of {self._day.strip()}, UTC")

    def _without_day(self, row: list[str]) -> list[str]:
        return [cell.removeprefix(self._day) if time else cell for cell, time in zip(row, self._times, strict=True)]

    def _print_header(self) -> None:
        assert self._widths is not None
        broken = [broken_heading(name, width) for name, width in zip(self._names, self._widths, strict=False)]
        for line in zip(*_bottom_up(broken), strict=True):
            header = GAP.join(map(_pad, map(_cut, line, self._widths), self._widths, self._right)).rstrip()
            self._out.write(f"{BOLD}{header}{PLAIN}\n".encode() if self._styled else f"{header}\n".encode())

    def _fits_in_a_line(self) -> bool:
        cells = [max(map(cell_len, column)) for column in zip(self._names, *self._waiting, strict=True)]
        return sum(cells) + len(GAP) * (len(cells) - 1) <= self._width

    def _print_record(self, row: list[str]) -> None:
        """A single wide row reads better downwards; its sentences go on below themselves."""
        longest = max(map(len, self._names))
        room = max(self._width - longest - len(GAP), READABLE)
        for name, cell in zip(self._names, row, strict=True):
            first, *rest = wrapped(cell, room, "").splitlines() or [""]
            lines = [f"{name:<{longest}}{GAP}{self._in_colour(name, cell, first)}"]
            lines += (" " * (longest + len(GAP)) + line for line in rest)
            self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))

    def _in_colour(self, name: str, value: str, shown: str) -> str:
        colour = COLOURS.get(value) if self._coloured and name == "severity" else None
        return f"{colour}{shown}{PLAIN}" if colour else shown

    def _print(self, rows: list[list[str]]) -> None:
        lines = (line for row in rows for line in self._lines(row))
        self._out.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        self._out.flush()

    def _lines(self, cells: list[str]) -> Iterator[str]:
        """The row, and below it what is left of its sentences."""
        assert self._widths is not None
        columns = [
            [cell] if whole else in_lines(cell, width)
            for cell, width, whole in zip(cells, self._widths, self._whole, strict=False)
        ]
        for number, line in enumerate(zip_longest(*columns, fillvalue="")):
            padded = map(_pad, line, self._widths, self._right)
            values = cells if number == 0 else line
            yield GAP.join(map(self._in_colour, self._names, values, padded)).rstrip()


def fit(widest: list[int], names: list[str], whole: list[bool], width: int, words: list[bool]) -> tuple[list[int], int]:
    """Widths that fit, and how many columns at the end had to go.

    Cells of `whole` columns (numbers, times) are never cut. Text is cut to READABLE cells first, then headings are
    broken at their underscores, then text is cut to NARROWEST, at first not that of `words`, and only then columns go.
    """
    headings = list(map(cell_len, names))
    parts = [max(map(cell_len, _parts(name)), default=0) for name in names]
    full = [max(cells, heading) for cells, heading in zip(widest, headings, strict=True)]
    broken = [max(cells, part) for cells, part in zip(widest, parts, strict=True)]
    for kept in range(len(full), 0, -1):
        room = width - len(GAP) * (kept - 1)
        for columns, uncut, narrowest in (
            (full, whole, READABLE),
            (broken, whole, READABLE),
            (broken, list(map(or_, whole, words)), NARROWEST),
            (broken, whole, NARROWEST),
        ):
            widths = _shrunk(columns[:kept], uncut, room, narrowest)
            if widths is not None:
                return widths, len(full) - kept
    return [min(full[0], width)], len(full) - 1


def _is_short_word(cell: str) -> bool:
    return " " not in cell and cell_len(cell) <= READABLE


def _shrunk(natural: list[int], whole: list[bool], room: int, narrowest: int) -> list[int] | None:
    """Cut the widest text columns to one common width until all fit; None when the narrowest do not."""
    for cap in range(max(*natural, narrowest), narrowest - 1, -1):
        widths = [n if hold else min(n, cap) for n, hold in zip(natural, whole, strict=False)]
        if sum(widths) <= room:
            return widths
    return None


def broken_heading(name: str, width: int) -> list[str]:
    """A name in lines of at most `width` cells, broken behind underscores; a longer part is a line of its own."""
    lines = [""]
    for part in _parts(name):
        if lines[-1] and cell_len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return lines


def in_lines(text: str, width: int) -> list[str]:
    """Text in at most MOST_LINES lines of `width` cells, broken between words; what is longer gets an ellipsis."""
    if cell_len(text) <= width or " " not in text:
        return [_cut(text, width)]
    lines = [""]
    words = text.split(" ")
    for number, word in enumerate(words):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= width or not lines[-1]:
            lines[-1] = longer
        elif len(lines) < MOST_LINES:
            lines.append(word)
        else:
            lines[-1] = " ".join([lines[-1], *words[number:]])
            break
    return [_cut(line, width) for line in lines]


def _parts(name: str) -> list[str]:
    *heads, tail = name.split("_")
    return [f"{head}_" for head in heads] + [tail]


def _bottom_up(columns: list[list[str]]) -> list[list[str]]:
    """Every column as many lines as the longest one, the empty ones first."""
    most = max(map(len, columns))
    return [[""] * (most - len(lines)) + lines for lines in columns]


def _cut(text: str, width: int) -> str:
    """Text of at most `width` cells: a sentence loses its end, a single word (an id, a file) its middle."""
    if cell_len(text) > width:
        text = ZEROS_OF_A_NAME.sub("…", text)  # a file's number says more than its zeros
    if cell_len(text) <= width:
        return text
    tail = "" if " " in text else text[len(text) - (width - 1) // 3 :]
    return set_cell_size(text, width - 1 - cell_len(tail)) + "…" + tail


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def _cells(column: pa.Array) -> list[str]:
    """Texts on one line."""
    return [visible(text) for text in pc.fill_null(_readable(column), UNKNOWN).to_pylist()]


def _readable(column: pa.Array) -> pa.Array:
    if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
        return pc.binary_join(column, ", ")
    if pa.types.is_binary(column.type) or pa.types.is_binary_view(column.type):
        return pa.array([_payload(value) for value in column.to_pylist()], pa.string())
    texts = plain_text(column)
    if pa.types.is_timestamp(column.type):
        return pc.replace_substring(pc.replace_substring(texts, "T", " "), "Z", "")
    return texts


def _payload(value: bytes | None) -> str | None:
    """The beginning of a payload: as text where it is UTF-8, else its bytes in hexadecimal digits."""
    if value is None:
        return None
    shown = value[:BYTES_SHOWN]
    try:
        return shown.decode("utf-8")
    except UnicodeDecodeError as wrong:
        is_cut_inside = len(value) > BYTES_SHOWN and wrong.start > BYTES_SHOWN - 4
        return shown[: wrong.start].decode("utf-8") if is_cut_inside else f"0x{shown.hex()}"
