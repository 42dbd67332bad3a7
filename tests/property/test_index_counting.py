"""Counting index entries in runs leaves the headers that putting them one by one leaves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from parsers.index.geometry import Geometry
from parsers.index.layout import INDEX_HEADER
from recovery.broker.index_service import IndexHeadWriter, count_rows
from recovery.rebuild.index_writer import IndexWriter
from recovery.rules.dispatch import DispatchRequest

messages = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 4), st.integers(0, 9000)), min_size=1, max_size=40)


def _heads(chain: IndexWriter) -> list[tuple[int, ...]]:
    """Headers without the slots, which only the entries can tell."""
    headers = [INDEX_HEADER.unpack(file.with_counts()) for file in chain.files]
    return [tuple(value for name, value in header.items() if name != "hash_slot_count") for header in headers]


@given(rows=messages, entries=st.integers(2, 9), rising=st.booleans(), cuts=st.integers(1, 40))
def test_runs_and_single_puts_agree(rows: list[tuple[int, int, int]], entries: int, rising: bool, cuts: int) -> None:
    geometry = Geometry(3, entries)
    rows = sorted(rows) if rising else rows
    one_by_one = IndexWriter(geometry)
    for physical_offset, keys, time_ms in rows:
        request = DispatchRequest("T", 0, 0, physical_offset, 100, 0, time_ms, {})
        one_by_one.put(request, [f"k{number}" for number in range(keys)])
    counted = IndexWriter(geometry, file_type=IndexHeadWriter)
    for at in range(0, len(rows), cuts):
        columns = np.array(rows[at : at + cuts], np.int64)
        count_rows(counted, columns[:, 0], columns[:, 2], columns[:, 1])
    assert _heads(counted) == _heads(one_by_one)
