"""Round trips of every fixed structure, and the compiled decoders against the scalar ones, for any bytes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.consumequeue.arrow import units_to_batch
from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.kernel import count_units, first_live_unit, valid_prefix
from parsers.consumequeue.layout import CQ_UNIT, UNIT_KINDS, is_pre_blank, is_valid, tags_code_kind
from parsers.consumequeue.read import read_queue
from parsers.consumequeue.schema import UNIT_SCHEMA
from parsers.damage.runs import JoinedRuns, runs
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans, written_end
from parsers.index.geometry import Geometry
from parsers.index.kernel import index_key_hash
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import AS_GIVEN, OpenIndex
from parsers.index.read import entries_to_batch
from parsers.kernels.written import written_bytes
from parsers.layouts.layout import Layout
from parsers.store.store_file import StoreFile
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT
from parsers.values.java import INT_MAX, INT_MIN, LONG_MIN, utf16_units
from parsers.values.java import index_key_hash as scalar_index_key_hash
from tests.support.files import packed, put

LAYOUTS = [
    *(CQ_UNIT, BATCH_UNIT, CHECKPOINT, INDEX_HEADER, INDEX_SLOT, INDEX_ENTRY),
    *(TIMER_UNIT, TIMER_BLANK, TIMER_SLOT, TIMER_CHECK),
]
EDGES = [0, 1, -1, 20, INT_MAX, INT_MIN, INT_MIN - 1, INT_MAX + 1, LONG_MIN, -LONG_MIN - 1]
numbers = st.one_of(st.sampled_from(EDGES), st.integers(LONG_MIN, -LONG_MIN - 1))
sizes = st.one_of(st.sampled_from([0, 1, -1, INT_MAX, INT_MIN]), st.integers(INT_MIN, INT_MAX))
unit_rows = st.lists(st.tuples(numbers, sizes, numbers), max_size=40)
topics = st.sampled_from(["T", "SCHEDULE_TOPIC_XXXX"])


@given(st.sampled_from(LAYOUTS), st.data())
def test_what_is_decoded_encodes_to_the_same_bytes(layout: Layout, data: st.DataObject) -> None:
    stored = data.draw(st.binary(min_size=layout.size, max_size=layout.size))
    row = layout.unpack(stored)
    assert layout.pack(row) == stored
    assert layout.unpack(layout.pack(row)) == row
    assert dict(zip(layout.offsets, layout.array(stored)[0].item(), strict=True)) == row


@given(unit_rows, topics, st.integers(0, 2**40))
def test_units_decode_as_one_by_one(rows: list[tuple[int, int, int]], topic: str, first: int) -> None:
    data = np.frombuffer(packed(CQ_UNIT, rows), np.uint8)
    batch = units_to_batch(data, topic=topic, queue_id=7, first_queue_offset=first)
    assert [tuple(row.values()) for row in batch.to_pylist()] == [
        (topic, 7, first + number, *row, UNIT_KINDS[is_pre_blank(*row)], tags_code_kind(topic, row[2]))
        for number, row in enumerate(rows)
        if is_valid(row[0], row[1])
    ]


@given(unit_rows, numbers)
def test_counts_are_those_of_the_units_one_by_one(rows: list[tuple[int, int, int]], commitlog_min: int) -> None:
    data = np.frombuffer(packed(CQ_UNIT, rows), np.uint8)
    valid = [row for row in rows if is_valid(row[0], row[1])]
    messages = [row for row in valid if not is_pre_blank(*row)]
    refused = [number for number, row in enumerate(rows) if not is_valid(row[0], row[1])]
    assert valid_prefix(data) == (refused[0] if refused else len(rows))
    assert count_units(data)[:2] == (len(messages), len(valid) - len(messages))
    live = (
        number for number, row in enumerate(rows) if row[0] >= commitlog_min and row[1] > 0 and not is_pre_blank(*row)
    )
    assert first_live_unit(data, commitlog_min) == next(live, -1)


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 9), st.just(0)), max_size=60), st.integers(1, 9))
def test_any_batch_size_gives_the_same_rows(rows: list[tuple[int, int, int]], batch_units: int) -> None:
    with TemporaryDirectory() as folder:
        file = put(Path(folder), "consumequeue/T/0/00000000000000000000", packed(CQ_UNIT, rows) or b"\0" * 20)
        whole = pa.Table.from_batches(read_queue([file]), UNIT_SCHEMA)
        parts = pa.Table.from_batches(read_queue([file], batch_units=batch_units), UNIT_SCHEMA)
        assert parts.to_pylist() == whole.to_pylist()
        assert len(whole) == len(rows)


@given(st.lists(st.tuples(sizes, numbers, sizes, sizes), max_size=30), st.integers(1, 9))
def test_index_entries_decode_as_one_by_one(rows: list[tuple[int, int, int, int]], slots: int) -> None:
    geometry = Geometry(slots, len(rows) + 1)
    stored = bytes(geometry.entries_at + INDEX_ENTRY.size) + packed(INDEX_ENTRY, rows)
    file = StoreFile(Path("1"), "index", len(stored), 0, 1)
    opened = OpenIndex(file, np.frombuffer(stored, np.uint8), INDEX_HEADER.unpack(stored), geometry, AS_GIVEN)
    batch = entries_to_batch(opened, 1, len(rows) + 1)
    assert [tuple(row.values()) for row in batch.to_pylist()] == [
        ("1", number, *row, row[0] % slots)
        for number, row in enumerate(rows, start=1)
        if min(row) >= 0 and row[3] < number
    ]


@given(st.text(st.characters(exclude_categories=())))
def test_the_compiled_key_hash_is_the_scalar_one(key: str) -> None:
    units = np.frombuffer(utf16_units(key), np.uint8)
    assert index_key_hash(units) == scalar_index_key_hash(key)


@pytest.mark.parametrize("key", ["polygenelubricants", "", "T#é", "\ud800"])
def test_the_key_hash_is_never_negative(key: str) -> None:
    assert index_key_hash(np.frombuffer(utf16_units(key), np.uint8)) >= 0


@given(st.binary(max_size=40), st.integers(0, 40))
def test_written_bytes_end_at_the_last_one_that_is_not_zero(stored: bytes, zeros: int) -> None:
    data = np.frombuffer(stored + bytes(zeros), np.uint8)
    assert written_bytes(data) == len(stored.rstrip(b"\0"))


@given(st.lists(st.booleans(), max_size=40))
def test_runs_cover_what_is_true(mask: list[bool]) -> None:
    found = list(runs(np.array(mask, bool)))
    assert [number for first, end in found for number in range(first, end)] == [
        number for number, value in enumerate(mask) if value
    ]
    assert all(end < after for (_, end), (after, _) in pairwise(found))


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 9))
def test_runs_found_piece_by_piece_are_told_whole(mask: list[bool], step: int) -> None:
    whole = np.array(mask, bool)
    told: list[tuple[int, int]] = []
    joined = JoinedRuns(lambda first, end: told.append((first, end)))
    for at in range(0, len(mask), step):
        joined.add(whole[at : at + step], at)
    joined.close()
    assert told == list(runs(whole))


@given(st.binary(max_size=60), st.integers(1, 9), st.integers(0, 20))
def test_spans_lie_end_to_end(stored: bytes, step: int, begin: int) -> None:
    data = np.frombuffer(stored, np.uint8)
    pieces = list(spans(data, begin, len(stored), step))
    assert b"".join(piece.tobytes() for _, piece in pieces) == stored[begin:]
    assert [at for at, _ in pieces] == list(range(begin, len(stored), step))


def test_a_large_file_is_gone_through_and_let_go(tmp_path: Path) -> None:
    path = put(tmp_path, "large", b"").path
    with path.open("r+b") as sparse:
        sparse.truncate(200_000_000)
        sparse.seek(150_000_000)
        sparse.write(b"\1")
    data = np.frombuffer(map_file(path), np.uint8)
    assert written_end(path, data) == 150_000_001
    assert sum(len(piece) for _, piece in spans(data, 0, len(data), 30_000_000)) == len(data)
    assert data[150_000_000] == 1
