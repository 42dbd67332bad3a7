"""What tells that a store file has changed: its last written page, also after the zeros of a body."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store.file_state import LONGEST_ZEROS, PAGE, state_of
from parsers.store.store_file import StoreFile, locate

SIZE = 64 << 20


def log_file(tmp_path: Path, *pieces: tuple[int, bytes], holes: bool = True) -> StoreFile:
    path = tmp_path / "commitlog" / f"{0:020d}"
    path.parent.mkdir(exist_ok=True)
    if holes:
        with open(path, "wb") as file:
            file.truncate(SIZE)
    else:
        path.write_bytes(bytes(SIZE))
    add(path, *pieces)
    return locate(path)


def add(path: Path, *pieces: tuple[int, bytes]) -> None:
    with open(path, "r+b") as file:
        for at, content in pieces:
            file.seek(at)
            file.write(content)


@pytest.mark.parametrize("holes", [True, False])
def test_a_tail_behind_a_body_of_zeros_is_seen(tmp_path: Path, holes: bool) -> None:
    tail = 30 << 20
    file = log_file(tmp_path, (0, b"\1" * (tail - LONGEST_ZEROS)), (tail - PAGE, b"\1"), holes=holes)
    before = state_of(file)
    assert before is not None
    assert before.written_until == tail
    add(file.path, (tail + 5, b"\1"))
    after = state_of(file)
    assert after is not None
    assert (before.mark, before.written_until) != (after.mark, after.written_until)


@pytest.mark.parametrize("written", [0, 1, PAGE, PAGE + 1, 5 * PAGE, SIZE - PAGE, SIZE])
@pytest.mark.parametrize("holes", [True, False])
def test_a_file_that_is_filled_from_its_start_ends_where_it_is_written_to(
    tmp_path: Path, written: int, holes: bool
) -> None:
    state = state_of(log_file(tmp_path, (0, b"\1" * written), holes=holes))
    assert state is not None
    assert state.written_until == -(-written // PAGE) * PAGE
