"""`rocketlens dump commitlog` and `dump regions`: the records of a log, and what every byte of it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsers.java import LONG_MAX
from pipelines.cli.frame.command import command
from pipelines.cli.frame.opening import NOTHING_SAID, file_at, is_file, store_at
from pipelines.cli.frame.options import BrokerOptions, QueueOption, StoreOrFile, TopicOption, instant_of
from pipelines.cli.frame.progress import tracked
from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.commitlog.read import MessageFilter
    from parsers.store import StoreFile

BRIEF = (
    "physical_offset",
    "topic",
    "queue_id",
    "queue_offset",
    "store_timestamp",
    "body_size",
    "tags",
    "keys",
    "unique_id",
)
BODIES = ("body", "body_decompressed")
REGION_BRIEF = ("file", "file_pos", "length", "kind", "reason")


def register(dump: typer.Typer) -> None:
    """Add the commands to the group."""
    command(dump, "commitlog")(commitlog)
    command(dump, "regions")(regions)


def commitlog(
    run: Run,
    source: StoreOrFile,
    topic: TopicOption = None,
    queue: QueueOption = None,
    key: Annotated[
        str | None, typer.Option(metavar="K", help="Only messages with this key (one of KEYS, or UNIQ_KEY).")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="T", help="Stored at or after: ISO 8601 (UTC), epoch ms, `now`, `-1h` or `03:12`."),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="T", help="Stored before.")] = None,
    from_offset: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=LONG_MAX, help="Physical offset at or after.")
    ] = None,
    to_offset: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=LONG_MAX, help="Physical offset below.")
    ] = None,
    bodies: Annotated[
        bool,
        typer.Option(
            "--bodies",
            help="Add body (as stored) and body_decompressed: in a table as text or hexadecimal, in JSON as base64.",
        ),
    ] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Messages of the CommitLog in physical order, every header field decoded.

    Example: `rocketlens dump commitlog /data/store --topic Orders --since 2026-11-21T03:00Z --format csv`
    """
    import pyarrow as pa

    from parsers.commitlog.arrow import ALL_COLUMNS, MESSAGE_SCHEMA
    from parsers.commitlog.read import MessageFilter
    from pipelines.cli.frame.output import pick_columns

    schema = pa.schema([*MESSAGE_SCHEMA, *(ALL_COLUMNS.field(name) for name in BODIES if bodies)])
    where = MessageFilter(
        topics=None if topic is None else [topic],
        queue_id=queue,
        key=key,
        min_physical_offset=from_offset,
        max_physical_offset=to_offset,
        since_ms=None if since is None else instant_of(since, "--since"),
        until_ms=None if until is None else instant_of(until, "--until"),
    )
    wanted = pick_columns(schema, run.columns)
    brief = (*BRIEF[:5], "tags", "keys", "body_decompressed") if bodies else BRIEF
    run.emit(schema, _messages(run, source, _files(run, source, broker), where, wanted), brief=brief)


def regions(run: Run, source: StoreOrFile, broker: BrokerOptions = NOTHING_SAID) -> None:
    """What every byte of the CommitLog is: messages, blank, damage, stale records, unwritten.

    The ranges of a file lie end to end, so their lengths add up to its size.

    Example: `rocketlens dump regions /data/store`
    """
    from pipelines.lake.tables.raw import COMMITLOG_REGIONS

    files = _files(run, source, broker)
    run.emit_rows(COMMITLOG_REGIONS.bare_schema, _regions(run, source, files), brief=REGION_BRIEF)


def _files(run: Run, source: Path, broker: BrokerOptions) -> list[StoreFile]:
    from parsers.commitlog.dledger_entry import begins_with_entry

    if is_file(source):
        return [file_at(run, source, "dledger" if begins_with_entry(source) else "commitlog", "commitlog", "dledger")]
    return store_at(run, source, broker).commitlog


def _messages(
    run: Run, source: Path, files: list[StoreFile], where: MessageFilter, wanted: list[str]
) -> Iterator[pa.RecordBatch]:
    from parsers.commitlog.read import read_commitlog

    columns = list(dict.fromkeys([*wanted, "physical_offset"]))
    batches = read_commitlog(files, columns=columns, where=where, damage=run.damage)
    for batch in tracked(run, batches, sum(file.size for file in files), _log_bytes):
        yield _placed(batch, {} if is_file(source) else {file.name: file.log_folder for file in files})


def _log_bytes(batch: pa.RecordBatch) -> int:
    """About how much of the log a batch stands for."""
    places = batch.column("physical_offset")
    return int(places[-1].as_py() - places[0].as_py())


def _placed(batch: pa.RecordBatch, folders: Mapping[str, str]) -> pa.RecordBatch:
    """Give the rows of one file their `file` as a path below the store root."""
    if not folders or "file" not in batch.schema.names or not batch.num_rows:
        return batch
    import pyarrow.compute as pc

    folder = folders[batch.column("file")[0].as_py()]
    names = pc.binary_join_element_wise(folder, batch.column("file"), "/")
    return batch.set_column(batch.schema.get_field_index("file"), "file", names)


def _regions(run: Run, source: Path, files: list[StoreFile]) -> Iterator[dict[str, Any]]:
    from parsers.commitlog.segment import regions_of
    from pipelines.cli.frame.rows import place_of

    for file in tracked(run, files, sum(file.size for file in files), lambda file: file.size):
        for found in regions_of(file):
            yield {
                "file": place_of(file.path, source),
                "physical_offset": None if file.base_offset is None else file.base_offset + found.file_pos,
                "file_pos": found.file_pos,
                "length": found.length,
                "kind": found.kind,
                "reason": found.reason,
            }
