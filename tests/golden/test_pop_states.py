"""What is popped by files that state it: kvStore and consumerOrderInfo.json, written by the classes of three versions.

The judge is what these classes then said: the records that a scan finds, and each message of each ordered pop.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from parsers.config.order_info import read_order_info
from parsers.damage.errors import CorruptRecord, Damage
from parsers.messages.pop_record import RECORDS, read_pop_records
from parsers.store.store import open_store
from parsers.values.java import LONG_MAX
from tests.support.build_store import FIRST_MS, StoreBuilder, write_json
from tests.support.cli import Called, call, rows_of
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, unpacked

VERSIONS = ("5.3.3", "5.4.0", "5.5.0")
WHOLE = b'{"popTime":1,"groupId":"G","topicId":"T","queueId":0,"retryFlag":0,"invisibleTime":2,"offset":3}'
Row = dict[str, Any]


def told(version: str) -> dict[str, list[Row]]:
    said: dict[str, list[Row]] = json.loads(gzip.decompress((GOLDEN / "pop" / version / "told.json.gz").read_bytes()))
    return said


def states(version: str) -> Path:
    return unpacked(GOLDEN / "pop" / version / "store.tar.gz") / "store"


@pytest.mark.parametrize("version", VERSIONS)
def test_every_record_of_the_database_is_what_its_own_scan_finds(version: str) -> None:
    database = open_store(states(version)).pop_database
    assert database is not None
    rows = [row for table in read_pop_records(database) for row in table.to_pylist()]
    names = {"group": "group", "topic": "topic", "queue_id": "queueId", "queue_offset": "queueOffset"}
    assert [
        {theirs: row[ours] for ours, theirs in names.items()}
        | {"popTime": row["pop_time_ms"], "visibleAt": row["pop_time_ms"] + row["invisible_ms"]}
        for row in rows
    ] == told(version)["records"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_message_of_an_ordered_pop_is_as_the_manager_holds_it(version: str) -> None:
    found = read_order_info(open_store(states(version)).config)
    assert {
        (each.group, each.topic, each.queue_id, each.queue_offset, each.pop_time_ms, each.visible_at_ms, each.is_acked)
        for each in found
    } == {
        (row["group"], row["topic"], row["queueId"], row["queueOffset"], row["popTime"], row["visibleAt"], row["acked"])
        for row in told(version)["orders"]
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A log with three messages of queue 1 of T, beside what 5.5.0 states."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(3):
        builder.put("T", 1)
    root = builder.finish()
    for name in ("kvStore", "config/consumerOrderInfo.json"):
        place = states("5.5.0") / name
        (copy_tree if place.is_dir() else shutil.copy)(place, root / name)
    return root


def test_what_files_state_is_in_flight_or_acknowledged(store: Path) -> None:
    rows = rows_of("pop", store, "--messages", "--format", "jsonl")
    said = told("5.5.0")
    records, orders = ([row for row in rows if row["source"] == name] for name in ("kv_store", "order_info"))
    assert (len(records), len(orders), len(rows)) == (len(said["records"]), len(said["orders"]), len(rows))
    assert {row["state"] for row in records} == {"in_flight"}
    acked = {(row["group"], row["queueId"], row["queueOffset"]): row["acked"] for row in said["orders"]}
    for row in orders:
        is_acked = acked[row["group"], row["queue_id"], row["queue_offset"]]
        assert row["state"] == ("acked" if is_acked else "in_flight")
    in_log = {row["queue_offset"]: row["unique_id"] for row in rows if row["physical_offset"] is not None}
    assert set(in_log) <= {0, 1, 2}
    assert in_log
    assert all(unique is not None for unique in in_log.values())
    sums = rows_of("pop", store, "--format", "jsonl")
    assert sum(row["in_flight"] for row in sums) == sum(row["state"] == "in_flight" for row in rows)


def put_records(root: Path, *values: bytes) -> None:
    """kvStore of a store, with these values in order."""
    from rocksdict import Options, Rdict

    database = Rdict(str(root / "kvStore"), Options(raw_mode=True))
    family = database.create_column_family("popState", Options(raw_mode=True))
    for number, value in enumerate(values):
        family[bytes([number])] = value
    family.flush()
    database.flush()
    database.close()


@pytest.mark.parametrize(("of", "odd"), [(b'Id":0', b'Id":%d' % 2**40), (b":2", b":%d" % LONG_MAX)])
def test_a_record_of_no_queue_or_instant_is_damage(tmp_path: Path, of: bytes, odd: bytes) -> None:
    builder = StoreBuilder(tmp_path / "store")
    builder.put("T")
    root = builder.finish()
    put_records(root, WHOLE.replace(of, odd), WHOLE)
    called = call("pop", root, "--messages", "--format", "jsonl")
    assert called.code == 4, called.err
    assert {row["queue_offset"] for row in called.rows} == {3}


def test_rows_that_are_no_records_are_damage(tmp_path: Path) -> None:
    put_records(tmp_path, WHOLE, b"{", b'{"popTime":1}', WHOLE.replace(b":3", b':"x"'))
    (tmp_path / "commitlog").mkdir()
    file = open_store(tmp_path).pop_database
    assert file is not None
    damages = list[Damage]()
    rows = [row for table in read_pop_records(file, damage=damages.append) for row in table.to_pylist()]
    assert [row["queue_offset"] for row in rows] == [3]
    assert len(damages) == 3
    assert rows[0].keys() == set(RECORDS.schema.names)
    with pytest.raises(CorruptRecord):
        list(read_pop_records(file))


def ordered(store: Path, table: Row) -> Called:
    """What is said of the store whose orderly pops are these alone."""
    write_json(store / "config" / "consumerOrderInfo.json", {"table": table})
    shutil.rmtree(store / "kvStore", ignore_errors=True)
    return call("pop", store, "--messages", "--format", "jsonl")


def test_the_order_of_5_0_0_says_when_it_was_popped_alone(store: Path) -> None:
    """ConsumerOrderInfoManager.OrderInfo#encode @5.0.0."""
    entry, odd = {"c": 0, "cm": 2, "l": FIRST_MS, "o": [0, 2]}, {"o": ["x"]}
    called = ordered(store, {"T@G": {"1": entry}, "T": {"0": entry, "1": odd}})
    assert called.code == 4, "two entries are none"
    first, second = called.rows
    assert (first["queue_offset"], first["state"]) == (0, "in_flight")
    assert (first["popped_at"], first["invisible_until"]) == ("2026-11-18T11:06:40.000Z", None)
    assert "does not say until when" in first["reason"]
    assert (second["queue_offset"], second["state"]) == (2, "acked")


