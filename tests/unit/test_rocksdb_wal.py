"""What a broker that was killed leaves in a database: writes that are only in its write-ahead log."""

from __future__ import annotations

from pathlib import Path

import pytest
from rocksdict import Options, Rdict

from parsers.rocksdb.database import Database
from tests.support.copies import copy_tree

ROWS = 1000


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A database as it is while it is written to, nothing of it in a table yet."""
    running = Rdict(str(tmp_path / "running"), options=Options(raw_mode=True))
    for number in range(ROWS):
        running[number.to_bytes(4, "big")] = bytes(40)
    copy_tree(tmp_path / "running", tmp_path / "killed")
    running.close()
    return tmp_path / "killed"


def wal_of(folder: Path) -> Path:
    return max(folder.glob("*.log"), key=lambda path: path.stat().st_size)


def rows_and_flaws(folder: Path) -> tuple[int, int]:
    with Database(folder) as opened:
        return sum(len(pairs) for pairs in opened.pairs("default")), len(opened.flaws)


def test_writes_that_are_only_in_the_log_are_read(killed: Path) -> None:
    stored = wal_of(killed).read_bytes()
    assert rows_and_flaws(killed) == (ROWS, 0)
    assert wal_of(killed).read_bytes() == stored


def test_a_torn_end_is_normal(killed: Path) -> None:
    wal = wal_of(killed)
    stored = wal.read_bytes()
    wal.write_bytes(stored[: len(stored) // 2])
    rows, flaws = rows_and_flaws(killed)
    assert 0 < rows < ROWS
    assert flaws == 0


def test_a_flip_is_told_and_ends_the_log_as_for_its_broker(killed: Path) -> None:
    wal = wal_of(killed)
    stored = bytearray(wal.read_bytes())
    stored[len(stored) // 2] ^= 1
    wal.write_bytes(stored)
    rows, flaws = rows_and_flaws(killed)
    assert 0 < rows < ROWS
    assert flaws == 1
