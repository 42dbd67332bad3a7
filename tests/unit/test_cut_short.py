"""Files that somebody cuts short while they are read: a finding between two batches, not the end of the process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from parsers.commitlog.batches.segment import read_segment
from parsers.commitlog.files.region import Region
from parsers.consumequeue.batch import BATCH_UNIT, BATCH_UNITS, read_batch_queue
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue
from parsers.damage.errors import DamageSink, UnreadableFile
from parsers.evidence.extents import data_end
from parsers.evidence.mapped import map_file
from parsers.index.geometry import Geometry
from parsers.index.read import read_index
from parsers.store.store_file import StoreFile
from parsers.timer.log import TIMER_UNIT, read_timerlog
from tests.support.files import Seen, packed, put
from tests.support.small_log import SmallLog
from tests.unit.test_index import index_of

Reader = Callable[[DamageSink | None], Iterator[pa.RecordBatch]]
LEFT = 100


def many(root: Path, place: str, unit: bytes, count: int) -> StoreFile:
    return put(root, place, unit * count)


def log(root: Path) -> tuple[StoreFile, Reader]:
    made = SmallLog(size=1 << 20)
    made.put(1000)
    file = made.save(root)
    return file, lambda seen: read_segment(file, damage=seen)


def queue(root: Path) -> tuple[StoreFile, Reader]:
    file = many(root, "consumequeue/T/0/00000000000000000000", packed(CQ_UNIT, [(100, 90, 5)]), 5000)
    return file, lambda seen: read_queue([file], batch_units=512, damage=seen)


def batches(root: Path) -> tuple[StoreFile, Reader]:
    unit = packed(BATCH_UNIT, [(90, 91, 7, 0, 9, 1, -1, 0)])
    file = many(root, "batchconsumequeue/T/0/00000000000000000000", unit, BATCH_UNITS + 5000)
    return file, lambda seen: read_batch_queue([file], damage=seen)


def index(root: Path) -> tuple[StoreFile, Reader]:
    puts = [(f"key {number}", 77 * number, 10 * number) for number in range(1, 4000)]
    file, geometry = index_of(*puts, geometry=Geometry(7, 4000)).save(root), Geometry(7, 4000)

    def read(seen: DamageSink | None) -> Iterator[pa.RecordBatch]:
        return read_index([file], geometry=geometry, batch_entries=512, damage=seen)

    return file, read


def timers(root: Path) -> tuple[StoreFile, Reader]:
    unit = packed(TIMER_UNIT, [(TIMER_UNIT.size, -1, 1, 1_795_000_000_000, 5000, 100, 90, 7, 0)])
    file = many(root, "timerlog/00000000000000000000", unit, (1 << 16) + 5000)
    return file, lambda seen: read_timerlog([file], damage=seen)


@pytest.mark.parametrize("kind", [log, queue, batches, index, timers])
def test_between_two_batches_it_is_a_finding(kind: Callable[[Path], tuple[StoreFile, Reader]], tmp_path: Path) -> None:
    file, read = kind(tmp_path)
    seen = Seen()
    rows = read(seen)
    assert next(rows).num_rows > 0
    os.truncate(file.path, LEFT)
    assert list(rows) == []
    (found,) = seen.rows
    assert (found.kind, found.path) == ("UnreadableFile", file.path)
    assert (found.field, found.expected, found.actual) == ("file size", str(file.size), str(LEFT))


@pytest.mark.parametrize("kind", [log, queue, batches, index, timers])
def test_or_it_is_raised(kind: Callable[[Path], tuple[StoreFile, Reader]], tmp_path: Path) -> None:
    file, read = kind(tmp_path)
    rows = read(None)
    next(rows)
    os.truncate(file.path, LEFT)
    with pytest.raises(UnreadableFile) as raised:
        next(rows)
    assert raised.value.path == file.path


def test_the_regions_of_a_log_still_add_up(tmp_path: Path) -> None:
    file, _ = log(tmp_path)
    regions: list[Region] = []
    rows = read_segment(file, regions=regions.append)
    next(rows)
    os.truncate(file.path, LEFT)
    assert list(rows) == []
    assert [region.kind for region in regions] == ["messages", "damage"]
    assert sum(region.length for region in regions) == file.size


def test_a_deleted_file_is_read_to_its_end(tmp_path: Path) -> None:
    """As a broker does it: the bytes stay while they are mapped."""
    file, read = queue(tmp_path)
    seen = Seen()
    rows = read(seen)
    count = next(rows).num_rows
    file.path.unlink()
    assert count + sum(batch.num_rows for batch in rows) == 5000
    assert seen.rows == []


def test_a_pipe_in_a_files_place_holds_nobody_up(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(UnreadableFile):
        map_file(pipe)
    assert data_end(pipe, 7) == 7
