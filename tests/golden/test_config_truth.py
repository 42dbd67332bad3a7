"""Topics, groups and offsets of real brokers' config files, against the broker's managers in memory."""

from __future__ import annotations

from typing import Any

import pytest

from parsers.config.groups import read_filters, read_groups
from parsers.config.offsets import read_delay_offsets, read_offsets
from parsers.config.topics import read_topics
from parsers.store.store import open_store
from recovery.rules.versions import BrokerVersion
from tests.support.stores import QUEUE_KINDS, store_names, store_root, topic_truth, truth

JSON_KINDS = tuple(kind for kind in QUEUE_KINDS if kind != "autoswitch")  # whose store classes ran without a broker
stores = pytest.mark.parametrize("name", store_names(*JSON_KINDS, subject="config"))

# Written during shutdown, after the broker's tables had been taken.
WRITTEN_LATER = {"5.5.0-propcrc": {"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS"}}
MADE_LATER_BY_4 = "RMQ_SYS_TRANS_HALF_TOPIC"


@stores
def test_offsets_equal_the_brokers(name: str) -> None:
    config, tables = open_store(store_root(name)).config, truth(name, "broker_tables.json")
    found: dict[str, dict[str, int]] = {}
    for _, offset in read_offsets(config):
        if offset.kind == "committed":
            queues = found.setdefault(f"{offset.topic}@{offset.group}", {})
            queues[str(offset.queue_id)] = offset.consumer_offset
    for key in WRITTEN_LATER.get(name, ()):
        assert found.pop(key)
    assert found == {key: queues for key, queues in tables["consumerOffsets"].items() if queues}
    assert {str(level): at for level, at in read_delay_offsets(config).items()} == tables["delayOffsets"]


@stores
def test_topics_and_groups_equal_the_brokers(name: str) -> None:
    config, tables = open_store(store_root(name)).config, truth(name, "broker_tables.json")
    topics = {topic.topic: topic_truth(topic) for _, topic in read_topics(config)}
    groups = {
        group.group: {
            "BrokerId": group.broker_id,
            "ConsumeBroadcastEnable": group.consume_broadcast_enable,
            "ConsumeEnable": group.consume_enable,
            "ConsumeFromMinEnable": group.consume_from_min_enable,
            "RetryMaxTimes": group.retry_max_times,
            "RetryQueueNums": group.retry_queue_nums,
        }
        for _, group in read_groups(config)
    }
    if BrokerVersion.parse("4.3.0") <= BrokerVersion.parse(name.partition("-")[0]) < BrokerVersion.parse("5.0.0"):
        topics = {
            topic: stored for topic, stored in topics.items() if topic in tables["topics"] or topic != MADE_LATER_BY_4
        }
    assert topics == {topic: {"attributes": None, **stored} for topic, stored in tables["topics"].items()}
    assert groups == tables["subscriptionGroups"]


@pytest.mark.parametrize("name", [name for name in store_names("clean") if name >= "4.9"])
def test_the_sql_filter_of_a_group_is_found(name: str) -> None:
    fate: Any = truth(name, "broker_tables.json")["groupFates"]["CG_sql"]
    (found,) = [stored for stored in read_filters(open_store(store_root(name)).config) if stored.group == "CG_sql"]
    assert found.expression_type == "SQL92"
    assert found.expression is not None
    assert found.expression in fate


@pytest.mark.parametrize("name", store_names("lmq"))
def test_offsets_of_light_queues_are_found(name: str) -> None:
    light = [offset for _, offset in read_offsets(open_store(store_root(name)).config) if offset.kind == "lmq"]
    assert {(offset.topic, offset.group) for offset in light} == {
        (f"%LMQ%{queue}", "%LMQ%g1") for queue in ("a", "b", "c", "shared")
    }


@pytest.mark.parametrize("name", store_names("clean", "propcrc"))
def test_pull_offsets_are_kept_apart(name: str) -> None:
    kinds = {offset.kind for _, offset in read_offsets(open_store(store_root(name)).config)}
    assert kinds == ({"committed", "pull"} if name.startswith("5.5.0-") else {"committed"})
