"""Any text is read as a trace body: rows, never an exception, and no record is lost or read twice."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from parsers.messages.trace_columns import RECORDS, decode_traces

PIECES = st.one_of(
    st.sampled_from(["\x01", "\x02", *RECORDS, "null", "", "7", "-1", "true", "9" * 30, "é\U0001f600"]),
    st.text(max_size=4),
)


@given(st.lists(st.lists(PIECES, max_size=60).map("".join), max_size=6))
def test_each_record_of_any_text_is_one_row(bodies: list[str]) -> None:
    rows = decode_traces(pa.array(bodies, pa.string()))
    apart = [decode_traces(pa.array([body], pa.string())).drop_columns(["body_number"]) for body in bodies]
    assert rows.drop_columns(["body_number"]).to_pylist() == [row for each in apart for row in each.to_pylist()]
    assert rows.num_rows >= sum(bool(record) for body in bodies for record in body.split("\x02"))
    assert all((row["trace_type"] is None) <= (row["problem"] is not None) for row in rows.to_pylist())
