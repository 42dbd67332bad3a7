"""Memory is decoded into again only when no batch refers to it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from parsers.commitlog.batches.schema import MESSAGE_SCHEMA
from parsers.commitlog.batches.segment import Decoding, read_segment
from parsers.commitlog.batches.slab import KEPT, SlabPool
from parsers.store.store_file import StoreFile
from tests.support.small_log import SmallLog

MESSAGES, ROWS = 40, 4


def small_file(folder: Path) -> tuple[StoreFile, list[int]]:
    log = SmallLog()
    log.put(MESSAGES)
    return log.save(folder), log.places


def test_batches_that_are_kept_keep_their_rows(tmp_path: Path) -> None:
    file, places = small_file(tmp_path)
    for columns in (["physical_offset"], ["keys"], ["properties"], None):
        batches = list(read_segment(file, columns=columns, decoding=Decoding(pool=SlabPool(ROWS, 4096))))
        assert len(batches) == MESSAGES // ROWS
        whole = pa.Table.from_batches(read_segment(file, columns=columns))
        assert pa.Table.from_batches(batches).equals(whole)
    assert whole["physical_offset"].to_pylist() == places


def test_a_column_that_outlives_its_batch_keeps_its_rows(tmp_path: Path) -> None:
    file, _ = small_file(tmp_path)
    columns = [batch["keys"] for batch in read_segment(file, decoding=Decoding(pool=SlabPool(ROWS, 4096)))]
    assert pa.chunked_array(columns).to_pylist() == [f"k{number}" for number in range(MESSAGES)]


def test_a_stream_uses_the_same_memory_again(tmp_path: Path) -> None:
    file, _ = small_file(tmp_path)
    pool = SlabPool(ROWS, 4096)
    seen = {batch["physical_offset"].buffers()[1].address for batch in read_segment(file, decoding=Decoding(pool=pool))}
    assert len(seen) <= KEPT
    assert pool.take().is_free


def test_a_body_larger_than_a_batch_gets_room(tmp_path: Path) -> None:
    log = SmallLog(size=1 << 16)
    log.put(2)
    log.put(1, body=bytes(range(256)) * 100)
    log.put(2)
    batches = read_segment(log.save(tmp_path), columns=["body"], decoding=Decoding(pool=SlabPool(ROWS, 1024)))
    sizes = [len(body) for batch in batches for body in batch["body"].to_pylist()]
    assert sizes == [9, 9, 25600, 9, 9]
    assert MESSAGE_SCHEMA.get_field_index("body") == -1


@pytest.mark.parametrize(("sizes", "most"), [((4096, 1 << 16), 4 << 20), ((), 4 << 20), ((4096, 1 << 30), 1 << 30)])
def test_small_logs_take_small_memory(sizes: tuple[int, ...], most: int) -> None:
    """From 4 MiB on numpy asks for huge pages, and zeroing one for each column takes longer than a small log."""
    assert most // 8 < SlabPool.for_files(*sizes).take().columns.text.nbytes < most
