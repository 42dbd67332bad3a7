"""`rocketlens dump commitlog` and `dump regions`: the records of a log, and what every byte of it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsers.java import LONG_MAX
from pipelines.cli.commands.dump.selection import Wanted, of_batch, of_store, opened_for
from pipelines.cli.frame.command import command
from pipelines.cli.frame.errors import WrongUsage
from pipelines.cli.frame.opening import NOTHING_SAID, file_at, is_file, store_at
from pipelines.cli.frame.options import (
    BrokerOptions,
    KeptOffsetsOption,
    QueueOption,
    StoreOrFile,
    TopicLogsOption,
    TopicOption,
    instant_of,
)
from pipelines.cli.frame.progress import tracked
from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.commitlog.read import MessageFilter
    from parsers.errors import StoreFormatError
    from parsers.store import StoreFile
    from pipelines.selection.selector import Selector

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
DECODED_BRIEF = ("physical_offset", "kind", "record_no", "said")
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
    unread_by: Annotated[
        str | None,
        typer.Option(
            metavar="G",
            help="Only what this consumer group has not read, by its stored offsets. To send it again: only where this "
            "broker never serves it again, and to a topic of its own where other groups read it (docs/resend.md).",
        ),
    ] = None,
    lost_by_start: Annotated[
        bool,
        typer.Option("--lost-by-start", help="Only what the next start of the broker loses, read by groups or not."),
    ] = False,
    body_contains: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only bodies that hold this text, decompressed.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="Only where this SQL condition over the columns is true; `property(properties, 'k')` is a property.",
        ),
    ] = None,
    bodies: Annotated[
        bool,
        typer.Option(
            "--bodies",
            help="Add body (as stored) and body_decompressed, in a table as text or hexadecimal, in JSON as base64; "
            "and body_text, where it is UTF-8.",
        ),
    ] = False,
    sendable: Annotated[
        bool,
        typer.Option("--sendable", help="Only what a producer says of a message, to send it again (docs/resend.md)."),
    ] = False,
    decode: Annotated[
        bool,
        typer.Option(
            "--decode",
            help="What messages of brokers and clients say instead, a row for each record: POP's, op messages, "
            "traces, timers and others (docs/formats/messages.md).",
        ),
    ] = False,
    offsets: KeptOffsetsOption = None,
    logs: TopicLogsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Messages of the CommitLog in physical order, every header field decoded.

    --unread-by and --lost-by-start ask the whole store first. Of what the files do not decide (a queue without an
    offset, an offset of a former life of the topic) each range is named on stderr and left out, with exit code 4.

    Example: `rocketlens dump commitlog /data/store --topic Orders --since 2026-11-21T03:00Z --format csv`

    Example: `rocketlens dump commitlog /data/store --unread-by CG_orders --sendable --out unread.parquet`

    Example: `rocketlens dump commitlog /data/store --decode --topic RMQ_SYS_TRANS_OP_HALF_TOPIC`
    """
    from parsers.commitlog.read import MessageFilter
    from pipelines.cli.frame.output import pick_columns

    wanted = Wanted(topic, unread_by, lost_by_start, body_contains, where, offsets, logs)
    if sendable and bodies:
        raise WrongUsage("--sendable, --bodies: what can be sent again has its body as the producer handed it over")
    if decode and (sendable or bodies):
        raise WrongUsage("--decode shows records instead of messages: it goes without --sendable and --bodies")
    schema = _schema(bodies=bodies, sendable=sendable, decode=decode)
    selectors = list(of_batch(wanted))
    fields = MessageFilter(
        topics=None if topic is None else [topic],
        queue_id=queue,
        key=key,
        min_physical_offset=from_offset,
        max_physical_offset=to_offset,
        since_ms=None if since is None else instant_of(since, "--since"),
        until_ms=None if until is None else instant_of(until, "--until"),
    )
    if wanted.asks_the_store:
        opened, known = opened_for(run, source, broker, wanted)
        files, selectors = opened.commitlog, [*of_store(run, opened, known, wanted), *selectors]
    else:
        files = _files(run, source, broker)
    shown = schema.names if sendable or decode else pick_columns(schema, run.columns)
    found = _messages(run, source, files, fields, selectors, _read_for(shown, sendable=sendable, decode=decode))
    if decode:
        run.emit(schema, _as_decoded(run, found), brief=DECODED_BRIEF)
        return
    brief = (*BRIEF[:5], "tags", "keys", "body_decompressed") if bodies else BRIEF
    left_out: Counter[str] = Counter()
    run.emit(schema, _as_sendable(found, left_out) if sendable else found, brief=brief)
    _name_left_out(run, left_out)


