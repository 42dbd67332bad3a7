"""Two versions of a broker on one store: what differs between them, and nothing that does not.

The judges are recorded brokers of one kind of incident in two versions, and the forecast of each version by itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recovery.rules.settings import StoreSettings
from recovery.rules.versions import PROVEN
from tests.support.cli import call, rows_of
from tests.support.incidents import incident
from tests.support.stores import store_root

Row = dict[str, Any]


def upgraded(store: Path, *options: str) -> list[Row]:
    return rows_of("upgrade", store, *options, "--format", "jsonl")


def of(rows: list[Row], about: str) -> dict[str, Row]:
    return {row["what"]: row for row in rows if row["about"] == about}


@pytest.mark.parametrize("version", [str(version) for version in PROVEN])
def test_a_version_and_itself_differ_in_nothing(version: str) -> None:
    rows = upgraded(store_root("4.7.1-clean"), "--version", version, "--to", version, "--rules")
    assert {row["what"] for row in rows} == {"the start", "lost by it"}
    assert all(row["before"] == row["after"] for row in rows)


@pytest.mark.parametrize("to", [str(version) for version in PROVEN])
def test_each_side_is_the_forecast_of_its_version(to: str) -> None:
    case = incident("4.9.7-kill9")
    rows = of(upgraded(case.killed_root, "--version", "4.9.8", "--to", to), "start")
    for side, version in (("before", "4.9.8"), ("after", to)):
        (told,) = rows_of("forecast", case.killed_root, "--version", version, "--format", "jsonl")
        comes_up = told["load"]["ok"] and told["start"]["returns"]
        assert rows["the start"][side] == ("comes up" if comes_up else "does not come up")
        lost = sum(count or 0 for count in told["lost_counts"].values())
        assert (rows["lost by it"][side] == "nothing") == (lost == 0)
        if "messages dispatched again" in rows and comes_up:
            assert rows["messages dispatched again"][side] == str(told["redispatched_messages"])


def test_a_group_beyond_the_end_goes_on_at_0_before_4_9_4_and_at_the_end_since() -> None:
    """CG_x-away came back to no broker; CG_x-online did, to 5.3.3, from beyond the end, and went to the end."""
    online = rows_of(
        "offsets",
        incident("5.3.3-topic-recreated").root,
        "--logs",
        incident("5.3.3-topic-recreated").logs,
        "--format",
        "jsonl",
    )
    moved = [row for row in online if row["kind"] == "corrected" and row["group"] == "CG_x-online"]
    assert moved
    assert all(row["to_queue_offset"] < row["from_queue_offset"] for row in moved)
    store = incident("4.9.7-topic-recreated").root
    groups = of(upgraded(store, "--version", "4.9.2", "--to", "4.9.7"), "group")
    row = groups["CG_x-away on Orders/0, offset 50"]
    assert row["before"].startswith("goes on at 0 ")
    assert row["after"].startswith("goes on at 27 ")
    assert not of(upgraded(store, "--version", "4.9.7", "--to", "4.9.8"), "group")


def test_settings_that_one_version_does_not_read_are_named(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("mapedFileSizeCommitLog=1048576\ntimerWheelEnable=true\nfileReservedTime=48\nlistenPort=10911\n")
    options = ("--version", "4.4.0", "--to", "5.3.3", "--broker-conf", str(conf))
    told = call("upgrade", store_root("4.4.0-clean"), *options, "--format", "jsonl")
    rows = told.rows
    assert told.code == 1  # the log's files have another size than the default
    assert of(rows, "start")["the start"]["after"] == "does not come up"
    settings = of(rows, "setting")
    assert settings.keys() == {"mapedFileSizeCommitLog=1048576", "timerWheelEnable=true"}
    assert settings["mapedFileSizeCommitLog=1048576"]["after"].startswith("not read")
    assert settings["timerWheelEnable=true"]["before"].startswith("not read")
    (other,) = [row for row in rows if row["what"] == "whether other settings are read"]
    assert "listenPort" in other["why"]
    assert "fileReservedTime" not in str(rows)


def test_queues_and_tables_in_databases_are_left_behind_by_an_older_broker() -> None:
    store = store_root("5.5.0-rocksdb")
    told = call(
        "upgrade", store, "--version", "5.5.0", "--to", "4.9.8", "--config", "storeType=defaultRocksDB",
        "--format", "jsonl",
    )  # fmt: skip
    assert told.code == 1
    places, back = of(told.rows, "place"), of(told.rows, "way_back")
    assert {row["after"] for row in places.values()} == {"in files", "in config/*.json"}
    assert {"queues", "topics, groups and offsets"} <= back.keys()


def test_queues_that_an_older_broker_does_not_have_are_named() -> None:
    options = ("--version", "5.5.0", "--to", "5.0.0", "--config", "storeType=defaultRocksDB")
    rows = of(call("upgrade", store_root("5.5.0-rocksdb"), *options, "--format", "jsonl").rows, "start")
    assert "queue unit" in rows["lost by it"]["after"]
    ends = {what: row for what, row in rows.items() if what.startswith("the end of ")}
    assert ends
    assert {row["after"] for row in ends.values()} == {"no such queue"}
    assert all(int(row["before"]) for row in ends.values())


def test_what_is_not_played_of_a_version_is_not_known() -> None:
    """A broker that has no DLedger on a store of DLedger's; one that has no queues of batches loses them."""
    told = call("upgrade", store_root("5.3.3-batchcq"), "--version", "5.3.3", "--to", "4.9.8", "--format", "jsonl")
    batch = of(told.rows, "start")
    assert (told.code, batch["the end of Small/1"]["after"]) == (1, "no such queue")
    assert int(batch["the end of Small/1"]["before"]) > 0
    store = store_root("4.9.7-dledger")
    assert of(upgraded(store, "--version", "4.9.8", "--to", "4.5.2"), "start")["the start"]["after"] == "comes up"
    told = call("upgrade", store, "--version", "4.9.8", "--to", "4.4.0", "--format", "jsonl")
    assert told.code == 1
    assert {what: row["after"] for what, row in of(told.rows, "start").items()} == {
        "the start": "not known",
        "lost by it": "not known",
    }
    assert "4.4.0 has no DLedger" in str(of(told.rows, "not_known"))


