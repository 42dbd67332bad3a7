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
from tests.support.cli import call, rows_of
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
    shutil.copytree(store("5.5.0"), root)
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


def test_what_is_no_row_is_damage(tmp_path: Path) -> None:
    from rocksdict import Options, Rdict

    root = tmp_path / "store"
    shutil.copytree(store("5.5.0"), root)
    with_more = Rdict(str(root / "rocksdbstore"), Options(raw_mode=True))
    with_more[b"@T@K@"] = b""
    with_more.close()
    damage: list[Damage] = []
    database = open_store(root).message_database
    assert database is not None
    assert len([*read_message_records(database, on_damage="collect", damage=damage.append)]) > 0
    assert [each.field for each in damage] == ["key"]
    assert call("dump", "rocksdbstore", root).code == 4
