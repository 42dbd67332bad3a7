"""Queues of batches beside a log: what ordinary life leaves of them, and what is damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from parsers.consumequeue.batch import BATCH_UNIT
from parsers.store.store import open_store
from recovery.verify.verify import Verification, verify
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import store_root

QUEUE = ("Mini2", 0)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-batchfiles"), root)
    return root


def units_of(root: Path) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    files = open_store(root).batch_queues[QUEUE]
    units = np.concatenate([BATCH_UNIT.array(file.path.read_bytes()) for file in files])
    return units[units["msg_size"] > 0]


def judged(root: Path) -> Verification:
    return verify(*opened(root))


def begin_log_at(root: Path, physical_offset: int) -> None:
    """Leave the log from that record on, as a file of its own."""
    (log,) = (root / "commitlog").iterdir()
    content = log.read_bytes()
    (root / "commitlog" / f"{physical_offset:020d}").write_bytes(content[physical_offset:])
    log.unlink()


def zero_from(root: Path, number: int) -> None:
    """Zero the queue's units from one on."""
    for file in open_store(root).batch_queues[QUEUE]:
        content = bytearray(file.path.read_bytes())
        first = (file.base_offset or 0) // BATCH_UNIT.size
        at = max(0, number - first) * BATCH_UNIT.size
        content[at:] = bytes(len(content[at:]))
        file.path.write_bytes(content)


def test_units_of_expired_messages_are_explained(store: Path) -> None:
    units = units_of(store)
    begin_log_at(store, int(units["physical_offset"][len(units) // 2]))
    verification = judged(store)
    kinds = {found.kind for found in verification.findings if found.span.topic == QUEUE[0]}
    heads = [state for state in verification.explained if state.what == "expired head" and state.span.topic == QUEUE[0]]
    assert kinds == set()
    assert sum(place.length for state in heads if state.span.queue_id == 0 for place in state.places) == (
        len(units) // 2 * BATCH_UNIT.size
    )


def test_a_unit_of_an_expired_message_behind_living_ones_is_found(store: Path) -> None:
    units = units_of(store)
    begin_log_at(store, int(units["physical_offset"][len(units) // 2]))
    first, *_, last = (file.path for file in open_store(store).batch_queues[QUEUE])
    content = bytearray(last.read_bytes())
    content[: BATCH_UNIT.size] = first.read_bytes()[: BATCH_UNIT.size]
    last.write_bytes(content)
    assert "unit_into_deleted_log" in {found.kind for found in judged(store).findings}


@pytest.mark.parametrize("abort", [False, True])
def test_what_dispatch_had_not_reached_is_no_disagreement_after_a_crash(abort: bool, store: Path) -> None:
    for root in ("consumequeue", "batchconsumequeue"):
        for queue in (store / root).glob("*/*"):
            if (queue.parent.name, queue.name) != (QUEUE[0], str(QUEUE[1])):
                shutil.rmtree(queue)
    zero_from(store, 3)
    if abort:
        (store / "abort").touch()
    verification = judged(store)
    kinds = {found.kind for found in verification.findings if found.span.topic == QUEUE[0]}
    waits = [state for state in verification.explained if state.what == "not dispatched yet"]
    assert ("not_dispatched_yet" in kinds) is not abort
    assert bool(waits) is abort
    assert "not_dispatched" not in kinds


def test_a_unit_behind_the_log_is_found(store: Path) -> None:
    last = open_store(store).batch_queues[QUEUE][-1].path
    content = bytearray(last.read_bytes())
    content[: BATCH_UNIT.offsets["msg_size"]] = (1 << 40).to_bytes(8, "big")
    last.write_bytes(content)
    assert {found.kind for found in judged(store).findings} == {"unit_beyond_log", "not_dispatched"}
