"""Columns to JSON text: the same as a value-by-value encoder says, for any values."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.explain.line import instant_text
from pipelines.answers.instants import iso_instant
from pipelines.cli.frame.written.json_form import json_lines, plain_text

PAIRS = st.lists(st.tuples(st.text(max_size=4), st.none() | st.text(max_size=4)), max_size=3)
COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "number": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "text": (pa.string(), st.text(max_size=8)),
    "name": (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", 'b"', "\\"])),
    "flag": (pa.bool_(), st.booleans()),
    "bytes": (pa.binary(), st.binary(max_size=5)),
    "viewed": (pa.binary_view(), st.binary(max_size=20)),
    "map": (pa.map_(pa.string(), pa.string()), PAIRS),
    "pairs": (pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())])), PAIRS),
    "texts": (pa.list_(pa.string()), st.lists(st.none() | st.text(max_size=3), max_size=3)),
}


def arrow_value(name: str, value: Any) -> Any:
    if name == "pairs" and value is not None:
        return [{"name": key, "value": text} for key, text in value]
    return value


def expected(name: str, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if name in ("map", "pairs"):
        return [list(pair) for pair in value]
    return value


@given(st.data())
def test_every_value_reads_back(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 6))
    first = data.draw(st.integers(0, rows - 1))
    values = {
        name: data.draw(st.lists(st.none() | values, min_size=rows, max_size=rows), label=name)
        for name, (_, values) in COLUMNS.items()
    }
    batch = pa.RecordBatch.from_arrays(
        [pa.array([arrow_value(name, v) for v in values[name]], kind) for name, (kind, _) in COLUMNS.items()],
        names=list(COLUMNS),
    ).slice(first)
    lines = b"".join(map(bytes, json_lines(batch))).decode().splitlines(keepends=True)
    text = "".join(lines)
    read = [json.loads(line) for line in text.split("\n")[:-1]]
    assert read == [{name: expected(name, values[name][row]) for name in COLUMNS} for row in range(first, rows)]


@pytest.mark.parametrize(
    ("epoch_ms", "text"),
    [
        (0, '"1970-01-01T00:00:00.000Z"'),
        (1795273632813, '"2026-11-21T15:07:12.813Z"'),
        (-1, '"1969-12-31T23:59:59.999Z"'),
        (253402300799999, '"9999-12-31T23:59:59.999Z"'),
        (253402300800000, "253402300800000"),
        (-(2**60), str(-(2**60))),
        (None, "null"),
    ],
)
def test_instants_are_iso_while_the_calendar_lasts(epoch_ms: int | None, text: str) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([epoch_ms, 0], pa.timestamp("ms", "UTC"))], names=["t"])
    assert bytes(next(iter(json_lines(batch)))).splitlines()[0].decode() == f'{{"t":{text}}}'


def test_microseconds_are_cut_to_milliseconds() -> None:
    instants = pa.array([datetime(2026, 11, 21, 13, 5, 0, 123999, UTC)], pa.timestamp("us", "UTC"))
    assert plain_text(instants).to_pylist() == ["2026-11-21T13:05:00.123Z"]


def test_large_batches_come_in_pieces_and_lose_nothing() -> None:
    batch = pa.RecordBatch.from_pydict({"body": [b"x" * (12 << 20)] * 5})
    pieces = [bytes(piece) for piece in json_lines(batch)]
    assert len(pieces) > 1
    assert sum(piece.count(b"\n") for piece in pieces) == 5


def test_an_instant_of_a_year_before_1000_has_its_zeros() -> None:
    assert iso_instant(-62_135_596_800_000) == "0001-01-01T00:00:00.000Z"
    assert instant_text(-62_135_596_799_999) == "0001-01-01T00:00:00.001Z"
