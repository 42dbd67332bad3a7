"""Where a file's data ends: never before its last byte that is not zero."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.evidence.extents import data_end

HOLE = 1 << 20


@pytest.mark.parametrize("places", [(), (0,), (HOLE - 1,), (0, 5 * HOLE), (7 * HOLE, 9 * HOLE + 17)])
def test_no_written_byte_lies_behind_the_end(tmp_path: Path, places: tuple[int, ...]) -> None:
    path = tmp_path / "00000000000000000000"
    with path.open("wb") as file:
        file.truncate(10 * HOLE)
        for place in places:
            file.seek(place)
            file.write(b"x")
    last = max((place + 1 for place in places), default=0)
    keeps_holes = path.stat().st_blocks * 512 <= len(places) * HOLE
    assert last <= data_end(path, 10 * HOLE) <= (last + HOLE if keeps_holes else 10 * HOLE)


def test_a_file_of_no_bytes_ends_at_0_and_one_that_was_deleted_where_its_map_does(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert data_end(tmp_path / "empty", 0) == 0
    assert data_end(tmp_path / "deleted", HOLE) == HOLE