@pytest.mark.parametrize(
    "entry",
    [{"o": [LONG_MAX, 1], "cm": 0}, {"o": [0], "cm": 0, "popTime": LONG_MAX, "i": 1}, {"o": [], "cm": 0}],
)
def test_an_orderly_pop_whose_sums_are_no_longs_is_none(store: Path, entry: Row) -> None:
    whole = {"o": [1], "cm": 0, "popTime": FIRST_MS, "i": 1000}
    called = ordered(store, {"T@G": {"0": entry, "1": whole}})
    assert called.code == 4, called.err
    assert [row["queue_id"] for row in called.rows] == [1]


def test_an_orderly_pop_that_the_stored_offset_is_past_is_not_in_flight(store: Path) -> None:
    """The file is saved every ten seconds, and apart from the offsets."""
    write_json(store / "config" / "consumerOffset.json", {"offsetTable": {"T@G": {"0": 2, "1": 2}}})
    whole = {"o": [0, 1, 2], "cm": 1, "popTime": FIRST_MS, "i": 1000}
    called = ordered(store, {"T@G": {"1": whole}, "T@H": {"1": whole}})
    states = {(row["group"], row["queue_offset"]): row["state"] for row in called.rows}
    acked, unknown, flying = "acked", "unknown", "in_flight"
    assert [states["G", offset] for offset in range(3)] == [acked, unknown, flying]
    assert [states["H", offset] for offset in range(3)] == [acked, flying, flying], "no offset of it is stored"
    told = {row["queue_offset"]: row["reason"] or "" for row in called.rows if row["group"] == "G"}
    assert ["stored offset is past it" in told[offset] for offset in range(3)] == [False, True, False]
    sums = {row["group"]: row for row in rows_of("pop", store, "--format", "jsonl")}
    assert (sums["G"]["in_flight"], sums["G"]["unknown"]) == (1, 1)


KV, ORDERED = "kvStore is here", "groups pop in order here"


@pytest.mark.parametrize("command", ["lag", "backlog", "ledger"])
def test_what_counts_by_offsets_says_where_pops_are_kept(store: Path, command: str) -> None:
    offsets = {"T@G": {"1": 2}, "%RETRY%G_T@G": {"0": 0}}
    write_json(store / "config" / "consumerOffset.json", {"offsetTable": offsets})
    called = call(command, store, "--format", "jsonl")
    assert (KV in called.err, ORDERED in called.err) == (True, True), called.err
    if command == "lag":
        reasons = [row["reason"] for row in called.rows if row["topic"] == "T"]
        assert reasons
        assert all("until its next pop, acknowledged or not" in reason for reason in reasons)
    write_json(store / "config" / "consumerOrderInfo.json", {"table": {}})
    shutil.rmtree(store / "kvStore")
    told = call(command, store, "--format", "jsonl").err
    assert (KV in told, ORDERED in told) == (False, False), "5.x saves an empty table, too"
