"""Starts of a DLedger node that is alone in its group, as the store classes of four versions made them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from recovery.broker.dispatch_log import Phase
from recovery.broker.memory import BrokerMemory
from recovery.broker.store_folder import read_evidence
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start.restart import memory_before_load, restart
from tests.support.dledger_starts import MESSAGES, SETTINGS, damage, node_store
from tests.support.fixtures import GOLDEN
from tests.support.opened import opened

CASES = [json.loads(line) for line in (GOLDEN / "recovery" / "dledger_starts.jsonl").read_text("utf-8").splitlines()]
ALONE = StoreSettings.from_config({**SETTINGS, "dLegerPeers": "n0-127.0.0.1:40911"})
VERSIONS = sorted({case["version"] for case in CASES})
PHASES: dict[str, Phase] = {"dispatchedInLoad": "load", "dispatchedInReput": "start"}
Told = dict[str, Any]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    root = tmp_path_factory.mktemp("node") / "store"
    return root, node_store(root)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_recorded_start_is_foretold(
    whole: tuple[Path, list[int]], tmp_path: Path, version: str, compiled: bool
) -> None:
    wrong = {}
    for case in (each for each in CASES if each["version"] == version):
        root = tmp_path / "store"
        shutil.copytree(whole[0], root, copy_function=_copy)
        damage(root, whole[1], case["damage"], case["exit"])
        told = _told(root, version, compiled)
        differs = {name: (told[name], case[name]) for name in told if told[name] != case.get(name)}
        if differs:
            wrong[case["damage"], case["exit"]] = differs
        shutil.rmtree(root)
    assert wrong == {}


def _copy(source: str, to: str) -> None:
    """A file of the index is of 160 MB, and nearly all a hole: it is linked, and nothing writes to it."""
    if Path(source).stat().st_size > 1 << 20:
        Path(to).hardlink_to(source)
    else:
        shutil.copy2(source, to)


def _told(root: Path, version: str, compiled: bool) -> Told:
    states: dict[str, Told] = {}

    def look(memory: BrokerMemory) -> None:
        states["afterLoad"] = _state(memory)

    memory = memory_before_load(
        read_evidence(root, ALONE), BrokerVersion.parse(version), ALONE, with_index_entries=not compiled
    )
    played = restart(memory, after_load=look)
    told: Told = {"load": played.load_error is None}
    if not played.started or played.dispatch is None:
        return told
    states["quiet"] = _state(memory)
    for name, phase in PHASES.items():
        own = memory.dispatched.physical_offset[memory.dispatched.rows(phase)]
        told[name] = {"count": len(own), "first": own[0] if own else None, "last": own[-1] if own else None}
    starts = {"reputStartPositions": played.dispatch.starts, "abortAfter": played.abort_after}
    return told | states | starts | {"start": True}


def _state(memory: BrokerMemory) -> Told:
    queues = {
        f"{topic}/{queue_id}": [queue.min_queue_offset, queue.max_queue_offset, queue.max_physical_offset]
        for (topic, queue_id), queue in memory.queues.items()
    }
    return {"queues": queues, "index": [file.header()["index_count"] for file in memory.index.files]}


def test_units_that_a_crash_costs_are_told_and_a_repair_saves_them(
    whole: tuple[Path, list[int]], tmp_path: Path
) -> None:
    """What is advised is the other half of each recorded pair: the same files without `abort`."""
    root = tmp_path / "store"
    shutil.copytree(whole[0], root, copy_function=_copy)
    damage(root, whole[1], "none", "crash")
    told = forecast_document(forecast(*opened(root, "5.3.3", ALONE)))
    asked = ("5.3.3", "none", "crash")
    (recorded,) = (case for case in CASES if (case["version"], case["damage"], case["exit"]) == asked)
    ends = {name: most for name, (_, most, _) in recorded["quiet"]["queues"].items()}
    lost = MESSAGES - sum(ends.values())
    assert told["lost_counts"] == {"message": 0, "queue_unit": lost, "index_entries": 0}
    rows = told["after_dispatch"]["queues"]
    assert {f"{row['topic']}/{row['queue_id']}": row["max_queue_offset"] for row in rows} == ends
    assert told["renumbered"]
    (advice,) = told["advice"]
    assert advice["files"] == ["abort"]
    assert advice["then"]["lost_counts"] == {"message": 0, "queue_unit": 0, "index_entries": 0}
    among_others = forecast_document(forecast(*opened(root, "5.3.3", StoreSettings.from_config(SETTINGS))))
    assert among_others["before_dispatch"] == told["before_dispatch"]
    assert among_others["after_dispatch"] is None


@pytest.mark.parametrize(
    ("peers", "alone"),
    [
        ("n0-127.0.0.1:40911", True),
        ("n0-broker-0.broker:40911;", True),
        ("n0-broker-0.broker:40911;n1-broker-1.broker:40911", False),
        ("", False),
    ],
)
def test_hosts_with_hyphens_are_no_further_nodes(peers: str, alone: bool) -> None:
    assert StoreSettings.from_config({"dLegerPeers": peers}).is_alone_in_group is alone
