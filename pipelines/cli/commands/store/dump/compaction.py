"""`rocketlens dump compaction`: the messages of compacted queues' logs, or the units that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BrokerOptions, QueueOptions, StoreOrFile
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import file_as, is_file, store_at
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.places import FileKind
    from parsers.store.store_file import StoreFile

MESSAGE_BRIEF = ("position", "topic", "queue_id", "queue_offset", "store_timestamp", "body_size", "tags", "keys")


@command("compaction")
def compaction(
    run: Run,
    source: StoreOrFile,
    *,
    units: Annotated[bool, typer.Option("--units", help="The units of their queues instead.")] = False,
    wanted: QueueOptions,
    broker: BrokerOptions,
) -> None:
    """Copies of compacted topics: the messages that passes have left, and their places in the queue's own log.

    Example: `rocketlens dump compaction /data/store --topic Latest --queue 0`
    """
    import pyarrow as pa

    from parsers.compaction.copies import read_copies
    from parsers.compaction.schema import COPY_SCHEMA
    from parsers.compaction.sparse_queue import SPARSE_UNIT_SCHEMA, read_sparse_queue
    from pipelines.lake.tables.rows import conform
    from pipelines.lake.tables.table import plain_type

    layout = SPARSE_UNIT_SCHEMA if units else COPY_SCHEMA
    schema = pa.schema([(field.name, plain_type(field.type)) for field in layout])
    files = _files(run, source, broker, "compaction_queue" if units else "compaction_log", wanted)

    def batches() -> Iterator[pa.RecordBatch]:
        for of_queue in files:
            if units:
                yield from read_sparse_queue(of_queue, damage=run.damage)
            else:
                yield from read_copies(of_queue, damage=run.damage)

    run.emit(schema, conform(batches(), schema), brief=tuple(layout.names) if units else MESSAGE_BRIEF)


def _files(
    run: Run, source: Path, broker: BrokerOptions, kind: FileKind, wanted: QueueOptions
) -> list[list[StoreFile]]:
    """The wanted files, queue by queue."""
    if is_file(source):
        return [[file_as(run, source, kind)]]
    store = store_at(run, source, broker, needs_log=False)
    by_queue = store.compaction_queues if kind == "compaction_queue" else store.compaction_logs
    return [by_queue[key] for key in sorted(by_queue) if wanted.wants(*key)]
