"""A start with queues and tables in RocksDB: what is told, what stays open, what moving there and back does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rocksdict import Options, Rdict

from parsers.rocksdb.layout import KEY_QUEUE
from recovery.broker.store_folder import Entry
from recovery.config.databases import load_table, table_database
from recovery.config.files import TOPICS, Stage
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.build_store import write_json
from tests.support.copies import copy_tree
from tests.support.forecasts import assert_open, told
from tests.support.recovery_cases import database_cases
from tests.support.stores import store_root, truth_lines

FILES_TO_DATABASE = {
    "storeType": "defaultRocksDB",
    "mappedFileSizeCommitLog": "1048576",
    "maxHashSlotNum": "500",
    "maxIndexNum": "2000",
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    copy_tree(store_root("5.5.0-rocksdb"), root)
    return root


@pytest.mark.parametrize("name", ["5.5.0-rocksdb", "5.3.3-rocksdbv2"])
def test_a_store_in_order_starts_as_it_is_and_nothing_stays_open(name: str) -> None:
    document = told(store_root(name), name[:5])
    ends = {
        (queue["topic"], queue["queue_id"]): queue["max_queue_offset"] for queue in document["after_dispatch"]["queues"]
    }
    real = {(line["topic"], line["queueId"]): line["maxOffset"] for line in truth_lines(name, "queues.jsonl.gz")}
    assert ends == {key: end for key, end in real.items() if end}
    assert (document["redispatched_messages"], document["lost"], document["config"]["lost_counts"]["topics"]) == (
        0,
        [],
        0,
    )
    assert not any("queue" in unknown["what"] or "topics" in unknown["what"] for unknown in document["unknown"])


def test_after_a_crash_all_that_the_database_lost_is_dispatched_again(copy: Path) -> None:
    (copy / "abort").touch()
    shutil.rmtree(copy / "consumequeue")
    document = told(copy, "5.5.1", {"storeType": "defaultRocksDB"})
    assert document["redispatched_messages"] > 350
    assert document["lost"] == []


def test_a_database_that_rocksdb_refuses_stops_the_load(copy: Path) -> None:
    next((copy / "consumequeue").glob("*.sst")).unlink()
    document = told(copy, "5.5.1", {"storeType": "defaultRocksDB"})
    assert not document["load"]["ok"]
    assert "the database of queues cannot be opened" in document["load"]["error"]


def test_of_a_damaged_database_nothing_is_called_lost_and_nothing_is_advised(copy: Path) -> None:
    units = copy / "consumequeue" / "000011.sst"
    data = units.read_bytes()
    units.write_bytes(data[:300] + bytes(40) + data[340:])
    document = told(copy, "5.5.1", {"storeType": "defaultRocksDB"})
    assert (document["load"]["ok"], document["losses_are_known"]) == (True, False)
    assert (document["lost"], document["advice"]) == ([], [])
    assert any("cannot be read" in unknown["why"] for unknown in document["unknown"])


def test_a_table_that_rocksdb_refuses_stops_the_broker_before_its_store(copy: Path) -> None:
    (copy / "config" / "topics" / "CURRENT").write_bytes(b"MANIFEST-000099\n")
    document = told(copy, "5.5.1")
    assert (document["config"]["initialize"], document["config"]["refused_by"]) == (False, "config/topics")


def test_a_json_table_that_counts_further_is_loaded_over_the_database(copy: Path) -> None:
    older = '{"dataVersion":{"counter":%d},"topicConfigTable":{"FromJson":{"topicName":"FromJson"}}}'
    files = {file["file"]: file["rows"] for file in told(copy, "5.5.1")["config"]["files"]}
    (copy / "config" / "topics.json").write_text(older % 0)
    same = {file["file"]: file["rows"] for file in told(copy, "5.5.1")["config"]["files"]}
    newer = (older % 10**9).encode().replace(b'"topicName"', b'"\xff":1,"topicName"')  # Java takes any bytes
    (copy / "config" / "topics.json").write_bytes(newer)
    more = {file["file"]: file["rows"] for file in told(copy, "5.5.1")["config"]["files"]}
    assert (same["config/topics"], more["config/topics"]) == (files["config/topics"], files["config/topics"] + 1)


@pytest.mark.parametrize(("version", "missing"), [("5.3.1", "all"), ("5.3.3", "first")])
def test_moving_from_files_in_order_leaves_messages_in_no_queue(version: str, missing: str) -> None:
    """Before 5.3.2 nothing is dispatched after an orderly stop; since then all but the log's first message."""
    root = store_root("5.3.3-clean")
    settings = StoreSettings.from_config(FILES_TO_DATABASE)
    document = told(root, version, FILES_TO_DATABASE)
    lost, dispatched = document["lost_counts"]["queue_unit"], document["redispatched_messages"]
    assert settings.uses_rocksdb_queues
    assert (lost, bool(dispatched)) == (1, True) if missing == "first" else (lost > 100 and dispatched == 0)
    assert not any("recheckReputOffsetFromCq" in advice["config"] for advice in document["advice"])
    crash = next(advice for advice in document["advice"] if "abort" in advice["files"])
    assert (crash["then"]["lost_counts"]["queue_unit"], crash["then"]["losses_are_known"]) == (0, True)


