"""topicQueueMapping.json: which queues of which brokers a static topic's logical queues are made of (since 5.0.0).

A static topic keeps its number of queues whatever its brokers do: each logical queue is a chain of items, each of them
one queue of one broker from an offset on, and clients see offsets of the logical queue alone.
Source: TopicQueueMappingManager, LogicQueueMappingItem, TopicQueueMappingDetail#buildIdMap @5.3.1, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from parsers.config.document import Document, odd_value, read_document
from parsers.config.values import flag, int32, int64, text
from parsers.damage.errors import DamageSink, report
from parsers.layouts.columns import schema_from
from parsers.layouts.fastjson import Json, as_map, whole_number
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX, to_long

FILE, TABLE = "topicQueueMapping.json", "topicQueueMappingInfoMap"
QUEUE_MAPPING_SCHEMA = schema_from(
    "file text, topic text, scope text, total_queues i32, broker_name text, epoch i64, is_dirty flag, "
    "logic_queue_id i32, generation i32, item_broker_name text, queue_id i32, start_queue_offset i64, "
    "end_queue_offset i64, logic_start_offset i64, logic_end_offset i64, is_led_here flag"
)


@dataclass(frozen=True, slots=True)
class QueueMapping:
    """One item of a logical queue, or a static topic that has none here. None is not said, or not decided yet.

    Attributes:
        broker_name: the broker that the file is of, by its own word.
        item_broker_name, queue_id: the queue that holds the messages from start_queue_offset on, to before
            end_queue_offset.
        logic_start_offset, logic_end_offset: the same range as clients count.
        is_led_here: this broker takes the messages of the logical queue now.
    """

    topic: str
    scope: str | None
    total_queues: int | None
    broker_name: str | None
    epoch: int | None
    is_dirty: bool | None
    logic_queue_id: int | None = None
    generation: int | None = None
    item_broker_name: str | None = None
    queue_id: int | None = None
    start_queue_offset: int | None = None
    end_queue_offset: int | None = None
    logic_start_offset: int | None = None
    logic_end_offset: int | None = None
    is_led_here: bool | None = None


def read_queue_mappings(
    files: Sequence[StoreFile], *, damage: DamageSink | None = None
) -> list[tuple[StoreFile, QueueMapping]]:
    """Every item of every logical queue that the broker has or had a part of; what is none is reported and left out."""
    document = read_document(files, FILE, damage=damage)
    if document is None:
        return []
    return [(document.file, mapping) for mapping in _mappings(document, damage)]


def _mappings(document: Document, damage: DamageSink | None) -> Iterator[QueueMapping]:
    for topic, stored in document.table(TABLE).items():
        if not isinstance(stored, dict):
            report(odd_value(document, f"{TABLE}.{topic}", stored, "a map"), damage)
            continue
        of_topic = QueueMapping(
            topic,
            text(stored.get("scope")),
            int32(stored.get("totalQueues")),
            text(stored.get("bname")),
            int64(stored.get("epoch")),
            flag(stored.get("dirty")),
        )
        queues = as_map(stored.get("hostedQueues"))
        if not queues:
            yield of_topic
        for queue, items in queues.items():
            number = whole_number(queue)
            if number is None or not 0 <= number <= INT_MAX or not isinstance(items, list):
                odd = odd_value(document, f"{TABLE}.{topic}.hostedQueues.{queue}", items, "a list of items")
                report(odd, damage)
                continue
            for left, item in zip(reversed(range(len(items))), items, strict=True):
                yield _with_item(replace(of_topic, logic_queue_id=number), as_map(item), is_newest=left == 0)


def _with_item(mapping: QueueMapping, item: dict[str, Json], *, is_newest: bool) -> QueueMapping:
    """A row with what an item says. An end that is not after the start is not decided, a negative offset of the logical
    queue neither.

    Source: LogicQueueMappingItem#checkIfEndOffsetDecided, #checkIfLogicoffsetDecided, #computeMaxStaticQueueOffset
    @5.3.1.
    """
    name, start, end = text(item.get("bname")), int64(item.get("startOffset")), int64(item.get("endOffset"))
    logic = int64(item.get("logicOffset"))
    logic = None if logic is None or logic < 0 else logic
    end = None if end is None or start is None or end <= start else end
    return replace(
        mapping,
        generation=int32(item.get("gen")),
        item_broker_name=name,
        queue_id=int32(item.get("queueId")),
        start_queue_offset=start,
        end_queue_offset=end,
        logic_start_offset=logic,
        logic_end_offset=None if end is None or start is None or logic is None else to_long(logic + end - start),
        is_led_here=is_newest and name is not None and name == mapping.broker_name,
    )


def queue_mappings_to_batch(mappings: Iterable[tuple[StoreFile, QueueMapping]]) -> pa.RecordBatch:
    """One row of QUEUE_MAPPING_SCHEMA for each item."""
    names = QUEUE_MAPPING_SCHEMA.names[1:]
    rows = [{"file": file.name, **{name: getattr(each, name) for name in names}} for file, each in mappings]
    return pa.RecordBatch.from_pylist(rows, schema=QUEUE_MAPPING_SCHEMA)
