"""Topics and groups that a broker makes by itself, so that a configuration without them has lost nothing.

Source: TopicValidator, TopicConfigManager#init @5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.config.groups import is_system_group
from parsers.layouts.fastjson import Json, as_map
from parsers.values.topics import DLQ_PREFIX, RETRY_PREFIX, is_brokers_own, is_lmq

REPLY_SUFFIX = "_REPLY_TOPIC"
ROCKSDB_OFFSETS = "CHECKPOINT_TOPIC"
PERM_INHERIT = 1


def is_system_topic(topic: str) -> bool:
    """A topic that a start makes anew. Retry and dead-letter topics are none: a group's next contact makes those."""
    return is_brokers_own(topic) or is_lmq(topic) or topic.endswith((REPLY_SUFFIX, ROCKSDB_OFFSETS))


def is_made_by_clients(topic: str) -> bool:
    """A topic that somebody made for messages: no system topic, no retry or dead-letter topic."""
    return not is_system_topic(topic) and not topic.startswith((RETRY_PREFIX, DLQ_PREFIX))


def made_topics(rows: Mapping[str, Json]) -> set[str]:
    """Names in topics.json that no start makes: those of the broker and its cluster have perm 7, with inheritance."""
    return {name for name, row in rows.items() if not is_system_topic(name) and not _is_inherited(row)}


def made_groups(rows: Mapping[str, Json]) -> set[str]:
    """Names in subscriptionGroup.json that no start makes."""
    return {name for name in rows if not is_system_group(name)}


def _is_inherited(row: Json) -> bool:
    perm = as_map(row).get("perm")
    return isinstance(perm, int) and bool(perm & PERM_INHERIT)