def test_filling_a_database_from_more_files_than_are_searched_takes_a_setting(tmp_path: Path) -> None:
    """The search ends at the commitLogRecoverMaxNum-th newest file from 5.4.0 on, and what lies before stays out."""
    limited = {**FILES_TO_DATABASE, "commitLogRecoverMaxNum": "1"}
    files = len(list((store_root("5.3.3-clean") / "commitlog").iterdir()))
    advice = [each for each in told(store_root("5.3.3-clean"), "5.5.1", limited)["advice"] if "abort" in each["files"]]
    assert [each["config"] for each in advice] == [{"commitLogRecoverMaxNum": str(files)}]
    assert advice[0]["then"]["lost_counts"]["queue_unit"] == 0


def test_what_a_recheck_dispatches_into_a_database_is_not_told() -> None:
    """SCHEDULE_TOPIC_XXXX has its queues before dispatch begins, so that it may begin behind most of the log."""
    document = told(store_root("5.3.3-clean"), "5.3.3", {**FILES_TO_DATABASE, "recheckReputOffsetFromCq": "true"})
    open_ones = {name: document[name] for name in ("dispatch_from", "redispatched_messages", "after_dispatch")}
    assert set(open_ones.values()) == {None}
    assert (document["load"]["ok"], document["losses_are_known"], document["advice"]) == (True, False, [])
    assert any("recheckReputOffsetFromCq" in each["what"] for each in document["unknown"])


def test_accelerated_recovery_of_a_database_is_not_foretold_before_5_5_1(copy: Path) -> None:
    """5.4.0 may delete whole files of the log then."""
    accelerated = {"storeType": "defaultRocksDB", "enableAcceleratedRecovery": "true"}
    assert_open(told(copy, "5.4.0", accelerated), "enableAcceleratedRecovery")
    assert told(copy, "5.5.1", accelerated)["load"]["ok"]


def test_queue_files_beside_a_database_leave_the_start_open_until_storetype_is_said(copy: Path) -> None:
    copy_tree(store_root("5.3.3-clean") / "consumequeue", copy / "consumequeue", into_existing=True)
    assert_open(told(copy, "5.5.1"), "in files or in the database")
    assert told(copy, "5.5.1", {"storeType": "defaultRocksDB"})["load"]["ok"] is not None
    assert told(copy, "5.5.1", {"storeType": "default"})["load"]["ok"] is not None


@pytest.mark.parametrize("version", ["5.2.0", "5.3.0"])
def test_older_brokers_refuse_tables_with_more_families_than_they_open(copy: Path, version: str) -> None:
    config = told(copy, version)["config"]
    assert (config["initialize"], config["refused_by"]) == (False, "config/topics")


def with_json(root: Path, name: str, table: str, row: str) -> Path:
    """An empty database of that table beside a JSON file that counts further."""
    shutil.rmtree(root / "config")
    (root / "config").mkdir()
    text = f'{{"dataVersion":{{"counter":9}},"{table}":{{{row}}}}}'
    (root / "config" / name).write_text(text)
    return root


def rows_of(root: Path, version: str, table: str, settings: dict[str, str]) -> int:
    document = told(root, version, {"storeType": "defaultRocksDB", **settings})
    return next(file["rows"] for file in document["config"]["files"] if file["file"] == f"config/{table}")


TRANSFER = {"transferMetadataJsonToRocksdb": "true", "transferOffsetJsonToRocksdb": "true"}


