"""What config/ can hold of topics, groups and offsets when a broker keeps them in databases; see `table_loads.py` of
the maker, which records what the broker's managers make of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from parsers.rocksdb.tables import KEPT, SINGLE_FORM
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.stores import store_root

RECORDED = GOLDEN / "rocksdb_tables" / "loads.jsonl"
VERSIONS = ("5.4.0", "5.5.0")
ROWS: dict[str, dict[str, Any]] = {
    "topics.json": {"FromJson": {"topicName": "FromJson"}, "Meta-A": {"topicName": "Meta-A", "readQueueNums": 9}},
    "subscriptionGroup.json": {"JG": {"groupName": "JG"}},
    "consumerOffset.json": {"FromJson@JG": {"0": 7}},
}
FAR = dict.fromkeys(KEPT, 99_999)
CASES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "in one": {"one": True},
    "in one, json counts further": {"one": True, "json": FAR},
    "in one, json counts less": {"one": True, "json": dict.fromkeys(KEPT, 0)},
    "in one, json broken": {"one": True, "broken": "topics.json"},
    "in one, refused": {"one": True, "refused": SINGLE_FORM},
    "in one and their own": {"one": True, "own": True},
    "in one and their own, that refused": {"one": True, "own": True, "refused": "topics"},
    "in one and their own, json counts further": {"one": True, "own": True, "json": FAR},
    "their own": {"own": True},
    "their own, refused": {"own": True, "refused": "topics"},
    "their own, json counts one less": {"own": True, "json": {"topics.json": 2}},
    "their own, json counts two less": {"own": True, "json": {"topics.json": 1}},
    "json": {"json": dict.fromkeys(KEPT, 3)},
    "three databases, json counts further": {"own": True, "json": FAR, "single": False},
    "three databases beside one": {"one": True, "own": True, "single": False},
}
"""What there is: `one` database of all tables, databases of their `own`, `json` files by name with what they count, a
`broken` one, a `refused` database; `single`: whether useSingleRocksDBForAllConfigs is set."""


def make_config(root: Path, version: str, case: dict[str, Any]) -> None:
    """Make `root`/config as the case says."""
    config = root / "config"
    config.mkdir(parents=True)
    if case.get("one"):
        packed = GOLDEN / "rocksdb_tables" / version / "store.tar.gz"
        copy_tree(unpacked(packed) / "store" / "config" / SINGLE_FORM, config / SINGLE_FORM)
    for kept in KEPT.values() if case.get("own") else ():
        copy_tree(store_root("5.5.0-rocksdb") / "config" / kept.folder, config / kept.folder)
    for name, counter in case.get("json", {}).items():
        document = {"dataVersion": {"counter": counter, "timestamp": 5}, KEPT[name].map_name: ROWS[name]}
        (config / name).write_text(json.dumps(document))
    if "broken" in case:
        (config / case["broken"]).write_text("{{{")
    if "refused" in case:
        (config / case["refused"] / "CURRENT").write_text("MANIFEST-000099\n")


def settings_of(case: dict[str, Any]) -> dict[str, str]:
    """The broker's settings in the case."""
    single = str(case.get("single", True)).lower()
    return {"storeType": "defaultRocksDB", "useSingleRocksDBForAllConfigs": single}
