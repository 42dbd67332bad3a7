"""topics.json: the broker's topics. Source: broker/topic/TopicConfigManager.java, common/TopicConfig.java @5.3.3."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from parsers.config.document import Document, odd_value, read_document
from parsers.config.values import flag, int32, text
from parsers.damage.errors import DamageSink, report
from parsers.layouts.columns import schema_from
from parsers.layouts.fastjson import as_map
from parsers.store.store_file import StoreFile
from parsers.values.topics import SYSTEM_PREFIX

FILE = "topics.json"
INHERITED = 1
"""PermName.PERM_INHERIT: of the topics a broker makes for itself."""
TOPIC_CONFIG_SCHEMA = schema_from(
    "file text, topic text, read_queue_nums i32, write_queue_nums i32, perm i32, topic_filter_type text, "
    "topic_sys_flag i32, is_ordered flag, attributes text"
)


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """One topic; None where the file does not say. `perm`: 4 read, 2 write, 1 inherit. `attributes`: since 5.0.0."""

    topic: str
    read_queue_nums: int | None
    write_queue_nums: int | None
    perm: int | None
    topic_filter_type: str | None
    topic_sys_flag: int | None
    is_ordered: bool | None
    attributes: dict[str, str] | None


def read_topics(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> list[tuple[StoreFile, TopicConfig]]:
    """Every topic of a store's topics.json (or its .bak), with the file it is from."""
    document = read_document(files, FILE, damage=damage)
    if document is None:
        return []
    return [(document.file, topic) for topic in document_topics(document, damage)]


def document_topics(document: Document, damage: DamageSink | None = None) -> Iterator[TopicConfig]:
    for name, stored in document.table("topicConfigTable").items():
        if not isinstance(stored, dict):
            report(odd_value(document, f"topicConfigTable.{name}", stored, "a map"), damage)
            continue
        attributes = stored.get("attributes")
        yield TopicConfig(
            topic=name,
            read_queue_nums=int32(stored.get("readQueueNums")),
            write_queue_nums=int32(stored.get("writeQueueNums")),
            perm=int32(stored.get("perm")),
            topic_filter_type=text(stored.get("topicFilterType")),
            topic_sys_flag=int32(stored.get("topicSysFlag")),
            is_ordered=flag(stored.get("order")),
            attributes=None if attributes is None else {key: str(value) for key, value in as_map(attributes).items()},
        )


def broker_named_by(topics: Iterable[tuple[str, object, tuple[object, object]]]) -> str | None:
    """The broker's name as its own topics tell it: it keeps a topic of that name, with one queue.

    None where no topic, or more than one, can be it. Source: TopicConfigManager#init @5.3.3.

    Args:
        topics: of each the name, perm, and the numbers of queues to read and to write.
    """
    own = [
        name
        for name, perm, queues in topics
        if isinstance(perm, int) and perm & INHERITED and queues == (1, 1) and not name.startswith(SYSTEM_PREFIX)
    ]
    return own[0] if len(own) == 1 else None


def topics_to_batch(topics: Iterable[tuple[StoreFile, TopicConfig]]) -> pa.RecordBatch:
    """One row of TOPIC_CONFIG_SCHEMA for each topic; `attributes` as JSON."""
    rows = [
        {
            **{name: getattr(topic, name) for name in TOPIC_CONFIG_SCHEMA.names[1:-1]},
            "file": file.name,
            "attributes": None if topic.attributes is None else json.dumps(topic.attributes, sort_keys=True),
        }
        for file, topic in topics
    ]
    return pa.RecordBatch.from_pylist(rows, schema=TOPIC_CONFIG_SCHEMA)