@pytest.mark.parametrize(
    ("version", "settings", "rows"),
    [("5.2.0", {}, 0), ("5.3.0", {}, 0), ("5.3.1", {}, 0), ("5.3.1", TRANSFER, 1), ("5.3.2", {}, 1)],
)
def test_which_version_loads_json_over_a_database(
    copy: Path, version: str, settings: dict[str, str], rows: int
) -> None:
    with_json(copy, "topics.json", "topicConfigTable", '"T":{"topicName":"T"}')
    assert rows_of(copy, version, "topics", settings) == rows


@pytest.mark.parametrize(("version", "settings"), [("5.3.1", TRANSFER), ("5.3.2", {})])
def test_offsets_of_light_queues_are_merged_from_the_same_file(
    copy: Path, version: str, settings: dict[str, str]
) -> None:
    with_json(copy, "consumerOffset.json", "offsetTable", '"T@G":{"0":5}')
    assert rows_of(copy, version, "consumerOffsets", {"enableLmq": "true", **settings}) == 1


@pytest.mark.parametrize("version", ["5.2.0", "5.3.2"])
def test_a_blank_json_file_counts_no_further_than_a_database(copy: Path, version: str) -> None:
    """fastjson makes null of it, which no manager refuses."""
    with_json(copy, "topics.json", "topicConfigTable", "").joinpath("config", "topics.json").write_text(" \n")
    assert rows_of(copy, version, "topics", {}) == 0


def test_a_json_file_that_went_since_it_was_listed_counts_for_none(tmp_path: Path) -> None:
    version = BrokerVersion.parse("5.3.2")
    settings = StoreSettings.from_config({"storeType": "defaultRocksDB"})
    database = table_database(TOPICS, version, settings)
    assert database is not None
    listed = {"topics.json": Entry("topics.json", tmp_path / "topics.json", 5, False, 0)}
    load = load_table(listed, TOPICS, Stage.METADATA, version, database)
    assert (load.returns, load.rows) == (True, {})


def test_5_3_1_is_offered_the_settings_that_load_its_json(copy: Path) -> None:
    with_json(copy, "topics.json", "topicConfigTable", '"Small":{"topicName":"Small","writeQueueNums":4}')
    document = told(copy, "5.3.1", {"storeType": "defaultRocksDB"})
    assert "Small" in document["config"]["lost"]["topics"]
    assert {"transferMetadataJsonToRocksdb": "true"} in [each["config"] for each in document["advice"]]


def test_writing_both_leaves_open_what_becomes_of_the_other() -> None:
    document = told(store_root("5.3.3-clean"), "5.5.1", {"rocksdbCQDoubleWriteEnable": "true"})
    assert any("the database beside the queue files" in unknown["what"] for unknown in document["unknown"])


CASES = database_cases()


def test_of_a_queue_whose_end_is_open_no_number_is_told() -> None:
    seen = 0
    for name in CASES.names():
        case = CASES.case(name)
        if case["version"] != "5.5.1" or case["damageClass"] != "rocks.log_cut" or not case["abortPresent"]:
            continue
        with CASES.built(case) as root:
            document = told(root, case["version"], case["configOverrides"])
        queues = document["after_dispatch"]["queues"]
        open_ones = [queue for queue in queues if queue["max_queue_offset"] is None]
        named = {(queue["topic"], queue["queue_id"]) for queue in open_ones}
        assert document["losses_are_known"] == (not open_ones)
        assert not [
            loss
            for loss in document["lost"]
            if loss["what"] == "queue_unit" and (loss["topic"], loss["queue_id"]) in named
        ]
        assert all(queue["min_queue_offset"] is None for queue in open_ones)
        seen += len(open_ones)
    assert seen


def test_before_5_3_2_a_queue_is_open_whose_topic_config_does_not_tell() -> None:
    """A truncation there comes to the queues of known topics alone."""
    names = [name for name in CASES.names() if CASES.case(name)["version"] == "5.3.1"]
    name = next(name for name in names if CASES.case(name)["damageClass"] == "rocks.log_cut")
    case = CASES.case(name)
    with CASES.built(case) as root:
        unsaid = told(root, "5.3.1", case["configOverrides"])
        (root / "config").mkdir()
        row = '{"dataVersion":{"counter":1},"topicConfigTable":{"Other":{"topicName":"Other"}}}'
        (root / "config" / "topics.json").write_text(row)
        transferred = told(root, "5.3.1", {**case["configOverrides"], "transferMetadataJsonToRocksdb": "true"})
    assert any(queue["max_queue_offset"] is None for queue in unsaid["after_dispatch"]["queues"])
    assert not unsaid["losses_are_known"]
    assert any("what a pull of" in each["what"] for each in transferred["unknown"])