def _schema(*, bodies: bool, sendable: bool, decode: bool) -> pa.Schema:
    import pyarrow as pa

    from parsers.commitlog.arrow import ALL_COLUMNS, MESSAGE_SCHEMA

    if sendable:
        from pipelines.selection.sendable import SENDABLE

        return SENDABLE
    if decode:
        from pipelines.selection.decoded import DECODED

        return DECODED
    from pipelines.selection.content import BODY_TEXT

    added = [*(ALL_COLUMNS.field(name) for name in BODIES), BODY_TEXT] if bodies else []
    return pa.schema([*MESSAGE_SCHEMA, *added])


def _read_for(shown: list[str], *, sendable: bool, decode: bool) -> list[str]:
    """The columns to read for those that are shown."""
    if decode:
        from pipelines.selection import decoded

        return [*decoded.NEEDED]
    if not sendable:
        return shown
    from pipelines.selection.sendable import BODY, JUDGED, NEEDED

    return [*NEEDED, *JUDGED, BODY]


def _as_sendable(batches: Iterable[pa.RecordBatch], left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
    from pipelines.selection.sendable import sendable

    for batch in batches:
        whole, others = sendable(batch)
        left_out.update(others)
        yield whole


def _as_decoded(run: Run, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    from pipelines.selection.decoded import decoded_rows

    def unread(at: int, kind: str, why: StoreFormatError) -> None:
        run.not_read(f"message at {at} should be of kind {kind} and is not: {why.problem}")

    for batch in batches:
        yield from decoded_rows(batch, unread)


def _name_left_out(run: Run, left_out: Counter[str]) -> None:
    from pipelines.selection.sendable import DAMAGE

    for kind, count in left_out.items():
        if kind in DAMAGE:
            run.not_read(f"{count} messages are left out: {kind}")
        else:
            run.note(f"{count} records are no messages to send, and left out: {kind}")


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
    run: Run,
    source: Path,
    files: list[StoreFile],
    fields: MessageFilter,
    selectors: Sequence[Selector],
    wanted: list[str],
) -> Iterator[pa.RecordBatch]:
    from parsers.commitlog.read import read_commitlog
    from pipelines.selection.content import BODY_TEXT, BodyContains, with_body_text
    from pipelines.selection.selector import WrongCondition, selected

    asked = [*wanted, "physical_offset", *(name for selector in selectors for name in selector.columns)]
    has_text = BODY_TEXT.name in asked
    columns = [name for name in dict.fromkeys(asked) if name != BODY_TEXT.name]
    if has_text and "body_decompressed" not in columns:
        columns.append("body_decompressed")
    batches = read_commitlog(files, columns=columns, where=fields, damage=run.damage)
    followed = tracked(run, batches, sum(file.size for file in files), _log_bytes)
    folders = {} if is_file(source) else {file.name: file.log_folder for file in files}
    try:
        for batch in selected(map(with_body_text, followed) if has_text else followed, selectors):
            yield _placed(batch, folders)
    except WrongCondition as wrong:  # a value of a message that the SQL cannot take
        raise WrongUsage(f"--where: {wrong}") from wrong
    unread = sum(selector.unread for selector in selectors if isinstance(selector, BodyContains))
    if unread:
        run.not_read(f"{unread} bodies could not be decompressed, and were not searched")


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
