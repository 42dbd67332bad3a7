"""`rocketlens queues`: what each queue holds, as the broker would say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from pipelines.cli.command import command
from pipelines.cli.opening import NOTHING_SAID, store_at
from pipelines.cli.options import STORE_FILES, BrokerOptions, QueueOption, StoreArgument, TopicOption
from pipelines.cli.run import Run

if TYPE_CHECKING:
    from parsers.consumequeue.summary import QueueSummary
    from parsers.store import Store


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "queues", panel=STORE_FILES)(queues)


def queues(
    run: Run,
    store: StoreArgument,
    topic: TopicOption = None,
    queue: QueueOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Per topic and queue: offsets, messages, files.

    `messages` are those a consumer can still read (maximum - minimum); `units` includes the ones whose record is
    deleted. `max_physical_offset` is the CommitLog byte after the queue's last message; unknown without units.

    Example: `rocketlens queues /data/store --topic Orders`
    """
    import pyarrow as pa

    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("queue_id", pa.int32()),
            *((name, pa.int64()) for name in ("min_queue_offset", "max_queue_offset", "max_physical_offset", "units")),
            ("files", pa.int32()),
            ("messages", pa.int64()),
        ]
    )
    opened = store_at(run, store, broker)
    run.emit_rows(schema, (_row(found) for found in summaries(run, opened, topic, queue)))


def summaries(run: Run, store: Store, topic: str | None = None, queue: int | None = None) -> Iterator[QueueSummary]:
    """One summary per queue in order of topic and number."""
    from parsers.queues import StoreQueues

    first = store.commitlog[0].base_offset or 0 if store.commitlog else 0
    with StoreQueues(store, on_damage="collect", damage=run.damage) as queues:
        for key, found in queues.items():
            if topic in (None, key[0]) and queue in (None, key[1]):
                yield found.summary(first)


def _row(found: QueueSummary) -> dict[str, Any]:
    return {
        "topic": found.topic,
        "queue_id": found.queue_id,
        "min_queue_offset": found.min_queue_offset,
        "max_queue_offset": found.max_queue_offset,
        "max_physical_offset": found.max_physical_offset,
        "units": found.units,
        "files": found.files,
        "messages": found.max_queue_offset - found.min_queue_offset,
    }