def test_a_database_of_tables_alone_leaves_the_queues_in_files() -> None:
    """5.1.4 knows storeType for topics, groups and offsets only; 5.1.3 not at all."""
    root, said = store_root("5.3.3-clean"), {"storeType": "defaultRocksDB"}
    before, moved, not_known = told(root, "5.1.4"), told(root, "5.1.4", said), told(root, "5.1.3", said)
    tables = {file["file"] for file in moved["config"]["files"]}
    assert {"config/topics", "config/subscriptionGroups", "config/consumerOffsets"} <= tables
    assert moved["config"]["lost_counts"]["topics"] > before["config"]["lost_counts"]["topics"]
    assert moved["after_dispatch"]["consumequeue_sha256"] == before["after_dispatch"]["consumequeue_sha256"]
    assert "what storeType does" in {unknown["what"] for unknown in not_known["unknown"]}
    assert not_known["config"]["files"] == told(root, "5.1.3")["config"]["files"]


def without_every_second_unit(root: Path) -> None:
    """Of the queue Small/0, whose first message the database no longer notes."""
    folder = str(root / "consumequeue")
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(folder)}
    database = Rdict(folder, options=Options(raw_mode=True), column_families=families)
    units, limits = database.get_column_family("default"), database.get_column_family("offset")
    own = b"Small\1" + KEY_QUEUE.pack({"separator": 1, "queue_id": 0, "separator_2": 1})[1:]
    mine = [key for key in units.keys() if own in key]  # noqa: SIM118 - no mapping
    for key in sorted(mine)[1::2]:
        del units[key]
    for key in [key for key in limits.keys() if b"Small\1min" in key]:  # noqa: SIM118
        del limits[key]
    database.close()
    (root / "consumequeue" / "rocksdict-config.json").unlink()


def test_a_unit_before_what_the_broker_takes_for_the_first_is_told_so(copy: Path) -> None:
    """As of a broker of 5.5.0 with BatchCQ topics: every fifth number had a unit, and its queue began with the last."""
    without_every_second_unit(copy)
    document = told(copy, "5.5.1", {"storeType": "defaultRocksDB"})
    reasons = {loss["queue_offset"]: loss["reason"] for loss in document["lost"] if loss["what"] == "queue_unit"}
    first = next(q for q in document["after_dispatch"]["queues"] if q["topic"] == "Small" and q["queue_id"] == 0)
    assert first["min_queue_offset"] == 48
    assert {number for number, why in reasons.items() if why.startswith("its unit is in the database")} == set(
        range(0, 48, 2)
    )


@pytest.mark.parametrize("base", ["r533-rocks", "r551-rocks"])
def test_a_queue_that_only_a_lost_database_had_is_numbered_from_0(base: str) -> None:
    """The store classes of 5.3.3 and 5.5.1 make queues of the messages of the log again, and no others."""
    version = {"counter": 5, "stateVersion": 0, "timestamp": 1_795_381_938_000}
    topics = {name: {"topicName": name, "perm": 6, "readQueueNums": 4} for name in ("TopicA", "Old")}
    offsets = {"Old@g": {"0": 40}, "TopicA@g": {"0": 71}, "Deleted@g": {"0": 9}}
    with database_cases().built({"base": base, "edits": [{"op": "delete", "path": "consumequeue"}]}) as root:
        for path in sorted((root / "commitlog").iterdir())[:-1]:
            path.unlink()
        write_json(root / "config" / "topics.json", {"topicConfigTable": topics, "dataVersion": version})
        write_json(root / "config" / "consumerOffset.json", {"offsetTable": offsets, "dataVersion": version})
        (root / "abort").touch()
        found = told(root, f"{base[1]}.{base[2]}.{base[3]}", {"storeType": "defaultRocksDB"})["renumbered"]
    skipping = [{"group": "g", "consumer_offset": 40}]
    assert [(each["topic"], each["was_next_queue_offset"], each["next_queue_offset"]) for each in found] == [
        ("Old", 40, 0)
    ]
    assert list(found[0]["skipping"]) == skipping
