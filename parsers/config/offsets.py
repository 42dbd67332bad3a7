"""Committed consumer offsets and the progress of delayed delivery.

Source: broker/offset/ConsumerOffsetManager.java, LmqConsumerOffsetManager.java, schedule/ScheduleMessageService.java.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import pyarrow as pa

from parsers.config.document import Document, odd_value, read_document
from parsers.damage.errors import DamageSink, report
from parsers.layouts.columns import schema_from
from parsers.layouts.fastjson import Json, as_map, whole_number
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX

OffsetKind = Literal["committed", "pull", "lmq"]
FILES = ("consumerOffset.json", "lmqConsumerOffset.json")
TABLES: dict[str, OffsetKind] = {"offsetTable": "committed", "pullOffsetTable": "pull"}
LMQ_TABLE, LMQ_QUEUE_ID = "lmqOffsetTable", 0
OFFSET_SCHEMA = schema_from("file text, group text, topic text, queue_id i32, consumer_offset i64, kind text")


@dataclass(frozen=True, slots=True)
class ConsumerOffset:
    """The next message number that `group` will consume (kind `pull`, since 5.5.0: pull) of one queue.

    `group` keeps a suffix `@broadcast`, under which a broker notes a broadcasting group's progress.
    """

    group: str
    topic: str
    queue_id: int
    consumer_offset: int
    kind: OffsetKind


OffsetTable = dict[tuple[str, str], dict[int, int]]
"""(group, topic) -> queue -> next message."""


def offset_table(offsets: Iterable[ConsumerOffset]) -> OffsetTable:
    """Offsets by group, topic and queue; of several of one queue the last."""
    table: OffsetTable = {}
    for offset in offsets:
        table.setdefault((offset.group, offset.topic), {})[offset.queue_id] = offset.consumer_offset
    return table


def read_offsets(
    files: Sequence[StoreFile], *, damage: DamageSink | None = None
) -> list[tuple[StoreFile, ConsumerOffset]]:
    """Every stored offset of a store's config files, with the file it is from.

    With enableLmq the broker keeps all offsets in lmqConsumerOffset.json and leaves an older consumerOffset.json alone,
    so where both exist both are read, and the file tells them apart.
    """
    found: list[tuple[StoreFile, ConsumerOffset]] = []
    for name in FILES:
        document = read_document(files, name, damage=damage)
        if document is not None:
            found += ((document.file, offset) for offset in document_offsets(document, damage))
    return found


def document_offsets(document: Document, damage: DamageSink | None = None) -> Iterator[ConsumerOffset]:
    """The offsets of one document; a key or value that is none is reported and left out."""
    for table, kind in TABLES.items():
        for name, queues in document.table(table).items():
            for queue_id, value in as_map(queues).items():
                yield from _offset(document, name, queue_id, value, kind, damage)
    for name, value in document.table(LMQ_TABLE).items():
        yield from _offset(document, name, str(LMQ_QUEUE_ID), value, "lmq", damage)


def read_delay_offsets(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> dict[int, int]:
    """delayOffset.json: delay level (queue id + 1) -> number of the next message to deliver in that queue."""
    document = read_document(files, "delayOffset.json", damage=damage)
    levels: dict[int, int] = {}
    for level, value in document.table("offsetTable").items() if document else ():
        number, next_offset = whole_number(level), whole_number(value)
        if document and (number is None or next_offset is None):
            report(odd_value(document, f"offsetTable.{level}", value, "level:offset"), damage)
        elif number is not None and next_offset is not None:
            levels[number] = next_offset
    return levels


def offsets_to_batch(offsets: Iterable[tuple[StoreFile, ConsumerOffset]]) -> pa.RecordBatch:
    """One row of OFFSET_SCHEMA for each offset."""
    rows = [{"file": file.name, **asdict(offset)} for file, offset in offsets]
    return pa.RecordBatch.from_pylist(rows, schema=OFFSET_SCHEMA)


def _offset(
    document: Document, name: str, queue_id: str, value: Json, kind: OffsetKind, damage: DamageSink | None
) -> Iterator[ConsumerOffset]:
    topic, at, group = name.partition("@")
    number, offset = whole_number(queue_id), whole_number(value)
    if at and group and offset is not None and number is not None and 0 <= number <= INT_MAX:
        yield ConsumerOffset(group, topic, number, offset, kind)
    else:
        report(odd_value(document, f"{name}.{queue_id}", value, "topic@group: {queue: offset}"), damage)
