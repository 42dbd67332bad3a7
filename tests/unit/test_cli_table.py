"""Widths of a table: what is cut first, and what is never cut."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest

from pipelines.cli.frame.written.text_table import MOST_LINES, TextTable, fit


@pytest.mark.parametrize(
    ("width", "widths", "dropped"),
    [
        (100, [30, 16, 23], 0),
        (63, [20, 16, 23], 0),
        (60, [24, 9, 23], 0),
        (55, [19, 9, 23], 0),
        (48, [12, 9, 23], 0),
        (47, [29, 16], 1),
        (18, [18], 2),
        (5, [5], 2),
    ],
)
def test_text_shrinks_then_headings_break_then_columns_go(width: int, widths: list[int], dropped: int) -> None:
    widest, names, whole = [30, 9, 23], ["topic", "physical_offset_", "store_at"], [False, True, True]
    assert fit(widest, names, whole, width, [False] * 3) == (widths, dropped)


def printed(columns: dict[str, pa.Array], width: int = 80) -> tuple[list[str], list[str]]:
    out = io.BytesIO()
    notes: list[str] = []
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


def test_headings_break_at_underscores_and_stand_on_their_cells() -> None:
    columns = {"topic": pa.array(["x" * 30]), "max_queue_offset": pa.array([11]), "units": pa.array([7])}
    lines, _ = printed({name: pa.concat_arrays([cells, cells]) for name, cells in columns.items()}, width=40)
    assert lines[:3] == [
        f"{'max_':>33}",
        f"{'queue_':>33}",
        f"{'topic':<25}  offset  units",
    ]


def test_a_single_word_keeps_its_end_and_the_last_column_its_sentence() -> None:
    key, why = "AC11000100002A9F0000", "it expires by its modification time; the disk use is not known"
    cells = {"key": pa.array([f"1{key}", f"2{key}"]), "n": pa.array([1, 2]), "why": pa.array([why, "no"])}
    lines, _ = printed(cells, width=40)
    assert lines[1:4] == [
        "1AC11000100…F0000  1  it expires by its",
        "                      modification",
        "                      time; the disk",
    ]
    assert lines[-1] == "2AC11000100…F0000  2  no"


def test_a_kind_is_whole_where_a_sentence_has_lines_to_break_into() -> None:
    """`commit_r…back` stood beside a sentence that had all its words on one line."""
    columns = {
        "kind": pa.array(["commit_rollback", "flapping"]),
        "detail": pa.array(["queue offset 244 after 245", "four times in one hour"]),
    }
    lines, _ = printed({**columns, "cause": pa.array(["a late commit of somebody", "late"])}, width=44)
    assert lines[1].split()[0] == "commit_rollback"
    narrower, _ = printed({**columns, "cause": pa.array(["a late commit", "b"])}, width=40)
    assert "…" in narrower[1].split()[0], "rather than that a column goes"


def test_a_sentence_before_the_last_column_is_not_cut() -> None:
    cells = {
        "advice": pa.array(["keep, or read first: 66 unread messages", "keep"]),
        "why": pa.array(["no log " * 3, "-"]),
    }
    lines, _ = printed(cells, width=34)
    assert " ".join(line[:16].strip() for line in lines[1:-1]).strip() == "keep, or read first: 66 unread messages"
    assert lines[-1].split() == ["keep", "-"]


def test_a_sentence_without_end_takes_a_few_lines() -> None:
    lines, _ = printed({"n": pa.array([1, 2]), "why": pa.array(["word " * 200, "no"])}, width=30)
    assert len(lines) == 1 + MOST_LINES + 1
    assert lines[-2].endswith("…")


def test_times_of_one_day_say_the_day_once_where_room_is_short() -> None:
    times = pa.array([1_795_273_634_066, 1_795_273_635_000, None], pa.timestamp("ms", "UTC"))
    columns = {"begin": times, "end": times, "cause": pa.array(["client_started", "client_left", None])}
    assert printed(columns, width=80)[0][1] == "2026-11-21 15:07:14.066  2026-11-21 15:07:14.066  client_started"
    lines, notes = printed(columns, width=50)
    assert lines == [
        "begin         end           cause",
        "15:07:14.066  15:07:14.066  client_started",
        "15:07:15.000  15:07:15.000  client_left",
        "–             –             –",
    ]
    assert notes == ["times without a date are of 2026-11-21, UTC"]


def test_a_column_without_values_gives_its_room_to_the_others() -> None:
    columns = {"topic": pa.nulls(2, pa.string()), "file": pa.array(["0" * 20] * 2), "n": pa.array([1, 2])}
    assert printed(columns, width=40)[0][0].split() == ["topic", "file", "n"], "there is room"
    lines, notes = printed(columns, width=26)
    assert lines == ["file                  n", f"{'0' * 20}  1", f"{'0' * 20}  2"]
    assert notes == ["no value in any row: topic"]


def test_control_characters_stay_on_their_line() -> None:
    lines, _ = printed({"text": pa.array(["a\nb\x1b[31m", "漢字"]), "n": pa.array([1, None])})
    assert lines == ["text          n", "a\\nb\\x1b[31m  1", "漢字          –"]


def test_sentences_of_a_single_row_go_on_below_themselves() -> None:
    why = "the newest file stays until it is full; when that is, is not known"
    lines, _ = printed({"file": pa.array(["0" * 20]), "reason": pa.array([why])}, width=40)
    assert lines == [
        f"file    {'0' * 20}",
        "reason  the newest file stays until it",
        "        is full; when that is, is not",
        "        known",
    ]


def test_no_rows_is_a_heading() -> None:
    assert printed({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})[0] == ["a  b"]
