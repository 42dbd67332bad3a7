"""The log of a table: what `vacuum` leaves of it is enough to read every version that is kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from pipelines.lake.delta import commit as committing
from pipelines.lake.delta.log import LOG_FOLDER
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import WATERMARKS
from pipelines.lake.vacuum import leftovers, remove

DAY_S = 86_400
NAME = WATERMARKS.name


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Versions 0 to 9 of a table with one row each, those up to 7 two days old; checkpoints at 2, 5 and 8."""
    monkeypatch.setattr(committing, "CHECKPOINT_EVERY", 3)
    lake = Lake(tmp_path / "lake")
    while (lake.version(NAME) or 0) < 9:
        write(lake, (lake.version(NAME) or 0) + 1)
    for version in range(8):
        old = time.time() - 2 * DAY_S + version
        os.utime(log(lake) / f"{version:020d}.json", (old, old))
    assert names(lake) == [*range(10)]
    assert names(lake, ".checkpoint.parquet") == [2, 5, 8]
    return lake


def write(lake: Lake, number: int) -> None:
    row = {"broker": "b", "physical_offset": number}
    lake.write(NAME, pa.Table.from_pylist([row], schema=WATERMARKS.bare_schema))


def log(lake: Lake) -> Path:
    return lake.table_root(NAME) / LOG_FOLDER


def names(lake: Lake, ending: str = ".json") -> list[int]:
    return sorted(int(path.name.split(".")[0]) for path in log(lake).iterdir() if path.name.endswith(ending))


def vacuumed(lake: Lake) -> None:
    for left in list(leftovers(lake, keep_days=1)):
        remove(left)


def at(lake: Lake, version: int) -> list[int]:
    table = DeltaTable(str(lake.table_root(NAME)), version=version)
    (part,) = table.file_uris()
    return [int(row["physical_offset"]) for row in pa.parquet.read_table(part).to_pylist()]


def test_the_log_begins_at_the_checkpoint_of_the_oldest_kept_version(lake: Lake) -> None:
    vacuumed(lake)
    assert names(lake) == [5, 6, 7, 8, 9]
    assert names(lake, ".checkpoint.parquet") == [5, 8]
    assert {version: at(lake, version) for version in (7, 8, 9)} == {7: [7], 8: [8], 9: [9]}
    assert list(leftovers(lake, keep_days=1)) == []


def test_a_table_goes_on_behind_a_shortened_log(lake: Lake) -> None:
    vacuumed(lake)
    write(lake, 10)
    assert lake.query(f"SELECT physical_offset FROM {NAME}").to_pylist() == [{"physical_offset": 10}]


@pytest.mark.parametrize("bytes_left", [0, 100, 2000])
def test_a_checkpoint_that_the_disk_had_no_room_for_is_no_beginning(bytes_left: int, lake: Lake) -> None:
    os.truncate(log(lake) / f"{5:020d}.checkpoint.parquet", bytes_left)
    vacuumed(lake)
    assert names(lake) == [*range(2, 10)]
    os.unlink(log(lake) / f"{5:020d}.checkpoint.parquet")
    assert {version: at(lake, version) for version in (7, 9)} == {7: [7], 9: [9]}
