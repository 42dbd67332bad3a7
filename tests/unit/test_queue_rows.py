"""Rows by queue, against a plain look."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recovery.scan.queue_rows import queue_rows

pairs = st.lists(st.tuples(st.integers(-1, 3), st.integers(-3, 3)))


@given(pairs)
def test_each_row_is_under_its_queue_in_order(rows: list[tuple[int, int]]) -> None:
    topic, queue_id = (np.array([row[column] for row in rows], np.int32) for column in (0, 1))
    found = queue_rows(topic, queue_id)
    assert list(found) == sorted(set(rows))
    assert {key: of_queue.tolist() for key, of_queue in found.items()} == {
        key: [at for at, row in enumerate(rows) if row == key] for key in set(rows)
    }
