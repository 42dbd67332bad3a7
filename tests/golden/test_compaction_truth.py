"""Compacted queues against the brokers that wrote them, and against what the store's own classes do with them.

`tests/golden/compaction/VERSION` has four phases of two topics, each as it was before a pass: what pulls got, and which
messages the pass left; and what load() made of damaged copies of the last phase.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from parsers.compaction.copies import read_copies
from parsers.compaction.positions import NO_PASS, read_positions
from parsers.compaction.schema import COPY_SCHEMA
from parsers.compaction.sparse_queue import SPARSE_UNIT_SCHEMA, SparseQueue, read_sparse_queue
from parsers.explain.explain import explain_file
from parsers.store.store import open_store
from recovery.broker.compaction import load_compaction
from recovery.broker.mapped_file_queue import LoadFailed
from recovery.broker.store_folder import read_evidence
from recovery.compaction.next_pass import Fate, next_pass
from recovery.compaction.pull import pull
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.golden.make.more_stores.passes import apply
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.stores import store_names, store_root, truth

VERSIONS = ("5.1.4", "5.5.0")
LOADED = {"5.1.0": "5.1.4", "5.1.4": "5.1.4", "5.5.0": "5.5.0"}
"""Versions whose load() was asked, and whose files it was given."""
UNIT_FIELDS = ("position", "msg_size", "tags_code", "store_timestamp_ms", "queue_offset", "message_count")
OUT_OF_THE_LOG = "MESSAGE_WAS_REMOVING"
"""The answer where the first unit leads out of the log: what a pull begins with is asked of the units alone."""


@pytest.mark.parametrize("name", store_names("compaction-before", "compaction-after"))
def test_every_copy_and_unit_equals_the_brokers(name: str) -> None:
    store, expected = open_store(store_root(name)), truth(name, "compaction.json")
    assert {f"{topic}_{queue}" for topic, queue in store.compaction_logs} == expected.keys()
    for (topic, queue_id), files in store.compaction_logs.items():
        told = expected[f"{topic}_{queue_id}"]
        copies = pa.Table.from_batches(read_copies(files), COPY_SCHEMA)
        records = [record for record in told["records"] if record["type"] == "message"]
        for column, field in (("position", "position"), ("queue_offset", "queueOffset"), ("total_size", "size")):
            assert copies[column].to_pylist() == [record[field] for record in records]
        assert copies["keys"].to_pylist() == [record["properties"]["KEYS"] for record in records]
        assert all(copies["crc_ok"].to_pylist())
        unit_files = store.compaction_queues[topic, queue_id]
        units = pa.Table.from_batches(read_sparse_queue(unit_files), SPARSE_UNIT_SCHEMA)
        rows = zip(*(units[field].to_pylist() for field in UNIT_FIELDS), strict=True)
        assert list(map(list, rows)) == [unit for file in told["cqFiles"] for unit in file["units"]]
        queue = SparseQueue.of(unit_files)
        assert (queue.min_queue_offset, queue.max_queue_offset) == (told["cqMinOffset"], told["cqMaxOffset"])
        for file in (*files, *unit_files):
            assert sum(line.length for line in explain_file(file)) == file.size


@pytest.mark.parametrize("version", VERSIONS)
def test_what_pulls_get_and_passes_leave(version: str) -> None:
    told = _truth(version, "passes.json.gz")
    settings = StoreSettings.from_config(told["settings"])
    changes = set()
    for number, phase in enumerate(told["phases"]):
        store = open_store(_phase(version, number))
        positions = read_positions(store.config) or {}
        assert {f"{topic}_{queue}" for topic, queue in store.compaction_logs} == phase.keys()
        for key, files in store.compaction_logs.items():
            queue = SparseQueue.of(store.compaction_queues[key])
            expected = phase[f"{key[0]}_{key[1]}"]
            _assert_pulls(queue, expected["pulls"])
            found = next_pass(files, queue, positions.get(key, NO_PASS), settings, BrokerVersion.parse(version))
            stays = (found.fate == Fate.KEPT) | (found.fate == Fate.WRITTEN_TO)
            assert found.queue_offset[stays].tolist() == expected["left"], (number, key)
            changes.add(found.why)
    assert len(changes) == 4  # passes that change something, fail for two reasons, and have nothing new


@pytest.mark.parametrize("version", LOADED)
def test_what_a_start_loads_of_damaged_copies(version: str, tmp_path: Path) -> None:
    settings = StoreSettings.from_config(_truth(LOADED[version], "passes.json.gz")["settings"])
    told = _truth(version, "loads.json.gz")
    for name, edits in json.loads((GOLDEN / "compaction" / version / "edits.json").read_text()):
        root = tmp_path / name
        copy_tree(_phase(LOADED[version], 3), root)
        apply(root, edits)
        evidence, loads = read_evidence(root, settings), True
        try:
            found = load_compaction(evidence.compacted, BrokerVersion.parse(version), settings)
        except LoadFailed:
            found, loads = {}, False
        assert loads == told[name]["load"], (name, edits)
        there = {f"{topic}_{queue}": one for (topic, queue), one in found.items() if one.why_not is None}
        assert there.keys() == told[name]["queues"].keys(), (name, edits)
        for queue_name, one in there.items():
            expected = told[name]["queues"][queue_name]
            ends = (one.queue.min_queue_offset, one.queue.max_queue_offset, one.log_end)
            assert ends == (expected["min"], expected["max"], expected["logEnd"]), (name, edits)
            _assert_pulls(one.queue, expected["pulls"])


def test_copies_that_do_not_fit_stop_the_start(tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-compaction-before"), root)
    assert _load(root) == (True, True)
    (root / "compaction/compactionCq/Latest/0/00000000000000000000").unlink()
    assert _load(root) == (False, False)


def _load(root: Path) -> tuple[bool, bool]:
    """Whether load() is true, and whether all copies are taken in."""
    told = json.loads(call("forecast", root, "--version", "5.3.3").out)
    without = any("without the copy" in reason["rule"] for reason in told["reasons"])
    return told["load"]["ok"], told["load"]["ok"] and not without


def _assert_pulls(queue: SparseQueue, pulls: list[Any]) -> None:
    for offset, status, next_offset, first, _ in pulls:
        if status == OUT_OF_THE_LOG:
            continue
        found = pull(queue, offset)
        assert (found.status, found.first_queue_offset) == (status, first), offset
        assert first is not None or found.next_queue_offset in (None, next_offset), offset


def _phase(version: str, number: int) -> Path:
    return unpacked(GOLDEN / "compaction" / version / "phases.tar.gz") / f"phase-{number}"


def _truth(version: str, name: str) -> Any:
    return json.loads(gzip.decompress((GOLDEN / "compaction" / version / name).read_bytes()))
