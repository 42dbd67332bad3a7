"""What a command says of a store before it answers."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.stores import store_root


def test_files_that_are_not_understood_are_named_by_reason(tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-propcrc"), root)
    for name in ("transrocksdb/CURRENT", "transrocksdb/000004.log", "notes.txt", "alone.tmp/00"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"x")
    (note,) = (line for line in call("queues", root).err.splitlines() if "left out" in line)
    assert "transrocksdb/ (2 files: RocksDB database of transactions)" in note
    assert "alone.tmp/00 and 1 more (not a place where a broker writes store files)" in note


def test_a_version_that_nobody_has_files_of_is_named(tmp_path: Path) -> None:
    store = store_root("3.2.6-clean")
    for version, is_named in (("3.5.8", True), ("3.2.6", False), ("4.2.0", False)):
        called = call("rebuild", store, "--version", version, "--to", tmp_path / version)
        assert (f"{version} is by specification" in called.err) == is_named
