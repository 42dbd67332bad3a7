"""Broken configuration files: what real brokers did with 98 of them, against forecast and verify.

`truth/config_cases.jsonl.gz` is explained in `tests/golden/incidents/README.md`.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parsers.store import open_store
from recovery.config_names import is_system_topic
from recovery.dispatch import RETRY_PREFIX
from recovery.forecast import forecast
from recovery.forecast_document import forecast_document
from recovery.knowledge import Said, knowledge_of
from recovery.versions import BrokerVersion
from tests.support.incidents import incident, incident_names

Row = dict[str, Any]


def _rows() -> list[Any]:
    return [
        pytest.param(name, row, id=f"{row['id']} {row['file']}: {row['damage']}")
        for name in incident_names("config-broken")
        for row in _cases(name)
    ]


@cache
def _cases(name: str) -> list[Row]:
    return list(incident(name).lines("config_cases.jsonl.gz"))


@pytest.fixture
def root(name: str, row: Row, tmp_path: Path) -> Path:
    """The base store with the row's edits: links to its files but for config/, which is a copy."""
    built, base = tmp_path / "store", incident(name).root
    built.mkdir()
    for entry in base.iterdir():
        if entry.name == "config":
            shutil.copytree(entry, built / entry.name)
        else:
            (built / entry.name).symlink_to(entry)
    for edit in row["edits"]:
        path = built / edit["path"]
        if edit["op"] == "delete":
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(bytes.fromhex(edit["hex"]))
    return built


@pytest.mark.parametrize(("name", "row"), _rows())
def test_forecast_says_what_the_broker_did(name: str, row: Row, root: Path) -> None:
    answer, document = row["truth"]["answer"], _forecast(root, row)
    config = document["config"]
    starts = document["load"]["ok"] and document["start"]["returns"]
    assert starts is answer["starts"] is config["initialize"]
    assert [file for file in _overwritten(document) if file.startswith(f"{row['file']}.")] == answer[
        "aRefusedStartOverwrote"
    ]
    _assert_destroyed_as_recorded(config["destroyed"], row["truth"]["configAfterStop"])
    if starts:
        _assert_lost_as_recorded(config, row)


def _forecast(root: Path, row: Row) -> dict[str, Any]:
    store = open_store(root)
    told = forecast(store, knowledge_of(store, Said(BrokerVersion.parse(row["version"]))), with_advice=False)
    answer = row["truth"]["answer"]
    lost = [answer[each] for each in ("topicsLost", "offsetsLost", "groupsLost", "offsetsGoneBack")]
    if any(lost) and set(answer["topicsLost"]) != {"RMQ_SYS_TRANS_HALF_TOPIC"}:
        assert told.has_loss
    return forecast_document(told)


def _overwritten(document: dict[str, Any]) -> list[str]:
    return [each["file"].removeprefix("config/") for each in document["config"]["destroyed"]]


def _assert_destroyed_as_recorded(destroyed: list[dict[str, Any]], after: Row) -> None:
    """Every file named was rewritten, without a row of its own."""
    for each in destroyed:
        found = after[each["file"].removeprefix("config/")]
        assert not found["sameAsBase"]
        assert found["size"] < 150


def _assert_lost_as_recorded(config: dict[str, Any], row: Row) -> None:
    answer, lost = row["truth"]["answer"], config["lost"]
    assert _for_clients(lost["topics"]) == _for_clients(answer["topicsLost"])
    assert set(lost["topics"]) <= set(answer["topicsLost"])
    assert lost["groups"] == answer["groupsLost"]
    told = {f"{each['topic']}@{each['group']}#{each['queue_id']}" for each in lost["offsets"]}
    assert told <= set(answer["offsetsLost"])
    groups = {each["group"] for each in lost["offsets"]} | set(lost["groups_without_offsets"])
    assert groups == {each.partition("@")[2].partition("#")[0] for each in answer["offsetsLost"]}
    if row["file"] == "delayOffset":
        assert bool(lost["delay_levels"]) is not bool(answer["delayOffsetsLoaded"])


def _for_clients(topics: list[str]) -> set[str]:
    """Topics that nobody but an operator makes again."""
    return {topic for topic in topics if not is_system_topic(topic) and not topic.startswith(RETRY_PREFIX)}
