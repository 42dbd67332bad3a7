"""Stores written by the bare store classes of 3.2.6 to 5.5.1, stopped in order or halted: no damage."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from parsers.checkpoints.checkpoint import read_checkpoint
from parsers.consumequeue.read import read_queue
from parsers.index.geometry import Geometry
from parsers.index.open import open_index
from parsers.index.read import read_index
from parsers.store.store import open_store
from pipelines.notebook.bundles import extract_all
from tests.support.fixtures import GOLDEN
from tests.support.index_slots import wrong_slots

BASES = GOLDEN / "recovery" / "bases"
NAMES = sorted(path.stem for path in BASES.glob("s*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_every_unit_and_entry_is_a_row_and_nothing_is_damage(name: str, tmp_path: Path) -> None:
    with tarfile.open(BASES / f"{name}.tar.gz") as tar:
        extract_all(tar, tmp_path)
    config = json.loads((BASES / f"{name}.json").read_text())["config"]
    store = open_store(tmp_path)
    assert store.checkpoint is not None
    read_checkpoint(store.checkpoint)
    units = sum(batch.num_rows for files in store.queues.values() for batch in read_queue(files))
    opened = open_index(store.index)
    entries = sum(batch.num_rows for batch in read_index(store.index))
    assert units > 100
    assert entries == sum(found.header["index_count"] - 1 for found in opened) > units
    assert {found.geometry for found in opened} == {Geometry(int(config["maxHashSlotNum"]), int(config["maxIndexNum"]))}
    assert [at for found in opened for at in wrong_slots(found)] == []
