"""`rocketlens dump config`: topics, groups, offsets and static topics as the broker's config/*.json hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BrokerOptions, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, store_at
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.store import Store
    from parsers.store.store_file import StoreFile


class ConfigTable(StrEnum):
    """Tables of the configuration."""

    TOPICS = "topic_configs"
    GROUPS = "group_configs"
    OFFSETS = "offset_snapshots"
    MAPPINGS = "queue_mappings"


BRIEF = {
    ConfigTable.TOPICS: ("topic", "read_queue_nums", "write_queue_nums", "perm", "is_ordered", "attributes"),
    ConfigTable.GROUPS: ("group", "consume_enable", "consume_broadcast_enable", "retry_queue_nums", "retry_max_times"),
    ConfigTable.OFFSETS: ("group", "topic", "queue_id", "consumer_offset", "kind"),
    ConfigTable.MAPPINGS: (
        "topic",
        "logic_queue_id",
        "generation",
        "item_broker_name",
        "queue_id",
        "start_queue_offset",
        "end_queue_offset",
        "logic_start_offset",
        "is_led_here",
    ),
    None: ("table", "group", "topic", "queue_id", "consumer_offset", "read_queue_nums", "perm", "retry_max_times"),
}


@command("config")
def config(
    run: Run,
    source: StoreArgument,
    table: Annotated[ConfigTable | None, typer.Option(help="Only this table, with its own columns.")] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Topics, consumer groups, committed offsets and the queues of static topics, as stored.

    Without --table the rows of all of them come under one heading, `table` saying which one a row is of.

    Example: `rocketlens dump config /data/store --table offset_snapshots --format table`
    """
    import pyarrow as pa

    from pipelines.lake.tables.rows import conform

    store = store_at(run, source, broker, needs_log=False)
    tables = list(ConfigTable) if table is None else [table]
    schemas = {name: _schema(name) for name in tables}
    if table is not None:
        run.emit(schemas[table], conform(_rows(run, store, table), schemas[table]), brief=BRIEF[table])
        return
    joint = pa.unify_schemas([pa.schema([("table", pa.string())]), *schemas.values()])
    run.emit(joint, _joint(run, store, joint), brief=BRIEF[None])


def _joint(run: Run, store: Store, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from pipelines.lake.tables.rows import conform

    for table in ConfigTable:
        yield from conform(_rows(run, store, table), schema, {"table": table.value})


def _schema(table: ConfigTable) -> pa.Schema:
    from pipelines.lake.tables.raw import TABLES

    return TABLES[table.value].bare_schema


def _rows(run: Run, store: Store, table: ConfigTable) -> Iterator[pa.RecordBatch]:
    """One batch per file that rows came from: `file` and `written_at` are the same for all of its rows."""
    from parsers.config.groups import groups_to_batch, read_groups
    from parsers.config.offsets import offsets_to_batch, read_offsets
    from parsers.config.queue_mappings import queue_mappings_to_batch, read_queue_mappings
    from parsers.config.topics import read_topics, topics_to_batch

    readers: dict[
        ConfigTable, tuple[Callable[..., Sequence[tuple[StoreFile, object]]], Callable[..., pa.RecordBatch]]
    ] = {
        ConfigTable.TOPICS: (read_topics, topics_to_batch),
        ConfigTable.GROUPS: (read_groups, groups_to_batch),
        ConfigTable.OFFSETS: (read_offsets, offsets_to_batch),
        ConfigTable.MAPPINGS: (read_queue_mappings, queue_mappings_to_batch),
    }
    read, to_batch = readers[table]
    by_file: dict[StoreFile, list[tuple[StoreFile, object]]] = {}
    for file, row in read(store.config, damage=run.damage):
        by_file.setdefault(file, []).append((file, row))
    for file, rows in by_file.items():
        yield _stamped(to_batch(rows), file)


def _stamped(batch: pa.RecordBatch, file: StoreFile) -> pa.RecordBatch:
    import pyarrow as pa

    from parsers.layouts.columns import TIMESTAMP

    written = datetime.fromtimestamp(file.mtime_ns // 1000 / 1_000_000, UTC)
    named = batch.set_column(0, "file", pa.repeat(pa.scalar(f"config/{file.path.name}"), batch.num_rows))
    return named.append_column("written_at", pa.repeat(pa.scalar(written, TIMESTAMP), batch.num_rows))
