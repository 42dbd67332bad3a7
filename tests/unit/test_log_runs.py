"""Parts of a log file, cut anywhere: their runs and gaps are those of the whole file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.store.store import open_store
from parsers.store.store_file import StoreFile
from recovery.scan.log_runs import LogGap, runs_between
from tests.support.build_store import overwrite, shop


@pytest.fixture
def file(tmp_path: Path) -> StoreFile:
    """Records, two stretches of damage with records between them, zeros in the middle, and an unwritten end."""
    builder = shop(tmp_path / "store", 9)
    path = builder.root / "commitlog" / f"{0:020d}"
    for number in (2, 5):
        overwrite(path, builder.records[number].physical_offset + 4, b"\0\0\0\1")
    overwrite(path, builder.records[6].physical_offset, bytes(builder.records[6].total_size))
    return open_store(builder.root).commitlog[0]


def seen(file: StoreFile, *cuts: int) -> tuple[list[int], list[LogGap]]:
    positions: list[int] = []
    gaps: list[LogGap] = []
    for start, end in zip((0, *cuts), (*cuts, file.size), strict=True):
        for run in runs_between(file, start, end, gaps.append):
            assert all(start <= at < end for at in run.positions.tolist())
            positions += run.positions.tolist()
    return positions, gaps


def test_any_two_parts_have_what_the_whole_file_has(file: StoreFile) -> None:
    positions, gaps = whole = seen(file)
    assert len(positions) == 6
    assert [gap.kind for gap in gaps] == ["damage", "damage", "unwritten"]
    for cut in range(1, file.size):
        assert seen(file, cut) == whole, cut


def test_zeros_that_reach_back_into_the_record_before_are_counted(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store", 9)
    place = builder.records[6].physical_offset
    overwrite(builder.root / "commitlog" / f"{0:020d}", place - 3, bytes(20))
    gap, _ = seen(open_store(builder.root).commitlog[0])[1]
    assert (gap.file_pos, gap.torn_before) == (place, 3)


def test_parts_of_a_few_bytes_have_it_too(file: StoreFile) -> None:
    assert seen(file, *range(37, file.size, 37)) == seen(file)


def test_a_file_that_cannot_be_read_is_one_gap_of_its_first_part(file: StoreFile) -> None:
    file.path.unlink()
    positions, gaps = seen(file, 100, 200)
    assert (positions, [(gap.file_pos, gap.length) for gap in gaps]) == ([], [(0, file.size)])


def test_what_is_left_of_a_file_that_became_shorter_is_one_gap(file: StoreFile) -> None:
    gaps: list[LogGap] = []
    runs = runs_between(file, 0, file.size, gaps.append, most=1)
    end = next(runs).end
    os.truncate(file.path, 100)
    assert list(runs) == []
    assert [(gap.file_pos, gap.length, gap.kind) for gap in gaps] == [(end, file.size - end, "damage")]
