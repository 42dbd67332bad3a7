"""`rocketlens queues`: what each queue holds, as the broker would say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from pipelines.cli.command import command
from pipelines.cli.opening import NOTHING_SAID, known_store_at
from pipelines.cli.options import STORE_FILES, BrokerOptions, QueueOption, StoreArgument, TopicOption
from pipelines.cli.run import Run

if TYPE_CHECKING:
    from parsers.consumequeue.summary import QueueSummary
    from parsers.store import Store
    from recovery.versions import BrokerVersion


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

    Offsets are those that the broker answers once it is started: before 5.0.0 the minimum of a queue whose messages
    have all been deleted is 0. `messages` are those a consumer can still read; `units` includes the ones whose record
    is deleted. `max_physical_offset` is the CommitLog byte after the queue's last message; unknown without units.

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
    opened, known = known_store_at(run, store, broker)
    run.emit_rows(schema, _rows(run, opened, known.version, topic, queue))


def _rows(
    run: Run, store: Store, version: BrokerVersion, topic: str | None, queue: int | None
) -> Iterator[dict[str, Any]]:
    """One row per queue in order of topic and number."""
    from parsers.queues import FileQueue, StoreQueues
    from recovery.queue_minimum import broker_minimum

    first = store.commitlog[0].base_offset or 0 if store.commitlog else 0
    with StoreQueues(store, on_damage="collect", damage=run.damage) as queues:
        for key, found in queues.items():
            if topic in (None, key[0]) and queue in (None, key[1]):
                summary = found.summary(first)
                files = found.files if isinstance(found, FileQueue) else ()
                yield _row(summary, broker_minimum(summary, files, version))


def _row(found: QueueSummary, minimum: int) -> dict[str, Any]:
    return {
        "topic": found.topic,
        "queue_id": found.queue_id,
        "min_queue_offset": minimum,
        "max_queue_offset": found.max_queue_offset,
        "max_physical_offset": found.max_physical_offset,
        "units": found.units,
        "files": found.files,
        "messages": found.max_queue_offset - found.min_queue_offset,
    }
