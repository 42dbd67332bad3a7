"""Where a damaged DLedger log ends: what DLedgerMmapFileStore#recover (dledger 0.3.1.2) itself said of 300 copies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recovery.broker.store_folder import read_evidence
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.start.restart import memory_before_load, restart
from tests.support.copies import copy_tree
from tests.support.dledger_recover import FILE_SIZE, apply, some_log
from tests.support.fixtures import GOLDEN
from tests.support.opened import opened
from tests.support.stores import store_root, truth

CASES = GOLDEN / "recovery" / "dledger_recover.jsonl"
SETTINGS = StoreSettings.from_config({"mappedFileSizeCommitLog": str(FILE_SIZE)})
KNOWN = StoreSettings().as_config()


def cases() -> Iterator[dict[str, Any]]:
    return map(json.loads, CASES.read_text("utf-8").splitlines())


def test_the_log_ends_where_dledger_ends_it(tmp_path: Path) -> None:
    some_log(tmp_path / "whole")
    asked = 0
    for case in cases():
        copy_tree(tmp_path / "whole", tmp_path / "one")
        apply(case["damage"], tmp_path / "one")
        played = restart(
            memory_before_load(read_evidence(tmp_path / "one", SETTINGS), BrokerVersion(5, 3, 3), SETTINGS)
        )
        end = played.memory.commitlog.max_offset if played.load_error is None else None
        assert end == case["log_end"], case["damage"]
        shutil.rmtree(tmp_path / "one")
        asked += 1
    assert asked >= 300


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
def test_a_start_of_a_real_node(version: str, alone: bool) -> None:
    """Its dLegerPeers say that it is alone; where nobody gives them, others may have a say."""
    state = truth("4.9.7-dledger", "store_state.json")
    settings = StoreSettings.from_config(
        [pair for pair in state["settings"].items() if pair[0] in KNOWN and (alone or pair[0] != "dLegerPeers")]
    )
    document = forecast_document(forecast(*opened(store_root("4.9.7-dledger"), version, settings)))
    assert document["load"] == {"ok": True, "error": None}
    assert document["commitlog"]["min_physical_offset"] == state["minPhy"]
    assert document["commitlog"]["max_physical_offset"] == state["maxPhyAfterShutdown"]
    for moment in ("before_dispatch", "after_dispatch") if alone else ("before_dispatch",):
        rows = document[moment]["queues"]
        ends = {
            topic: sum(row["max_queue_offset"] for row in rows if row["topic"] == topic)
            for topic in state["unitsByTopic"]
        }
        assert ends == state["unitsByTopic"]
    if alone:
        assert (document["dispatch_from"], document["redispatched_messages"]) == (state["maxPhyAfterShutdown"], 0)
        assert (document["abort_after_shutdown"], document["losses_are_known"]) == (False, True)
        return
    for name in ("dispatch_from", "redispatched_messages", "after_dispatch", "abort_after_shutdown"):
        assert document[name] is None
    assert "what is lost" in {unknown["what"] for unknown in document["unknown"]}
