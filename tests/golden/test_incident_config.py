"""Broken configuration files: what real brokers did with 232 of them, against forecast and verify.

`truth/config_cases.jsonl.gz` is explained in `tests/golden/incidents/README.md`.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from parsers.store.store import open_store
from parsers.values.topics import is_retry
from pipelines.answers.finding_rows import finding_document
from recovery.config.names import is_system_topic
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.knowledge.knowledge import Said, knowledge_of
from recovery.rules.versions import BrokerVersion
from recovery.verify.verify import verify
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names

Row = dict[str, Any]
MOST_EMPTY = 150
"""Bytes that a table without a row takes at most."""
OF_THE_LAB = re.compile(r'Base|CG_|b_main|b_side|b-a"|b-b"')
"""Topics and groups that the lab made, and no broker by itself."""


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
    """The base store with the row's edits."""
    built = copied(incident(name).root, tmp_path / "store")
    for edit in row["edits"]:
        path = built / edit["path"]
        if edit["op"] == "delete":
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(bytes.fromhex(edit["hex"]))
    return built


def copied(base: Path, built: Path) -> Path:
    """Links to the files of a store, but for config/, which is a copy."""
    built.mkdir()
    for entry in base.iterdir():
        if entry.name == "config":
            copy_tree(entry, built / entry.name)
        else:
            (built / entry.name).symlink_to(entry)
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
    _assert_destroyed_as_recorded(config["destroyed"], row, _cases(name)[0]["truth"]["configAfterStop"])
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
    """The files that a start empties; what 5.4.0 and later delete, because it cannot be read, is not among them."""
    destroyed = document["config"]["destroyed"]
    return [each["file"].removeprefix("config/") for each in destroyed if each["how"] == "emptied"]


def _assert_destroyed_as_recorded(destroyed: list[dict[str, Any]], row: Row, whole: Row) -> None:
    """Every file named was rewritten: an emptied one without a row of the lab's, of a deleted one what was in it is
    nowhere. `whole`: the files after a start of the undamaged base."""
    after = row["truth"]["configAfterStop"]
    for each in destroyed:
        name = each["file"].removeprefix("config/")
        if each["how"] == "emptied":
            assert not after[name]["sameAsBase"]
            text = after[name]["text"]  # of the row's own file alone
            assert after[name]["size"] < whole[name]["size"]
            assert after[name]["size"] < MOST_EMPTY or text is None or not OF_THE_LAB.search(text)
        else:
            edits = {edit["path"].removeprefix("config/"): edit.get("hex", "") for edit in row["edits"]}
            unread = sha256(bytes.fromhex(edits[name])).hexdigest()
            assert unread not in {found["sha256"] for found in after.values()}


def _assert_lost_as_recorded(config: dict[str, Any], row: Row) -> None:
    answer, lost = row["truth"]["answer"], config["lost"]
    assert _for_clients(lost["topics"]) == _for_clients(answer["topicsLost"])
    assert set(lost["topics"]) <= set(answer["topicsLost"])
    assert lost["groups"] == answer["groupsLost"]
    told = {f"{each['topic']}@{each['group']}#{each['queue_id']}" for each in lost["offsets"] or ()}
    assert told <= set(answer["offsetsLost"])
    groups = {each["group"] for each in lost["offsets"] or ()} | set(lost["groups_without_offsets"])
    assert groups == {each.partition("@")[2].partition("#")[0] for each in answer["offsetsLost"]}
    if row["file"] == "delayOffset":
        assert bool(lost["delay_levels"]) is not bool(answer["delayOffsetsLoaded"])


def _for_clients(topics: list[str]) -> set[str]:
    """Topics that nobody but an operator makes again."""
    return {topic for topic in topics if not is_system_topic(topic) and not is_retry(topic)}


@pytest.mark.parametrize(("name", "row"), _rows())
def test_verify_names_the_file_of_every_loss(name: str, row: Row, root: Path) -> None:
    answer = row["truth"]["answer"]
    store = open_store(root)
    findings = verify(store, knowledge_of(store, Said(BrokerVersion.parse(row["version"])))).findings
    named = {finding.places[0].file.removeprefix("config/").partition(".")[0] for finding in findings}
    assert named <= {row["file"]}
    lost = [answer[each] for each in ("topicsLost", "offsetsLost", "groupsLost", "offsetsGoneBack")]
    if not answer["starts"] or any(lost) or (row["file"] == "delayOffset" and not answer["delayOffsetsLoaded"]):
        assert named == {row["file"]}
    assert bool(findings) is bool(row["edits"])


def test_what_was_emptied_is_listed_as_far_as_other_files_tell(tmp_path: Path) -> None:
    store = copied(incident("5.3.3-config-broken").root, tmp_path / "store")
    for name in ("topics.json", "topics.json.bak"):
        (store / "config" / name).write_bytes(b"")
    opened = open_store(store)
    (finding,) = verify(opened, knowledge_of(opened)).findings
    assert (finding.kind, finding.severity) == ("config_emptied", "critical")
    assert finding_document(finding)["rebuilt"] == {
        "topics": [
            {"topic": "%RETRY%CG_a", "queue_nums_at_least": None, "perm": None},
            {"topic": "Base", "queue_nums_at_least": 3, "perm": None},
            {"topic": "Base2", "queue_nums_at_least": 1, "perm": None},
        ]
    }
