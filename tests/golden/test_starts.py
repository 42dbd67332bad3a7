"""Real starts of whole stores of brokers, damaged or as they were left, against the forecast of each."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from recovery.forecast.forecast import Forecast, forecast
from recovery.forecast.queue_rows import queue_rows
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN
from tests.support.stores import STORES, store_names, store_root, truth

KNOWN = StoreSettings().as_config()
OLD_STARTS = [(path.parents[2].name, path.stem) for path in sorted(STORES.glob("*/truth/starts/*.json"))]
REPLICAS = store_names("ha-clean", "ha-behind", "ha-ahead")


def damage(root: Path, case: str) -> None:
    """What the maker of the starts did to a copy of the store."""
    run_path(str(GOLDEN / "make" / "more_stores" / "damage.py"))["damage"](str(root), case)


def foretold(root: Path, name: str, role: str) -> Forecast:
    """The forecast of a start with the settings that the store's broker had, in this role."""
    state = truth(name, "store_state.json")
    known = {key: text for key, text in state["settings"].items() if key in KNOWN}
    settings = {key: text for key, text in known.items() if not key.startswith("storePath")}
    said = Said.read(BrokerVersion.parse(state["version"]), None, settings | {"brokerRole": role})
    store = open_known(root, said)
    return forecast(store, knowledge_of(store, said), with_advice=False)


def assert_as_started(told: Forecast, real: dict[str, Any]) -> None:
    """Limits of the log and of every queue that has had a unit."""
    memory = told.played.memory
    ends = {f"{row.topic}/{row.queue_id}": [row.min_queue_offset, row.max_queue_offset] for row in queue_rows(memory)}
    assert told.played.loaded is real["load"]
    assert (memory.commitlog.min_offset, memory.commitlog.max_offset) == (real["minPhy"], real["maxPhy"])
    assert {key: limits for key, limits in ends.items() if limits[1]} == {
        key: limits for key, limits in real["queues"].items() if limits[1]
    }


@pytest.mark.parametrize(("name", "case"), OLD_STARTS)
def test_a_start_of_an_old_broker_is_foretold(name: str, case: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    (root / "lock").unlink(missing_ok=True)
    damage(root, case)
    real = json.loads((STORES / name / "truth" / "starts" / f"{case}.json").read_bytes())
    assert_as_started(foretold(root, name, "SLAVE"), real)


@pytest.mark.parametrize("name", REPLICAS)
def test_a_start_of_a_replica_is_foretold(name: str) -> None:
    role = "SLAVE" if name.startswith("4.") else "ASYNC_MASTER"
    assert_as_started(foretold(store_root(name), name, role), truth(name, "recovered.json"))
