"""`rocketlens dump commitlog` and `dump regions`: the records of a log, and what every byte of it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.command import command
from pipelines.cli.errors import WrongUsage
from pipelines.cli.opening import file_at, is_file, store_at
from pipelines.cli.options import QueueOption, StoreOrFile, TopicOption
from pipelines.cli.progress import tracked
from pipelines.cli.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

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
KEY_COLUMNS = ("keys", "unique_id")
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
        str | None, typer.Option(metavar="T", help="Stored at or after: epoch ms or ISO 8601 (UTC).")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="T", help="Stored before or at.")] = None,
    from_offset: Annotated[int | None, typer.Option(metavar="N", help="Physical offset at or after.")] = None,
    to_offset: Annotated[int | None, typer.Option(metavar="N", help="Physical offset below.")] = None,
    bodies: Annotated[bool, typer.Option("--bodies", help="Add body (as stored) and body_decompressed.")] = False,
) -> None:
    """Messages of the CommitLog in physical order, every header field decoded.

    Example: `rocketlens dump commitlog /data/store --topic Orders --since 2026-11-21T03:00Z --format csv`
    """
    import pyarrow as pa

    from parsers.commitlog.arrow import ALL_COLUMNS, MESSAGE_SCHEMA
    from pipelines.cli.output import pick_columns

    schema = pa.schema([*MESSAGE_SCHEMA, *(ALL_COLUMNS.field(name) for name in BODIES if bodies)])
    wanted = pick_columns(schema, run.columns)
    needed = list(dict.fromkeys([*wanted, *(KEY_COLUMNS if key is not None else ())]))
    asked = {
        "columns": needed,
        "topics": None if topic is None else [topic],
        "queue_id": queue,
        "min_physical_offset": from_offset,
        "max_physical_offset": to_offset,
        "since_ms": _instant(since, "--since"),
        "until_ms": _instant(until, "--until"),
    }
    files = _files(run, source)
    batches = (_with_key(batch, key) for batch in _messages(run, source, files, asked))
    run.emit(schema, batches, brief=BRIEF)


def regions(run: Run, source: StoreOrFile) -> None:
    """What every byte of the CommitLog is: messages, blank, damage, stale records, unwritten.

    The ranges of a file lie end to end, so their lengths add up to its size.

    Example: `rocketlens dump regions /data/store`
    """
    from pipelines.tables import COMMITLOG_REGIONS

    run.emit_rows(COMMITLOG_REGIONS.bare_schema, _regions(run, source, _files(run, source)), brief=REGION_BRIEF)


def _files(run: Run, source: Path) -> list[StoreFile]:
    if is_file(source):
        return [file_at(run, source, "commitlog")]
    store = store_at(run, source)
    if any("DLedger" in (found.why or "") for found in store.not_understood):
        run.not_read(f"{source}: its log is a DLedger log (enableDLegerCommitLog), whose entries are not read here")
    return store.commitlog


def _messages(run: Run, source: Path, files: list[StoreFile], asked: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    from parsers.commitlog.read import read_commitlog

    from pipelines.cli.rows import conform, place_of

    for file in tracked(run, files, sum(file.size for file in files), lambda file: file.size):
        batches = read_commitlog([file], **asked, on_damage="collect", damage=run.damage)
        for batch in batches:
            yield from conform([batch], batch.schema, file=place_of(file.path, source))


def _with_key(batch: pa.RecordBatch, key: str | None) -> pa.RecordBatch:
    """The rows that carry the key, as the index knows keys: one word of KEYS, or UNIQ_KEY."""
    if key is None:
        return batch
    import pyarrow.compute as pc

    words = pc.binary_join_element_wise(" ", batch.column("keys"), " ", "")
    in_keys = pc.fill_null(pc.match_substring(words, f" {key} "), False)
    return batch.filter(pc.or_(in_keys, pc.fill_null(pc.equal(batch.column("unique_id"), key), False)))


def _regions(run: Run, source: Path, files: list[StoreFile]) -> Iterator[dict[str, Any]]:
    from parsers.commitlog.segment import regions_of
    from pipelines.cli.rows import place_of

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


def _instant(text: str | None, flag: str) -> int | None:
    from pipelines.instants import parse_instant

    try:
        return None if text is None else parse_instant(text)
    except ValueError as wrong:
        raise WrongUsage(f"{flag}: {wrong}") from wrong
