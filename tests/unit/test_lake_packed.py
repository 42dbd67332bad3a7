"""Tables whose parts hold the rows of many files: few parts, and a file's rows are replaced without touching others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.demo import BUNDLE
from pipelines.ingest.ingest import IngestReport, ingest_store
from pipelines.lake.check import faults
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta import packed
from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.errors import LakeMismatch, OtherPartitions, PartsMissing
from pipelines.lake.delta.packed import repack
from pipelines.lake.delta.parts import files_in, write_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import CONSUMEQUEUE_UNITS, STORE_FILES
from pipelines.lake.tables.table import Table
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark

UNITS = CONSUMEQUEUE_UNITS.name


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def units(lake: Lake, file: str, count: int, *, broker: str = "b") -> None:
    """Put `count` units of a file in place of what the table has of it, as an ingest does."""
    root = lake.table_root(UNITS)
    rows = [{"broker": broker, "file": file, "queue_offset": number} for number in range(count)]
    table = pa.Table.from_pylist(rows, schema=CONSUMEQUEUE_UNITS.bare_schema)
    new = write_parts(CONSUMEQUEUE_UNITS, root, "new", table.to_batches())
    made = repack(CONSUMEQUEUE_UNITS, root, "packed", new, [(broker, file)], frozenset())
    for part in made.unneeded:
        (root / part.path).unlink()
    commit(CONSUMEQUEUE_UNITS, root, made.parts, [], without=made.without)


def held(lake: Lake) -> dict[str, int]:
    rows = lake.query(f"SELECT file, count(*)::INT AS n FROM {UNITS} GROUP BY ALL ORDER BY ALL").to_pylist()
    counted = {row["file"]: row["n"] for row in rows}
    assert {file: n for (_, file), n in lake.file_rows(UNITS).items()} == counted
    return counted


def test_rows_of_a_file_are_replaced_and_small_parts_become_one(lake: Lake) -> None:
    for file, count in (("f", 3), ("g", 2), ("h", 4)):
        units(lake, file, count)
    assert len(lake.files(UNITS)) == 1
    units(lake, "g", 7)
    assert held(lake) == {"f": 3, "g": 7, "h": 4}
    units(lake, "f", 0)
    assert held(lake) == {"g": 7, "h": 4}
    assert len(lake.files(UNITS)) == 1


def test_a_large_part_is_left_alone_until_a_file_of_it_is_replaced(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "SMALL_ROWS", 5)
    units(lake, "old", 9)
    (large,) = lake.files(UNITS)
    units(lake, "f", 2)
    units(lake, "g", 2)
    assert large in lake.files(UNITS)
    assert len(lake.files(UNITS)) == 2
    units(lake, "old", 8)
    assert large not in lake.files(UNITS)
    assert held(lake) == {"f": 2, "g": 2, "old": 8}


def test_other_brokers_parts_are_left_alone(lake: Lake) -> None:
    units(lake, "f", 3, broker="a")
    (other,) = lake.files(UNITS)
    units(lake, "f", 2, broker="b")
    units(lake, "f", 4, broker="b")
    assert other in lake.files(UNITS)
    assert lake.file_rows(UNITS) == {("a", "f"): 3, ("b", "f"): 4}


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(b"PAR1")])
def test_a_part_that_cannot_be_read_is_named_and_nothing_is_written(
    lake: Lake, spoil: Callable[[Path], object]
) -> None:
    units(lake, "f", 3)
    spoil(Path(lake.files(UNITS)[0]))
    with pytest.raises(PartsMissing, match=r"not there or not whole: `rocketlens check-lake --repair`"):
        units(lake, "g", 1)
    assert lake.rows(UNITS) == 3


def test_an_ingest_makes_one_part_of_many_small_files(lake: Lake, tmp_path: Path) -> None:
    demo, store = unpack_store(BUNDLE, tmp_path / "demo"), tmp_path / "store"
    for name in ("commitlog", "consumequeue"):
        copy_tree(demo / name, store / name)
    ingest_store(plain_spark(), lake, BrokerSource("b", store, version="5.3.3"), IngestReport())
    queues = [path for path in (store / "consumequeue").rglob("*") if path.is_file()]
    (part,) = lake.files(UNITS)
    assert len(files_in(Path(part))) == len(queues) > 30
    assert len(lake.files(STORE_FILES.name)) == 1
    assert sum(held(lake).values()) == lake.rows("commitlog_messages")


def test_a_table_with_partitions_of_an_earlier_version_is_not_written_to(lake: Lake) -> None:
    earlier = Table(UNITS, CONSUMEQUEUE_UNITS.grain, CONSUMEQUEUE_UNITS.columns, ("broker", "file"))
    commit(earlier, lake.table_root(UNITS), [], None)
    with pytest.raises(LakeMismatch, match="move this folder to another place and keep it"):
        units(lake, "f", 1)


def test_a_lake_with_parts_of_an_earlier_version_says_so_everywhere(lake: Lake, tmp_path: Path) -> None:
    earlier = Table(UNITS, CONSUMEQUEUE_UNITS.grain, CONSUMEQUEUE_UNITS.columns, ("broker", "file"))
    root, demo = lake.table_root(UNITS), unpack_store(BUNDLE, tmp_path)
    rows = pa.Table.from_pylist([{"broker": "b", "file": "f", "queue_offset": 1}], schema=earlier.bare_schema)
    commit(earlier, root, write_parts(earlier, root, "earlier", rows.to_batches()), None)
    with pytest.raises(OtherPartitions, match="move this folder to another place and keep it"):
        ingest_store(plain_spark(), lake, BrokerSource("b", demo, version="5.3.3"), IngestReport())
    assert (UNITS, OtherPartitions.WHAT) in {(fault.table, fault.what) for fault in faults(lake)}
    assert lake.rows(UNITS) == 1, "it can still be counted and read"
    assert lake.query(f"SELECT queue_offset FROM {UNITS}")["queue_offset"].to_pylist() == [1]


def test_a_new_column_is_no_other_process(lake: Lake, tmp_path: Path) -> None:
    columns = CONSUMEQUEUE_UNITS.columns[:-1]
    commit(Table(UNITS, CONSUMEQUEUE_UNITS.grain, columns, ("broker",)), lake.table_root(UNITS), [], None)
    demo = unpack_store(BUNDLE, tmp_path)
    ingest_store(plain_spark(), lake, BrokerSource("b", demo, version="5.3.3"), IngestReport())
    assert lake.rows(UNITS) > 0
