"""subscriptionGroup.json and consumerFilter.json: the broker's consumer groups and their stored filters.

Source: broker/subscription/SubscriptionGroupManager.java, broker/filter/ConsumerFilterManager.java @5.3.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from parsers.config.document import Document, odd_value, read_document
from parsers.config.values import flag, int32, int64, text
from parsers.damage.errors import DamageSink, report
from parsers.layouts.columns import schema_from
from parsers.layouts.fastjson import Json, as_map
from parsers.store.store_file import StoreFile

FILE, FILTER_FILE = "subscriptionGroup.json", "consumerFilter.json"
SYSTEM_GROUP_PREFIX = "CID_RMQ_SYS_"
SYSTEM_GROUPS = (
    "DEFAULT_CONSUMER",
    "TOOLS_CONSUMER",
    "SCHEDULE_CONSUMER",
    "FILTERSRV_CONSUMER",
    "__MONITOR_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PULL",
)
GROUP_CONFIG_SCHEMA = schema_from(
    "file text, group text, broker_id i64, consume_enable flag, consume_from_min_enable flag, "
    "consume_broadcast_enable flag, retry_queue_nums i32, retry_max_times i32, is_ordered flag, settings text"
)


def is_system_group(group: str) -> bool:
    """Whether brokers and tools make the group for themselves. Source: MixAll#isSysConsumerGroupPullMessage @5.3.3."""
    return group in SYSTEM_GROUPS or group.startswith(SYSTEM_GROUP_PREFIX)


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """One consumer group; None where the file does not say (`is_ordered`: since 5.0.0). `settings`: all, as stored."""

    group: str
    broker_id: int | None
    consume_enable: bool | None
    consume_from_min_enable: bool | None
    consume_broadcast_enable: bool | None
    retry_queue_nums: int | None
    retry_max_times: int | None
    is_ordered: bool | None
    settings: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ConsumerFilter:
    """A filter expression that the broker keeps for a group; `dead_time` (epoch ms) when the group left.

    `bit_positions` are those that a bit map of `bit_count` bits has set for a message that passes the filter.
    """

    topic: str
    group: str
    expression_type: str | None
    expression: str | None
    born_time: int | None
    dead_time: int | None
    client_version: int | None
    bit_count: int | None
    bit_positions: tuple[int, ...]


def read_groups(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> list[tuple[StoreFile, GroupConfig]]:
    """Every group of a store's subscriptionGroup.json (or its .bak), with the file it is from."""
    document = read_document(files, FILE, damage=damage)
    if document is None:
        return []
    return [(document.file, group) for group in document_groups(document, damage)]


def document_groups(document: Document, damage: DamageSink | None = None) -> Iterator[GroupConfig]:
    for name, stored in document.table("subscriptionGroupTable").items():
        if not isinstance(stored, dict):
            report(odd_value(document, f"subscriptionGroupTable.{name}", stored, "a map"), damage)
            continue
        yield GroupConfig(
            group=name,
            broker_id=int64(stored.get("brokerId")),
            consume_enable=flag(stored.get("consumeEnable")),
            consume_from_min_enable=flag(stored.get("consumeFromMinEnable")),
            consume_broadcast_enable=flag(stored.get("consumeBroadcastEnable")),
            retry_queue_nums=int32(stored.get("retryQueueNums")),
            retry_max_times=int32(stored.get("retryMaxTimes")),
            is_ordered=flag(stored.get("consumeMessageOrderly")),
            settings=stored,
        )


def read_filters(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> list[ConsumerFilter]:
    """Every stored filter of a store's consumerFilter.json (or its .bak)."""
    document = read_document(files, FILTER_FILE, damage=damage)
    if document is None:
        return []
    return filters_of(document.table("filterDataByTopic"))


def filters_of(by_topic: Mapping[str, Json]) -> list[ConsumerFilter]:
    """The filters in the table filterDataByTopic of the file."""
    return [
        ConsumerFilter(
            topic=topic,
            group=group,
            expression_type=text(stored.get("expressionType")),
            expression=text(stored.get("expression")),
            born_time=int64(stored.get("bornTime")),
            dead_time=int64(stored.get("deadTime")),
            client_version=int64(stored.get("clientVersion")),
            bit_count=int32(as_map(stored.get("bloomFilterData")).get("bitNum")),
            bit_positions=_bit_positions(as_map(stored.get("bloomFilterData"))),
        )
        for topic, by_group in by_topic.items()
        for group, stored in _maps(as_map(by_group).get("groupFilterData"))
    ]


def _bit_positions(bloom: dict[str, Json]) -> tuple[int, ...]:
    """Those that lie inside the bit map; none where one does not."""
    stored, count = bloom.get("bitPos"), int32(bloom.get("bitNum"))
    places = [int32(place) for place in stored] if isinstance(stored, list) else []
    inside = tuple(place for place in places if place is not None and 0 <= place < (count or 0))
    return inside if len(inside) == len(places) else ()


def groups_to_batch(groups: Iterable[tuple[StoreFile, GroupConfig]]) -> pa.RecordBatch:
    """One row of GROUP_CONFIG_SCHEMA for each group; `settings` as JSON."""
    rows = [
        {
            **{name: getattr(group, name) for name in GROUP_CONFIG_SCHEMA.names[1:-1]},
            "file": file.name,
            "settings": json.dumps(group.settings, sort_keys=True),
        }
        for file, group in groups
    ]
    return pa.RecordBatch.from_pylist(rows, schema=GROUP_CONFIG_SCHEMA)


def _maps(value: Json | None) -> Iterator[tuple[str, dict[str, Json]]]:
    return ((name, as_map(stored)) for name, stored in as_map(value).items())
