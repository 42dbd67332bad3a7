"""Bytes written into new files: all of them, or an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from parsers.index.geometry import DEFAULT_GEOMETRY
from recovery.rebuild.new_files import write_piece
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from tests.support.build_store import SETTINGS, VERSION, shop
from tests.support.opened import opened

whole_pwrite = os.pwrite


def test_what_the_system_takes_in_parts_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: whole_pwrite(file, data[:7], at))
    write_piece(tmp_path / "new", 100, 10, bytes(range(1, 31)))
    assert (tmp_path / "new").read_bytes() == bytes(10) + bytes(range(1, 31)) + bytes(60)


@pytest.mark.parametrize("folder", ["consumequeue", "index"])
def test_a_full_disk_is_an_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """The system writes the bytes that there is room for, and refuses the rest."""
    store = opened(shop(tmp_path / "store").finish(), VERSION, SETTINGS)
    room = 30

    def into_the_rest(file: int, data: memoryview, at: int) -> int:
        nonlocal room
        if f"/{folder}/" not in os.readlink(f"/proc/self/fd/{file}"):
            return whole_pwrite(file, data, at)
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = whole_pwrite(file, data[:room], at)
        room -= written
        return written

    monkeypatch.setattr(os, "pwrite", into_the_rest)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        rebuild(*store, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_an_index_file_takes_no_room_for_slots_without_entries(tmp_path: Path) -> None:
    rebuild(*opened(shop(tmp_path / "store").finish(), VERSION, StoreSettings()), tmp_path / "new")
    (index,) = (tmp_path / "new" / "index").iterdir()
    assert index.stat().st_size == DEFAULT_GEOMETRY.file_size
    assert index.stat().st_blocks * 512 < DEFAULT_GEOMETRY.entries_at
