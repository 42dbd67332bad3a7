"""Where a file's data is: no byte that is not zero is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.evidence.extents import data_end, data_windows

HOLE = 1 << 20


@pytest.mark.parametrize("places", [(), (0,), (HOLE - 1,), (0, 5 * HOLE), (7 * HOLE, 9 * HOLE + 17)])
def test_no_written_byte_lies_behind_the_end(tmp_path: Path, places: tuple[int, ...]) -> None:
    path = _with_bytes_at(tmp_path, places)
    last = max((place + 1 for place in places), default=0)
    assert last <= data_end(path, 10 * HOLE) <= (last + HOLE if _keeps_holes(path, places) else 10 * HOLE)


def test_a_file_of_no_bytes_ends_at_0_and_one_that_was_deleted_where_its_map_does(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert data_end(tmp_path / "empty", 0) == 0
    assert data_end(tmp_path / "deleted", HOLE) == HOLE


@pytest.mark.parametrize("places", [(), (0,), (HOLE - 1,), (0, 5 * HOLE), (7 * HOLE, 9 * HOLE + 17)])
@pytest.mark.parametrize(("at", "end"), [(0, 10 * HOLE), (HOLE // 2, 9 * HOLE), (5 * HOLE, 5 * HOLE + 1), (7, 7)])
def test_windows_hold_every_written_byte_once_and_begin_and_end_in_no_hole(
    tmp_path: Path, places: tuple[int, ...], at: int, end: int
) -> None:
    path = _with_bytes_at(tmp_path, places)
    windows = list(data_windows(path, at, end, HOLE // 4))
    asked = [number for pair in windows for number in pair]
    assert asked == sorted(asked)
    assert all(at <= start < stop <= min(end, start + HOLE // 4) for start, stop in windows)
    wanted = [place for place in places if at <= place < end]
    assert [place for place in wanted if any(start <= place < stop for start, stop in windows)] == wanted
    if _keeps_holes(path, places):
        assert sum(stop - start for start, stop in windows) <= len(wanted) * HOLE // 4


def test_all_of_a_file_that_was_deleted_is_a_window(tmp_path: Path) -> None:
    assert list(data_windows(tmp_path / "deleted", 3, HOLE, HOLE)) == [(3, HOLE)]


def _with_bytes_at(folder: Path, places: tuple[int, ...]) -> Path:
    path = folder / "00000000000000000000"
    with path.open("wb") as file:
        file.truncate(10 * HOLE)
        for place in places:
            file.seek(place)
            file.write(b"x")
    return path


def _keeps_holes(path: Path, places: tuple[int, ...]) -> bool:
    return path.stat().st_blocks * 512 <= len(places) * HOLE
