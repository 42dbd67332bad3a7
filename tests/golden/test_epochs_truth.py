"""Epoch files of real controller-mode stores, against what EpochFileCache held."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parsers.checkpoints.epochs import Epoch, encode_epochs, read_epochs
from parsers.store.store import open_store
from parsers.values.java import LONG_MAX
from tests.support.cli import call
from tests.support.replicas import copy_of
from tests.support.stores import store_names, store_root, truth


@pytest.mark.parametrize("name", store_names("autoswitch"))
def test_epochs_equal_the_brokers(name: str) -> None:
    read = read_epochs(open_store(store_root(name)).epochs)
    assert read is not None
    file, epochs = read
    assert file.name == "epochFileCheckpoint"
    held = truth(name, "store_state.json")["epochs"]
    ends = [None if entry["endOffset"] == LONG_MAX else entry["endOffset"] for entry in held]
    assert epochs == tuple(
        Epoch(entry["epoch"], entry["startOffset"], end) for entry, end in zip(held, ends, strict=True)
    )
    assert encode_epochs(epochs) == file.path.read_bytes()


def test_commands_read_epochs_elsewhere(tmp_path: Path) -> None:
    """A copy whose epochs lie in a file of another name beside it has the same answers as the store."""
    name = store_names("autoswitch")[0]
    root, epochs = copy_of(store_root(name), tmp_path / "store"), tmp_path / "masters.txt"
    asked = [("dump", "epochs", root), ("compare", root, root), ("forecast", root), ("verify", root)]
    before = [call(*each, "--config", "enableControllerMode=true") for each in asked]
    (root / "epochFileCheckpoint").rename(epochs)
    (root / "epochFileCheckpoint.bak").unlink(missing_ok=True)
    said = ("--config", "enableControllerMode=true", "--config", f"storePathEpochFile={epochs}")
    after = [call(*each, *said) for each in asked]
    assert "no epochFileCheckpoint" in call("dump", "epochs", root).err
    assert [told.code for told in after] == [told.code for told in before]
    assert [told.out for told in after[1:]] == [told.out for told in before[1:]]
    assert [row | {"file": None} for row in map(json.loads, after[0].out.splitlines())] == [
        row | {"file": None} for row in map(json.loads, before[0].out.splitlines())
    ]


def test_one_file_of_epochs_is_not_taken_for_two_replicas(tmp_path: Path) -> None:
    """A path outside the roots would be one replica's alone; one that counts from the roots is each one's own."""
    epochs = tmp_path / "masters.txt"
    roots = [copy_of(store_root(name), tmp_path / name[-1] / "store") for name in store_names("autoswitch")[:2]]
    before = call("compare", *roots)
    for root in roots:
        (root / "epochFileCheckpoint").rename(root.parent / "masters.txt")
    epochs.write_bytes((roots[0].parent / "masters.txt").read_bytes())
    told = call("compare", *roots, "--config", f"storePathEpochFile={epochs}")
    assert (told.code, "each replica has its own" in told.err) == (2, True)
    followed = call("compare", *roots, "--config", "storePathEpochFile=../masters.txt")
    assert json.loads(followed.out) == json.loads(before.out)


def test_a_store_without_epochs_may_have_them_elsewhere() -> None:
    """MessageStoreConfig#getStorePathEpochFile: another place when it is set, and ~/store before 5.1.1."""
    told = call("dump", "epochs", store_root("5.3.3-clean"))
    assert told.code == 3
    assert "storePathEpochFile" in told.err
