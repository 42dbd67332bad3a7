"""A start of a broker that keeps its queues in files and in a database: what is told, and what is advised."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.store.store import open_store
from recovery.broker.store_folder import DatabaseFolder
from tests.support.copies import copy_tree
from tests.support.forecasts import assert_open, told
from tests.support.recovery_cases import database_cases
from tests.support.stores import store_root

CASES = database_cases()
LIGHT_IN_DATABASE = {"combineCQUseRocksdbForLmq": "true"}
BOTH_KEPT = {"rocksdbCQDoubleWriteEnable": "true", "storeType": "default"}


@pytest.mark.parametrize(
    ("version", "comes_up"), [("5.3.3", True), ("5.4.0", True), ("5.5.0", False), ("5.5.1", False)]
)
def test_a_broker_that_keeps_queues_twice_needs_light_ones_in_the_database(version: str, comes_up: bool) -> None:
    """A broker of 5.5.0 ended so: "unexpected, rocksdbCQ is not ready for LMQ". The store's classes alone start."""
    root = store_root("5.3.3-cqext")
    document = told(root, version, BOTH_KEPT)
    assert document["load"]["ok"]
    assert (document["start"]["returns"], document["config"]["initialize"]) == (comes_up, comes_up)
    if not comes_up:
        assert "combineCQUseRocksdbForLmq" in document["start"]["error"]
        assert document["config"]["destroyed"] == []
        assert all(file["reached"] for file in document["config"]["files"])
        assert told(root, version, BOTH_KEPT | LIGHT_IN_DATABASE)["start"]["returns"]
        assert told(root, version, {"storeType": "default"})["start"]["returns"]
    ways = [each["config"] for each in document["advice"] if each["then"]]
    assert ways[:2] == ([] if comes_up else [LIGHT_IN_DATABASE, {"rocksdbCQDoubleWriteEnable": "false"}])


def test_where_light_queues_end_that_the_database_alone_gets_is_not_told() -> None:
    document = told(store_root("5.3.3-lmq"), "5.5.1", BOTH_KEPT | LIGHT_IN_DATABASE)
    ends = {queue["topic"]: queue["max_queue_offset"] for queue in document["after_dispatch"]["queues"]}
    assert {ends[topic] for topic in ends if topic.startswith("%LMQ%")} == {None}
    assert all(end is not None for topic, end in ends.items() if not topic.startswith("%LMQ%"))
    assert any("light topics" in unknown["what"] for unknown in document["unknown"])
    assert document["load"]["ok"]
    assert not document["losses_are_known"]


def test_light_queues_in_files_are_not_given_up_for_a_database_that_may_lack_them() -> None:
    document = told(store_root("5.3.3-lmq"), "5.5.1", BOTH_KEPT)
    assert [each["config"] for each in document["advice"] if each["then"]] == [{"rocksdbCQDoubleWriteEnable": "false"}]


def both_kept(base: str, *, crashed: bool) -> dict[str, Any]:
    """The recorded start of a broker with queue files and a database beside them, nothing damaged."""
    cases = (CASES.case(name) for name in CASES.names())
    wanted = (base, "combined.none", crashed)
    return next(case for case in cases if (case["base"], case["damageClass"], case["abortPresent"]) == wanted)


def test_accelerated_recovery_begins_where_the_database_beside_the_files_ends() -> None:
    """CombineConsumeQueueStore#getDispatchFromPhyOffset @5.5.1: the smaller number of both, after a crash too."""
    case = both_kept("r551-combined-behind", crashed=True)
    with CASES.built(case) as root:
        database = DatabaseFolder.opened(root / "consumequeue").table
        settings = {**case["configOverrides"], **LIGHT_IN_DATABASE, "enableAcceleratedRecovery": "true"}
        document = told(root, "5.5.1", settings)
        places = pa.Table.from_batches(read_commitlog(open_store(root), columns=["physical_offset"]))[0].to_numpy()
    assert database is not None
    assert document["redispatched_messages"] == int((places >= database.dispatched_to).sum())


def test_damage_in_the_database_beside_the_files_leaves_open_what_is_dispatched() -> None:
    case = both_kept("r551-combined", crashed=False)
    with CASES.built(case) as root:
        limits = root / "consumequeue" / "000010.sst"
        limits.write_bytes(limits.read_bytes().replace(b"max", b"mix", 1))
        document = told(root, "5.5.1", case["configOverrides"])
    assert (document["redispatched_messages"], document["losses_are_known"], document["advice"]) == (None, False, [])
    assert any("how much is dispatched again" in each["what"] for each in document["unknown"])


def test_a_version_without_a_folder_apart_does_not_look_into_it() -> None:
    """5.4.0 makes a new database in consumequeue/, or opens the one that is there."""
    case = both_kept("r551-combined-behind", crashed=True)
    apart = {**case["configOverrides"], "useSeparateStorePathForRocksdbCQ": "true"}
    with CASES.built(case) as root:
        there = told(root, "5.4.0", apart)
        copy_tree(root / "consumequeue", root / "consumequeue_rocksdb")
        for path in (root / "consumequeue").iterdir():
            if path.is_file():
                path.unlink()
        not_looked_at = told(root, "5.4.0", apart)
        without = told(root, "5.4.0", case["configOverrides"])
    assert_open(there, "what the database of queues holds")
    assert not_looked_at["redispatched_messages"] == without["redispatched_messages"] > 0


@pytest.mark.parametrize(
    ("edits", "settings"),
    [("combined.none", {}), ("combined.no_database", {}), ("combined.none", {"commitLogRecoverMaxNum": "1"})],
    ids=["too far behind", "empty", "not filled in"],
)
def test_a_database_that_is_to_answer_and_lacks_messages_is_left_for_the_files(
    edits: str, settings: dict[str, str]
) -> None:
    """The start fails, or pulls lack messages that the queue files have: combineCQPreferCQType=default loses none."""
    cases = (CASES.case(name) for name in CASES.names() if name.startswith("q551cb") and "answers" in name)
    case = next(case for case in cases if case["damageClass"] == f"{edits}_rocks_answers" and not case["abortPresent"])
    with CASES.built(case) as root:
        document = told(root, "5.5.1", case["configOverrides"] | settings)
    advice = document["advice"][0]
    assert document["load"]["ok"] is not True or document["start"]["error"] or document["lost_counts"]["queue_unit"]
    assert advice["config"] == {"combineCQPreferCQType": "default", **LIGHT_IN_DATABASE}
    assert (advice["then"]["starts"], advice["then"]["lost_counts"]) == (
        True,
        {"message": 0, "queue_unit": 0, "index_entries": 0},
    )