@pytest.mark.parametrize(("to", "named"), [("4.9.8", False), ("5.0.0", True), ("5.1.1", True), ("5.1.2", False)])
def test_a_version_that_may_save_no_delay_offsets_before_it_has_read_them_is_named(to: str, *, named: bool) -> None:
    """A delayed message that was delivered is delivered again by a broker that finds no offset of its level."""
    rows = upgraded(incident("4.9.7-delay-overdue").root, "--version", "4.9.7", "--to", to)
    assert ("whether all delayed messages in the log are delivered again" in of(rows, "not_known")) is named


def test_rules_that_differ_come_with_their_source() -> None:
    rows = of(upgraded(store_root("4.7.1-clean"), "--version", "4.9.8", "--to", "5.3.3", "--rules"), "rule")
    assert rows["redispatches after clean exit"]["after"] == "yes"
    assert all("@" in row["why"] or "ntil" in row["why"] or "…" in row["why"] for row in rows.values())


@pytest.mark.parametrize(("version", "read"), [("4.5.1", True), ("4.5.2", False)])
def test_a_former_name_is_read_until_it_was_renamed(version: str, *, read: bool) -> None:
    parsed = type(PROVEN[0]).parse(version)
    assert StoreSettings.is_read("mapedFileSizeCommitLog", parsed) is read
    assert StoreSettings.is_read("mappedFileSizeCommitLog", parsed) is not read
    assert StoreSettings.is_read("listenPort", parsed) is None


@pytest.mark.parametrize(("version", "read"), [("5.1.1", False), ("5.1.2", True)])
def test_the_folder_of_a_tiered_store_has_this_name_since_5_1_2(version: str, *, read: bool) -> None:
    """TieredMessageStoreConfig @5.1.1 has tieredStoreFilepath, with another P."""
    assert StoreSettings.is_read("tieredStoreFilePath", type(PROVEN[0]).parse(version)) is read
