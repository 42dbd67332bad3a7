"""Advice followed to the letter on copies of stores that real brokers left: it loses nothing that it did not name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recovery.rebuild.in_place import WHICH_IN_PLACE
from tests.golden.test_incident_config import copied
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names

LOST_QUEUE = {
    "disk-full-clean": "Bulk/0",
    "offsets-reset": "TOld/0",
    "topic-recreated": "Stock/1",
    "topic-deleted": "Payments/1",
}
"""A queue of each incident, with messages that its log still has."""


@pytest.fixture
def root(name: str, tmp_path: Path) -> Path:
    copy_tree(incident(name).root, tmp_path / "store")
    return tmp_path / "store"


def asked(command: str, root: Path, name: str, *more: str) -> list[dict[str, Any]]:
    return call(command, root, "--version", incident(name).version, *more).rows


def advised(root: Path, name: str) -> set[str]:
    """What to do about findings that say something is missing."""
    found = asked("verify", root, name)
    return {row["repair"] for row in found if row["kind"] in ("queue_missing", "index_keys_missing")}


def put_in_place(root: Path, name: str, repair: str) -> None:
    """What the words say, and no more."""
    new = root.parent / "new"
    called = call("rebuild", root, "--version", incident(name).version, "--to", new)
    (report,) = called.rows
    expired = {(each["topic"], each["queue_id"]) for each in report["expired"]}
    if "index/" in repair:
        shutil.move(root / "index", root.parent / "kept-index")
        copy_tree(new / "index", root / "index")
    if "consumequeue/" not in repair:
        return
    if called.code == 0 or WHICH_IN_PLACE not in repair:
        shutil.move(root / "consumequeue", root.parent / "kept-queues")
        copy_tree(new / "consumequeue", root / "consumequeue")
        return
    for folder in (new / "consumequeue").glob("*/*"):
        assert (folder.parent.name, int(folder.name)) not in expired
        copy_tree(folder, root / folder.relative_to(new), into_existing=True)


@pytest.mark.parametrize("name", incident_names(*LOST_QUEUE))
def test_a_lost_queue_comes_back_and_no_other_one_goes(name: str, root: Path) -> None:
    whole = {command: asked(command, root, name) for command in ("queues", "verify", "lag")}
    shutil.rmtree(root / "consumequeue" / LOST_QUEUE[name.partition("-")[2]])
    (repair,) = advised(root, name)
    put_in_place(root, name, repair)
    ends = [
        {k: row[k] for k in ("topic", "queue_id", "min_queue_offset", "max_queue_offset")} for row in whole["queues"]
    ]
    assert [{k: row[k] for k in ends[0]} for row in asked("queues", root, name)] == ends
    assert asked("lag", root, name) == whole["lag"]
    kinds = Counter(row["kind"] for row in whole["verify"])
    assert Counter(row["kind"] for row in asked("verify", root, name)) == kinds
    assert lost(root, name) == {"message": 0, "queue_unit": 0, "index_entries": 0}


@pytest.mark.parametrize("name", incident_names("offsets-reset", "disk-full-clean"))
def test_expired_queues_are_named_also_where_their_folders_were_not_copied(name: str, root: Path) -> None:
    """Offsets tell of queues that the log has no message of: the new folder must not take the place of the broker's."""
    whole = call("rebuild", root, "--version", incident(name).version, "--to", root.parent / "whole")
    offsets = call("dump", "config", root, "--table", "offset_snapshots").rows
    stored = {(row["topic"], row["queue_id"]) for row in offsets if row["consumer_offset"]}
    of_groups = [each for each in whole.rows[0]["expired"] if (each["topic"], each["queue_id"]) in stored]
    shutil.rmtree(root / "consumequeue")
    bare = call("rebuild", root, "--version", incident(name).version, "--to", root.parent / "bare")
    assert bare.rows[0]["expired"] == of_groups
    assert bare.code == (1 if of_groups else 0)


def lost(root: Path, name: str) -> dict[str, int]:
    called = call("forecast", root, "--version", incident(name).version)
    counts: dict[str, int] = json.loads(called.out)["lost_counts"]
    return counts


@pytest.mark.parametrize("name", incident_names("index-lost"))
def test_a_lost_index_comes_back_whole(name: str, root: Path) -> None:
    (repair,) = advised(root, name)
    put_in_place(root, name, repair)
    assert asked("verify", root, name) == []
    examples = [each for each in incident(name).told()["answers"]["examples"] if each["inLog"]]
    assert examples != []
    for each in examples:
        found = asked("find", root, name, "--topic", each["topic"], "--key", each["key"])
        assert {row["physical_offset"] for row in found} >= set(each["physicalOffsetsInLog"])


REFUSED = [
    (name, row["id"])
    for name in incident_names("config-broken")
    for row in incident(name).lines("config_cases.jsonl.gz")
    if not row["truth"]["answer"]["starts"]
]


@pytest.mark.parametrize(("name", "number"), REFUSED)
def test_a_refused_start_comes_to_what_a_broker_without_the_files_did(name: str, number: str, tmp_path: Path) -> None:
    """There is no backup, so the advice is to move the files out; the broker that had none was recorded, too."""
    cases = {row["id"]: row for row in incident(name).lines("config_cases.jsonl.gz")}
    row, root = cases[number], copied(incident(name).root, tmp_path / "store")
    for edit in row["edits"]:
        path = root / edit["path"]
        path.write_bytes(bytes.fromhex(edit["hex"])) if edit["op"] == "create" else path.unlink()
    told = json.loads(call("forecast", root, "--version", row["version"]).out)
    first, *others = told["advice"]
    assert first["do"] == "copy config/ before any start, also before one that fails"
    copy_tree(root / "config", tmp_path / "kept")
    (advice,) = [each for each in others if each["do"].startswith("copy config/ first; then put backups of")]
    for file in advice["files"]:
        (root / file).unlink(missing_ok=True)
    without = next(each for each in cases.values() if (each["file"], each["damage"]) == (row["file"], "both missing"))
    truth = without["truth"]["answer"]
    after = json.loads(call("forecast", root, "--version", row["version"]).out)
    assert after["config"]["initialize"] is truth["starts"] is advice["then"]["starts"] is True
    assert set(after["config"]["lost"]["groups_without_offsets"]) == {
        each.partition("@")[2].partition("#")[0] for each in truth["offsetsLost"]
    }
    assert after["config"]["destroyed"] == []
