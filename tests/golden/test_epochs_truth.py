"""Epoch files of real controller-mode stores, against what EpochFileCache held."""

from __future__ import annotations

import pytest

from parsers.checkpoints.epochs import Epoch, encode_epochs, read_epochs
from parsers.store.store import open_store
from parsers.values.java import LONG_MAX
from tests.support.cli import call
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


def test_a_store_without_epochs_may_have_them_elsewhere() -> None:
    """MessageStoreConfig#getStorePathEpochFile: another place when it is set, and ~/store before 5.1.1."""
    told = call("dump", "epochs", store_root("5.3.3-clean"))
    assert told.code == 3
    assert "storePathEpochFile" in told.err
