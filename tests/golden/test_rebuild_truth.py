"""Queues and index rebuilt from the logs of real brokers, against their own files and their own classes' rebuild."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.consumequeue.layout import CQ_UNIT
from parsers.store.store import open_store
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.cli import call
from tests.support.opened import opened_golden
from tests.support.stores import CLASSIC_KINDS, QUEUE_KINDS, store_names, store_root, truth

KNOWN = StoreSettings().as_config()


def given(name: str) -> tuple[BrokerVersion, StoreSettings]:
    state = truth(name, "store_state.json")
    pairs = [(key, text) for key, text in state["settings"].items() if key in KNOWN]
    return BrokerVersion.parse(state["version"]), StoreSettings.from_config(pairs)


def hashes(root: Path) -> dict[str, str]:
    """Hash by path for queue files; index files by their place in the order of names, which are creation times."""
    found = {}
    for folder in ("consumequeue", "batchconsumequeue"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                found[path.relative_to(root).as_posix()] = sha256(path.read_bytes()).hexdigest()
    for number, path in enumerate(sorted((root / "index").glob("*"))):
        found[f"index/{number}"] = sha256(path.read_bytes()).hexdigest()
    return found


def rebuilt_hashes(files: list[dict[str, Any]]) -> dict[str, str]:
    """What the broker's classes rebuilt, by the keys of `hashes`."""
    theirs = sorted((file["rebuilt"]["path"], file["rebuilt"]["sha256"]) for file in files)
    index = [sha256 for path, sha256 in theirs if path.startswith("index/")]
    queues = {path: sha256 for path, sha256 in theirs if not path.startswith("index/")}
    return queues | {f"index/{number}": sha256 for number, sha256 in enumerate(index)}


REBUILT = tuple(
    kind for kind in QUEUE_KINDS if kind != "dledger3"
)  # whose restarted brokers did not dispatch all again
TOLD = [(name, told) for told in ("given", "inferred") for name in store_names(*REBUILT, subject="rebuild")]


@pytest.mark.parametrize(("name", "told"), TOLD)
def test_rebuilt_files_are_the_brokers_byte_for_byte(name: str, told: str, tmp_path: Path) -> None:
    version, settings = given(name) if told == "given" else (None, None)
    report = rebuild(*opened_golden(name, version, settings), tmp_path / "new")
    originals = hashes(store_root(name))
    assert len(originals) >= 3
    assert hashes(tmp_path / "new") == originals
    assert report.records == truth(name, "store_state.json")["records"]
    assert report.gaps == ()
    assert bool(report.inferred) is (told == "inferred") or bool(open_store(store_root(name)).batch_queues)


@pytest.mark.parametrize("told", ["given", "inferred"])
@pytest.mark.parametrize("name", store_names(*CLASSIC_KINDS))
def test_rebuilt_files_are_those_the_brokers_classes_rebuild(name: str, told: str, tmp_path: Path) -> None:
    recorded = truth(name, "rebuild.json")
    version, settings = given(name) if told == "given" else (None, None)
    rebuild(*opened_golden(name, version, settings), tmp_path / "new")
    assert recorded["onlyInRebuilt"] == []
    assert hashes(tmp_path / "new") == rebuilt_hashes(recorded["files"])


@pytest.mark.parametrize("name", store_names("dledger3"))
def test_queues_whose_numbers_were_taken_are_named(name: str, tmp_path: Path) -> None:
    """A leader that was cut off, and the one after it, gave one number to two messages; the node's own queue leads to
    the later ones. Dispatch of the whole log leads to the first, so that no such queue may be put in place."""
    root, to = store_root(name), tmp_path / "rebuilt"
    report = rebuild(*opened_golden(name), to)
    other = set()
    for path in sorted((root / "consumequeue").rglob("*")):
        new = to / path.relative_to(root)
        if path.is_file() and new.is_file():
            units = [np.frombuffer(each.read_bytes(), CQ_UNIT.dtype) for each in (path, new)]
            both = np.logical_and(*(each["msg_size"] > 0 for each in units))
            if not np.array_equal(units[0][both], units[1][both]):
                other.add((path.parts[-3], int(path.parts[-2])))
    assert {(queue.topic, queue.queue_id) for queue in report.taken} == other
    told = call("rebuild", root, "--to", tmp_path / "told")
    assert told.code == int(bool(other))
    assert [f"{topic}/{queue_id}: " in told.err for topic, queue_id in other] == [True] * len(other)
