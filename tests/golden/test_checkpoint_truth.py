"""The checkpoint of real brokers' stores, against what StoreCheckpoint itself read from it."""

from __future__ import annotations

import pytest

from parsers.checkpoints.checkpoint import Checkpoint, read_checkpoint
from parsers.store.store import open_store
from tests.support.stores import store_names, store_root, truth


@pytest.mark.parametrize("name", store_names(subject="checkpoint"))
def test_checkpoint_equals_the_brokers(name: str) -> None:
    state = truth(name, "store_state.json")
    expected = state["checkpointAfterShutdown"]
    major, minor, patch = map(int, state["version"].split("."))
    file = open_store(store_root(name)).checkpoint
    assert file is not None
    found = read_checkpoint(file, version=(major, minor, patch))
    assert isinstance(found, Checkpoint)
    assert found.physic_msg_timestamp == expected["PhysicMsgTimestamp"]
    assert found.logics_msg_timestamp == expected["LogicsMsgTimestamp"]
    assert found.index_msg_timestamp == expected["IndexMsgTimestamp"]
    assert found.master_flushed_offset == expected.get("MasterFlushedOffset")
    assert found.confirm_physical_offset == expected.get("ConfirmPhyOffset")
    assert found.min_timestamp == expected["MinTimestamp"]
    assert found.min_timestamp_index == expected["MinTimestampIndex"]
    if found.logics_physical_offset is not None:
        assert 0 <= found.logics_physical_offset < state["maxPhyAfterShutdown"]
    assert (found.logics_physical_offset is None) == ((major, minor, patch) < (5, 5, 0))
