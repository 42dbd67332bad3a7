"""What brokers of 5.4.0 and 5.5.0 keep of messages in rocksdbstore: index, timers and half messages.

The judges are the brokers' own scans and queries of that database, and the producer, who knows how each of its
transactions ended.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from parsers.damage.errors import Damage
from parsers.rocksdb.message_records import read_message_records
from parsers.store.store import open_store
from recovery.knowledge.inference import infer
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, unpacked

VERSIONS = ("5.4.0", "5.5.0")
PLACE = GOLDEN / "rocksdbstore"
KINDS = {"K": "key", "T": "tag", "U": "unique_key"}
ENDED = {"COMMIT_MESSAGE": "committed", "ROLLBACK_MESSAGE": "rolled_back"}
Row = dict[str, Any]


def told(version: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(gzip.decompress((PLACE / version / "rocks.json.gz").read_bytes()))
    return said


def messages(version: str) -> list[Row]:
    lines = gzip.decompress((PLACE / version / "messages.jsonl.gz").read_bytes()).splitlines()
    return [row for row in map(json.loads, lines) if row["type"] == "message"]


def store(version: str) -> Path:
    return unpacked(PLACE / version / "store.tar.gz") / "store"


def records(version: str) -> list[Row]:
    database = open_store(store(version)).message_database
    assert database is not None
    return [row for batch in read_message_records(database) for row in batch.to_pylist()]


@pytest.mark.parametrize("version", VERSIONS)
def test_timers_and_halves_are_what_the_brokers_own_scans_find(version: str) -> None:
    found, said = records(version), told(version)
    assert [
        {"due": round(row["due_time"].timestamp() * 1000), "uniqKey": row["unique_key"]}
        | {"size": row["msg_size"], "physicalOffset": row["physical_offset"]}
        for row in found
        if row["kind"] == "timer"
    ] == said["timers"]
    assert [
        {"physicalOffset": row["physical_offset"], "topic": row["topic"], "uniqKey": row["unique_key"]}
        | {"size": row["msg_size"], "checkTimes": row["check_times"]}
        for row in found
        if row["kind"] == "half"
    ] == said["halves"]
    noted = Counter((row["key"], row["value"]) for row in found if row["kind"] == "noted")
    assert not Counter((name.split()[1], value) for name, value in said["notes"].items()) - noted


@pytest.mark.parametrize("version", VERSIONS)
def test_index_entries_answer_as_the_broker_does(version: str) -> None:
    """A query takes every entry whose key goes on with a separator behind what is asked for."""
    found = [row for row in records(version) if row["kind"] in KINDS.values()]
    queries = told(version)["queries"]
    assert queries
    for asked in queries:
        wanted = f"{asked['key']}@"
        places = [
            row["physical_offset"]
            for row in found
            if (row["topic"], row["kind"]) == (asked["topic"], KINDS[asked["type"]])
            and f"{'' if row['key'] is None else row['key'] + '@'}{row['unique_key']}@".startswith(wanted)
        ]
        assert sorted(places) == sorted(asked["phyOffsets"]), asked


@pytest.mark.parametrize("version", VERSIONS)
def test_each_transaction_ends_as_its_producer_ended_it(version: str) -> None:
    numbers = {row["uniqKey"]: row["properties"].get("n") for row in messages(version)}
    rows = {numbers[row["unique_id"]]: row for row in rows_of("transactions", store(version), "--messages")}
    assert len(rows) == len(told(version)["fates"])
    for each in told(version)["fates"]:
        row = rows[str(each["n"])]
        undecided = "given_up" if each["checked"] else "pending"
        assert row["state"] == ENDED.get(each["state"], undecided), each
        assert row["checks"] == (0 if row["state"] == "pending" else None)
        assert (row["commits"], row["given_up_at"]) == (int(row["state"] == "committed"), None)


def test_of_halves_without_their_database_nothing_is_known(tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store("5.5.0"), root)
    shutil.rmtree(root / "rocksdbstore")
    states = Counter(row["state"] for row in rows_of("transactions", root, "--messages"))
    assert states == {"committed": 10, "rolled_back": 10, "unknown": 10}


@pytest.mark.parametrize("version", VERSIONS)
def test_timers_are_delivered_rolled_deleted_or_kept_in_the_database(version: str) -> None:
    all_messages, kept = messages(version), {row["physicalOffset"] for row in told(version)["timers"]}
    delivered = {
        row["uniqKey"]: row["physicalOffset"]
        for row in all_messages
        if "TIMER_OUT_MS" in row["properties"] and row["topic"] != "rmq_sys_wheel_timer"
    }
    ids = {row["physicalOffset"]: row["uniqKey"] for row in all_messages}
    rows = rows_of("delays", store(version), "--messages")
    timers = [row for row in rows if row["kind"] == "timer"]
    assert Counter(row["state"] for row in timers) == {
        "delivered": 12,
        "pending": 10,
        "rolled": 4,
        "deleted": 1,
        "deletion": 1,
    }
    for row in timers:
        if row["state"] == "delivered":
            assert row["delivered_physical_offset"] == delivered[ids[row["physical_offset"]]]
        if row["state"] == "pending":
            assert row["reason"] is None
    open_ids = {ids[place] for place in kept} - delivered.keys()
    assert {ids[row["physical_offset"]] for row in timers if row["state"] == "pending"} == open_ids


@pytest.mark.parametrize("version", VERSIONS)
def test_find_answers_from_the_database_as_the_broker_does(version: str) -> None:
    """The broker reads no index file. Its query without a type asks for a key, and without one for a unique key."""
    queries = told(version)["queries"]
    lines = [{"topic": each["topic"], "key": ("T#" if each["type"] == "T" else "") + each["key"]} for each in queries]
    asked = "\n".join(json.dumps({**line, "max": 64}) for line in lines)
    called = call("find", store(version), "--batch", "--format", "jsonl", stdin=asked.encode())
    assert called.code == 0, called.err
    for each, answer in zip(queries, called.rows, strict=True):
        assert answer["physical_offsets"] == each["phyOffsets"], each
    assert all(row["messages"] for row in called.rows)


def test_keys_within_times(tmp_path: Path) -> None:
    (first, *_, last) = [row for row in messages("5.5.0") if row["topic"] == "Rocks-A"]
    root, asked = store("5.5.0"), ("--topic", "Rocks-A", "--unique-id", last["uniqKey"])
    assert len(rows_of("find", root, *asked, "--begin", last["storeTimestamp"])) == 1
    assert rows_of("find", root, *asked, "--begin", last["storeTimestamp"] + 1) == []
    assert rows_of("find", root, *asked, "--end", first["storeTimestamp"]) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_no_index_file_is_missed_or_made(version: str, tmp_path: Path) -> None:
    assert call("verify", store(version)).rows == []
    assert call("rebuild", store(version), "--to", tmp_path / "made").code == 0
    assert not [*(tmp_path / "made" / "index").glob("*")]


@pytest.mark.parametrize("version", VERSIONS)
def test_starts_with_a_database_that_is_behind_are_foretold(version: str, tmp_path: Path) -> None:
    """Every copy lacks one queue: which of its messages come back hangs on where the start begins."""
    for case in json.loads((PLACE / version / "starts.json").read_bytes()):
        root = tmp_path / case["name"]
        copy_tree(store(version), root)
        prepare(root, case["steps"])
        settings = {"transRocksDBEnable": "false", "indexRocksDBEnable": str("off" not in case["steps"]).lower()}
        config = [part for name, value in settings.items() for part in ("--config", f"{name}={value}")]
        out = call("forecast", root, "--version", version, "--no-advice", "--format", "json", *config).out
        told = json.loads(out)
        assert (told["load"]["ok"], told["commitlog"]["max_physical_offset"]) == (case["load"], case["maxPhy"])
        queues = told["after_dispatch"]["queues"]
        assert {
            f"{each['topic']}/{each['queue_id']}": [each["min_queue_offset"], each["max_queue_offset"]]
            for each in queues
            if each["max_queue_offset"]
        } == case["queues"], case["name"]


def test_an_older_broker_leaves_halves_and_keys_in_the_database() -> None:
    called = call("upgrade", store("5.5.0"), "--version", "5.5.0", "--to", "5.3.3", "--format", "jsonl")
    told = {row["what"]: row["after"] for row in called.rows if row["about"] == "way_back"}
    assert told["half messages that wait in RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC"] == "never asks how they ended"
    assert told["keys of messages"] == "finds those of the files in index/ alone"


def prepare(root: Path, steps: list[str]) -> None:
    """The edits of `make/more_stores/rocks_starts.py`."""
    from rocksdict import Options, Rdict

    shutil.rmtree(root / "consumequeue" / "Rocks-A" / "0")
    for step in steps:
        if step == "abort":
            (root / "abort").touch()
        elif step == "gone":
            shutil.rmtree(root / "rocksdbstore")
        elif step != "off":
            families = {name: Options(raw_mode=True) for name in ("default", "timer", "trans")}
            database = Rdict(str(root / "rocksdbstore"), Options(raw_mode=True), column_families=families)
            if step == "no note":
                del database[b"lastOffsetPy"]
            else:
                database[b"lastOffsetPy"] = int(step.split()[1]).to_bytes(8, "big")
            database.close()


def test_a_start_by_a_database_that_cannot_be_read_is_not_foretold(tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store("5.5.0"), root)
    (root / "rocksdbstore" / "CURRENT").write_text("nothing")
    called = call("forecast", root, "--version", "5.5.0", "--config", "indexRocksDBEnable=true", "--format", "json")
    assert "rocksdbstore/, which cannot be read" in called.out.decode() + called.err


def test_a_database_that_cannot_be_read_is_told_where_settings_are_taken_from_the_files(tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store("5.5.0"), root)
    shown = {fact.what: fact for fact in infer(open_store(root)).facts}
    assert shown["indexRocksDBEnable"].certain
    (root / "rocksdbstore" / "CURRENT").write_text("nothing")
    facts = {fact.what: fact for fact in infer(open_store(root)).facts}
    for setting in ("indexRocksDBEnable", "transRocksDBEnable"):
        assert (facts[setting].value, facts[setting].certain) == ("false", False)
        assert "rocksdbstore/, which would show it, cannot be read" in facts[setting].why
    assert b"indexRocksDBEnable is assumed" in call("forecast", root, "--version", "5.5.0", "--no-advice").out
    assert call("init", root, "--to", tmp_path / "rocketlens.toml").code == 0
    assert "# indexRocksDBEnable = false: assumed" in (tmp_path / "rocketlens.toml").read_text("utf-8")


def test_what_is_no_row_is_damage(tmp_path: Path) -> None:
    from rocksdict import Options, Rdict

    root = tmp_path / "store"
    copy_tree(store("5.5.0"), root)
    with_more = Rdict(str(root / "rocksdbstore"), Options(raw_mode=True))
    with_more[b"@T@K@"] = b""
    with_more.close()
    damage: list[Damage] = []
    database = open_store(root).message_database
    assert database is not None
    assert len([*read_message_records(database, damage=damage.append)]) > 0
    assert [each.field for each in damage] == ["key"]
    assert call("dump", "rocksdbstore", root).code == 4
