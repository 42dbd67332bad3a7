"""Stores whose log lies elsewhere, or whose broker cleaned up after itself, judged by the incidents' own answers."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pipelines.report.facts.store import facts_of_store
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rebuild.rebuild import rebuild
from recovery.rules.versions import BrokerVersion
from recovery.verify.verify import Verification, verify
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.incidents import Incident, incident, incident_names
from tests.support.opened import opened
from tests.support.stores import store_root, truth, truth_lines

ELSEWHERE = incident_names("log-elsewhere")
CLEANED = incident_names("offsets-reset", "disk-full-clean")
NEED_THE_LOG: list[list[str]] = [
    ["find", "--topic", "T", "--key", "k"],
    ["offset-at", "--topic", "T", "--queue", "0", "--at", "1"],
    ["who", "--message-id", "x"],
    ["verify"],
    ["forecast"],
    ["retention"],
    ["dump", "commitlog"],
    ["dump", "regions"],
]


def said(case: Incident) -> Said:
    return Said.read(BrokerVersion.parse(case.version), case.broker_conf)


def verified(case: Incident) -> Verification:
    store = open_known(case.root, said(case))
    return verify(store, knowledge_of(store, said(case)))


def true_queues(case: Incident) -> dict[tuple[str, int], dict[str, Any]]:
    return {(line["topic"], line["queueId"]): line for line in case.lines("queues.jsonl.gz") if line["maxOffset"]}


@pytest.mark.parametrize("arguments", NEED_THE_LOG, ids=" ".join)
def test_without_its_log_a_root_answers_nothing_but_the_setting_that_is_missing(arguments: list[str]) -> None:
    called = call(*arguments, incident(ELSEWHERE[0]).root)
    assert called.code == 3
    assert called.out == b""
    assert "storePathCommitLog" in called.err


@pytest.mark.parametrize("name", ELSEWHERE)
def test_without_its_log_the_queue_files_tell_where_queues_end(name: str) -> None:
    case = incident(name)
    called = call("queues", case.root)
    assert called.code == 4
    assert "storePathCommitLog" in called.err
    assert {(row["topic"], row["queue_id"]): row["max_queue_offset"] for row in called.rows} == {
        queue: true["maxOffset"] for queue, true in true_queues(case).items()
    }
    for row in called.rows:
        assert (row["min_queue_offset"], row["messages"]) == (None, None)
        assert "storePathCommitLog" in row["reason"]
    with_log = rows_of("queues", case.root, "--broker-conf", case.broker_conf)
    assert {row["reason"] for row in with_log} == {None}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_without_its_log_the_queue_files_tell_messages_behind_and_no_seconds(name: str) -> None:
    case = incident(name)
    progress = json.loads((case.truth / "consumer_progress.json").read_text("utf-8"))
    true = {
        (group, queue["topic"], queue["queueId"]): (queue["brokerOffset"], queue["consumerOffset"])
        for group, found in progress.items()
        for queue in found.get("queues", [])
    }
    called = call("lag", case.root)
    assert called.code == 4
    assert "storePathCommitLog" in called.err
    told = {
        (row["group"], row["topic"], row["queue_id"]): (row["broker_offset"], row["consumer_offset"])
        for row in called.rows
    }
    assert {key: told.get(key) for key in true} == true
    for row in called.rows:
        assert row["messages_behind"] == row["broker_offset"] - row["consumer_offset"]
        assert row["seconds_behind"] == (None if row["messages_behind"] else 0)
        assert "storePathCommitLog" in row["reason"]
    for row in call("lag", case.root, "--at", "2026-11-22T00:00:00Z").rows:
        assert (row["status"], row["messages_behind"]) == ("unknown", None)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_log_elsewhere_agrees_with_its_queues(name: str) -> None:
    assert verified(incident(name)).findings == ()


@pytest.mark.parametrize("name", ELSEWHERE)
def test_queues_are_rebuilt_from_a_log_elsewhere(name: str, tmp_path: Path) -> None:
    case = incident(name)
    store = open_known(case.root, said(case))
    rebuild(store, knowledge_of(store, said(case)), tmp_path / "new")
    files = sorted(path for path in (case.root / "consumequeue").rglob("*") if path.is_file())
    assert files
    for path in files:
        made = tmp_path / "new" / path.relative_to(case.root)
        assert sha256(made.read_bytes()).digest() == sha256(path.read_bytes()).digest()


@pytest.mark.parametrize("name", ELSEWHERE)
def test_keys_are_found_in_a_log_elsewhere(name: str) -> None:
    case = incident(name)
    lines = [line for line in case.lines("query_by_key.jsonl.gz") if line["phyOffsets"]][:5]
    assert lines
    asked = "".join(json.dumps({"topic": each["topic"], "key": each["key"], "max": 64}) + "\n" for each in lines)
    answers = rows_of("find", case.root, "--batch", "--broker-conf", case.broker_conf, stdin=asked.encode())
    for line, answer in zip(lines, answers, strict=True):
        assert set(line["phyOffsets"]) <= set(answer["physical_offsets"])
        assert answer["messages"]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_settings_that_no_broker_has_are_named(name: str) -> None:
    case = incident(name)
    named = [sentence.split(": ")[1].partition("=")[0] for sentence in said(case).ignored]
    assert named == case.told()["facts"]["configuredButIgnored"]


def test_a_log_that_was_copied_elsewhere_is_asked_for_by_name(tmp_path: Path) -> None:
    case = incident(ELSEWHERE[0])
    copy_tree(case.folder / "disk2", tmp_path / "copy")
    copy_tree(case.root, tmp_path / "store")
    conf = tmp_path / "broker.conf"
    conf.write_text(case.broker_conf.read_text("utf-8").replace(str(case.folder), "/nowhere"), "utf-8")
    called = call("verify", tmp_path / "store", "--broker-conf", conf)
    assert called.code == 3
    assert "storePathCommitLog=/nowhere/disk2" in called.err
    (folder,) = (tmp_path / "copy").iterdir()
    config = ["--config", f"storePathCommitLog={folder}"]
    assert len(rows_of("queues", tmp_path / "store", "--broker-conf", conf, *config)) == len(true_queues(case))


SEVERAL = ["--config", "storePathCommitLog=commitlog,disk2/commitlog", "--version", "5.3.3"]


@pytest.mark.parametrize("name", ["4.9.7-log-elsewhere", "5.3.3-log-elsewhere"])
@pytest.mark.parametrize("command", ["verify", "forecast", "rebuild"])
def test_a_setting_that_names_the_folder_above_the_log_is_told(name: str, command: str, tmp_path: Path) -> None:
    """No command takes that for a log that is lost, and for files to move away."""
    copy_tree(incident(name).folder, tmp_path, into_existing=True)
    above, log = tmp_path / "disk2", tmp_path / "disk2" / "rmq-log"
    out = ["--to", tmp_path / "new"] if command == "rebuild" else []
    called = call(command, tmp_path / "store", "--config", f"storePathCommitLog={above}", *out)
    assert (called.code, called.out) == (3, b"")
    assert f"if they are the log, say --config storePathCommitLog={log}" in called.err


def test_a_log_that_was_copied_into_its_own_folder_is_told(tmp_path: Path) -> None:
    """As `cp -r commitlog store/commitlog` leaves it where the folder was there already."""
    root = tmp_path / "store"
    copy_tree(incident("5.3.3-queues-shrunk").root, root)
    (root / "commitlog").rename(tmp_path / "kept")
    (root / "commitlog").mkdir()
    (tmp_path / "kept").rename(root / "commitlog" / "commitlog")
    called = call("verify", root)
    assert called.code == 3
    assert "say so with --config storePathCommitLog=commitlog/commitlog" in called.err


def test_several_folders_are_read_as_one_log() -> None:
    root = store_root("5.3.3-multipath")
    assert len(rows_of("dump", "commitlog", root, *SEVERAL)) == truth("5.3.3-multipath", "store_state.json")["records"]
    assert rows_of("verify", root, *SEVERAL) == []
    assert {row["file"].rpartition("/")[0] for row in rows_of("dump", "regions", root, *SEVERAL)} == {
        "commitlog",
        "disk2/commitlog",
    }


def test_a_damaged_file_between_folders_is_read_as_in_one_folder(tmp_path: Path) -> None:
    several, one = tmp_path / "several", tmp_path / "one"
    copy_tree(store_root("5.3.3-multipath"), several)
    with (several / "disk2" / "commitlog" / "00000000000000196608").open("r+b") as file:
        file.seek(30_000)
        file.write(b"torn" * 1000 + bytes(65536 - 34_000))
    copy_tree(several, one)
    for path in (one / "disk2" / "commitlog").iterdir():
        path.rename(one / "commitlog" / path.name)
    (one / "disk2" / "commitlog").rmdir()
    found = [
        [(row["physical_offset"], row["length"], row["kind"]) for row in rows_of("dump", "regions", root, *config)]
        for root, config in ((several, SEVERAL), (one, ()))
    ]
    assert found[0] == found[1]


def test_a_root_with_part_of_its_log_says_where_the_rest_lies() -> None:
    called = call("verify", store_root("5.3.3-multipath"))
    assert (called.code, called.out) == (3, b"")
    assert "--config storePathCommitLog=commitlog,disk2/commitlog" in called.err


def test_a_file_that_is_really_missing_is_told_by_every_door(tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-multipath"), root)
    (root / "disk2" / "commitlog" / "00000000000000196608").unlink()
    lost = [
        line
        for line in truth_lines("5.3.3-multipath", "messages.jsonl.gz")
        if line["type"] == "message" and 196608 <= line["physicalOffset"] < 262144 and line["topic"] == "CfgA"
    ]
    asked = ["--topic", "CfgA", "--queue", lost[5]["queueId"], "--at", lost[5]["storeTimestamp"]]
    assert call("offset-at", root, *asked, *SEVERAL).code == 4
    assert call("find", root, "--topic", "CfgA", "--unique-id", lost[5]["uniqKey"], *SEVERAL).code == 4
    rebuilt = call("rebuild", root, "--to", tmp_path / "new", *SEVERAL)
    assert rebuilt.code == 4
    assert "no file of the log holds 196608 to 262144" in rebuilt.err
    assert [row["kind"] for row in call("verify", root, *SEVERAL).rows] == ["log_file_missing"]


@pytest.mark.parametrize("name", CLEANED)
def test_ordinary_cleaning_is_no_damage(name: str) -> None:
    found = verified(incident(name))
    assert {finding.kind for finding in found.findings} <= {"consumer_offset_below_min"}
    assert "expired head" in {state.what for state in found.explained}


@pytest.mark.parametrize("name", CLEANED)
def test_queues_begin_where_the_broker_says_once_it_is_started(name: str) -> None:
    case = incident(name)
    started = case.told()["nextStart"].get("clean", {}).get("queues", {})
    ends = {key: (line["minOffset"], line["maxOffset"]) for key, line in true_queues(case).items()}
    ends |= {(topic, int(number)): tuple(pair) for topic, queues in started.items() for number, pair in queues.items()}
    rows = rows_of("queues", case.root, "--version", case.version)
    ours = {(row["topic"], row["queue_id"]): (row["min_queue_offset"], row["max_queue_offset"]) for row in rows}
    assert ours
    assert {key: ends.get(key) for key in ours} == ours


@pytest.mark.parametrize("name", CLEANED)
def test_the_report_has_the_minimum_offsets_that_the_broker_answers(name: str) -> None:
    case = incident(name)
    store, known = opened(case.root, case.version)
    version = ["--version", name.partition("-")[0]]
    assert facts_of_store(store, known).queues == rows_of("queues", case.root, *version)
