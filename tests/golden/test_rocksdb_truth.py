"""Every unit, limit and table that real brokers keep in RocksDB, against what their own classes said."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from parsers.config.groups import read_groups
from parsers.config.offsets import read_offsets
from parsers.config.topics import read_topics
from parsers.queues.store_queues import StoreQueues
from parsers.rocksdb.schema import DATABASE_UNIT_SCHEMA
from parsers.store.store import open_store
from parsers.values.topics import SCHEDULE_TOPIC
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.stores import store_names, store_root, topic_truth, truth, truth_lines

stores = pytest.mark.parametrize("name", store_names("rocksdb", "rocksdbv2", subject="queues"))

MADE_AT_EACH_START = "rmq_sys_wheel_timer"
"""A topic that the broker makes in its memory and never writes to the database."""
SYSTEM_GROUP = "CID_RMQ_SYS_TRANS"
"""Its offsets are written during shutdown, after the broker's tables had been taken."""


def queue_lines(name: str) -> dict[tuple[str, int], dict[str, Any]]:
    return {(line["topic"], line["queueId"]): line for line in truth_lines(name, "queues.jsonl.gz")}


@stores
def test_every_unit_equals_the_brokers(name: str) -> None:
    stored = {line["physicalOffset"]: line for line in truth_lines(name, "messages.jsonl.gz")}
    expected = queue_lines(name)
    with StoreQueues(open_store(store_root(name))) as queues:
        assert set(queues) == {key for key, line in expected.items() if line["maxOffset"]}
        for key, queue in queues.items():
            table = pa.Table.from_batches(queue.batches(), DATABASE_UNIT_SCHEMA)
            fields = ("physical_offset", "msg_size", "tags_code", "queue_offset")
            units = zip(*(table[field].to_pylist() for field in fields), strict=True)
            assert [list(unit) for unit in units] == [unit[:4] for unit in expected[key]["units"]]
            times = [stored[place]["storeTimestamp"] for place in table["physical_offset"].to_pylist()]
            assert table["store_timestamp_ms"].to_pylist() == times
            assert set(table["kind"].to_pylist()) == {"unit"}
            tags_kind = "delivery_time" if key[0] == SCHEDULE_TOPIC else "tag_hash"
            assert set(table["tags_code_kind"].to_pylist()) == {tags_kind}


@stores
def test_limits_of_every_queue_equal_the_brokers(name: str) -> None:
    expected, state = queue_lines(name), truth(name, "store_state.json")
    with StoreQueues(open_store(store_root(name))) as queues:
        for key, queue in queues.items():
            summary, line = queue.summary(state["minPhy"]), expected[key]
            assert (summary.min_queue_offset, summary.max_queue_offset) == (line["minOffset"], line["maxOffset"])
            assert queue.ends(state["minPhy"]) == (line["minOffset"], line["maxOffset"])
            assert (summary.units, summary.files) == (len(line["units"]), 0)
            place, size, *_ = line["units"][-1]
            assert summary.max_physical_offset == place + size
            last = queue.last_pointer()
            assert last == queue.pointer(line["maxOffset"] - 1) == (place, size)
            assert queue.pointer(line["maxOffset"]) is None
        assert queues.table is not None
        assert queues.table.dispatched_to == state["maxPhy"]


@pytest.mark.parametrize("name", store_names("rocksdb", subject="queues"))
def test_queues_are_those_of_the_topics_status(name: str) -> None:
    status = truth(name, "topicStatus.json")
    told = {
        (topic, queue["queueId"]): (queue["minOffset"], queue["maxOffset"])
        for topic, queues in status.items()
        for queue in queues
    }
    with StoreQueues(open_store(store_root(name))) as queues:
        ends = {key: queue.ends(0) for key, queue in queues.items()}
    assert ends == {key: limits for key, limits in told.items() if limits[1]}


@stores
def test_offsets_equal_the_brokers(name: str) -> None:
    config, tables = open_store(store_root(name)).config, truth(name, "broker_tables.json")
    found: dict[str, dict[str, int]] = {}
    for file, offset in read_offsets(config):
        assert file.kind == "rocksdb"
        if offset.kind == "committed" and offset.group != SYSTEM_GROUP:
            queues = found.setdefault(f"{offset.topic}@{offset.group}", {})
            queues[str(offset.queue_id)] = offset.consumer_offset
    own = {key: queues for key, queues in tables["consumerOffsets"].items() if queues}
    assert found == {key: queues for key, queues in own.items() if not key.endswith(SYSTEM_GROUP)}


@stores
def test_topics_and_groups_equal_the_brokers(name: str) -> None:
    config, tables = open_store(store_root(name)).config, truth(name, "broker_tables.json")
    topics = {topic.topic: topic_truth(topic) for _, topic in read_topics(config)}
    groups = {group.group: group.retry_max_times for _, group in read_groups(config)}
    told = {topic: {"attributes": None, **stored} for topic, stored in tables["topics"].items()}
    told_groups = {group: stored["RetryMaxTimes"] for group, stored in tables["subscriptionGroups"].items()}
    if name.endswith("v2"):  # keeps what was asked for by an administrator, and makes all others at each start
        assert len(topics) == 2
        assert topics == {topic: told[topic] for topic in topics}
        assert groups == {}
    else:
        assert topics == {topic: stored for topic, stored in told.items() if topic != MADE_AT_EACH_START}
        assert groups == told_groups


@pytest.mark.parametrize("version", ["5.4.0", "5.5.0"])
def test_tables_in_one_database_equal_the_brokers(version: str) -> None:
    """useSingleRocksDBForAllConfigs: config/metadata has a pair of column families for each table."""
    place = GOLDEN / "rocksdb_tables" / version
    tables = json.loads((place / "broker_tables.json").read_bytes())
    config = open_store(unpacked(place / "store.tar.gz") / "store").config
    assert {file.path.name for file, _ in read_topics(config)} == {"metadata"}
    told = {topic: {"attributes": None, **stored} for topic, stored in tables["topics"].items()}
    assert {each.topic: topic_truth(each) for _, each in read_topics(config)} == {
        topic: stored for topic, stored in told.items() if topic != MADE_AT_EACH_START
    }
    retries = {group: stored["RetryMaxTimes"] for group, stored in tables["subscriptionGroups"].items()}
    assert {each.group: each.retry_max_times for _, each in read_groups(config)} == retries
    found: dict[str, dict[str, int]] = {}
    for _, each in read_offsets(config):
        if each.kind == "committed":
            found.setdefault(f"{each.topic}@{each.group}", {})[str(each.queue_id)] = each.consumer_offset
    assert {"Meta-A@MG", "Meta-B@MG-2"} <= found.keys()
    assert found == {key: queues for key, queues in tables["consumerOffsets"].items() if queues}
