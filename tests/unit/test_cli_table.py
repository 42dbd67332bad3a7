"""Widths of a table: what is cut first, and what is never cut."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

from pipelines.cli.table import TextTable, fit


@pytest.mark.parametrize(
    ("width", "widths", "dropped"),
    [
        (100, [30, 16, 23], 0),
        (60, [21, 12, 23], 0),
        (55, [16, 12, 23], 0),
        (47, [8, 12, 23], 0),
        (46, [28, 16], 1),
        (20, [20], 2),
        (5, [5], 2),
    ],
)
def test_text_shrinks_then_headings_then_columns_go(width: int, widths: list[int], dropped: int) -> None:
    widest, headings, whole = [30, 9, 23], [5, 16, 8], [False, True, True]
    assert fit(widest, headings, whole, width) == (widths, dropped)


def printed(columns: dict[str, pa.Array], width: int = 80) -> tuple[list[str], list[str]]:
    out, notes = io.BytesIO(), []
    batch = pa.RecordBatch.from_pydict(columns)
    table = TextTable(batch.schema, out, width, notes.append)
    table.write(batch)
    table.close()
    return out.getvalue().decode().splitlines(), notes


def test_a_number_that_grows_after_the_widths_are_settled_is_whole() -> None:
    numbers = pa.array([*range(300), 10**15])
    lines, _ = printed({"n": numbers, "text": pa.array(["x" * 50] * 301)}, width=30)
    assert lines[-1].split()[0] == str(10**15)
    assert all("…" in line for line in lines[1:])


def test_control_characters_stay_on_their_line() -> None:
    lines, _ = printed({"text": pa.array(["a\nb\x1b[31m", "漢字"]), "n": pa.array([1, None])})
    assert lines == ["text          n", "a\\nb\\x1b[31m  1", "漢字          –"]


def test_no_rows_is_a_heading() -> None:
    assert printed({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})[0] == ["a  b"]
