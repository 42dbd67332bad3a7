"""`rocketlens dump commitlog` and `dump regions`: the records of a log, and what every byte of it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.cli.commands.store.dump.forms import FormOptions
from pipelines.cli.commands.store.dump.selection import FieldOptions, WantedOptions, of_batch, of_store, opened_for
from pipelines.cli.frame.asked.options import BrokerOptions, KeptOptions, StoreOrFile
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, file_as, is_file, store_at
from pipelines.cli.frame.call.progress import tracked
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.commitlog.batches.read import MessageFilter
    from parsers.store.store_file import StoreFile
    from pipelines.selection.selector import Selector

REGION_BRIEF = ("file", "file_pos", "length", "kind", "reason")


@command("commitlog")
def commitlog(
    run: Run,
    source: StoreOrFile,
    fields: FieldOptions,
    wanted: WantedOptions,
    form: FormOptions,
    kept: KeptOptions,
    broker: BrokerOptions,
) -> None:
    """Messages of the CommitLog in physical order, every header field decoded.

    --unread-by and --lost-by-start ask the whole store first. Of what the files do not decide (a queue without an
    offset, an offset of a former life of the topic) each range is named on stderr and left out, with exit code 4.

    Example: `rocketlens dump commitlog /data/store --topic Orders --since 2026-11-21T03:00Z --format csv`

    Example: `rocketlens dump commitlog /data/store --unread-by CG_orders --sendable --out unread.parquet`

    Example: `rocketlens dump commitlog /data/store --decode --topic RMQ_SYS_TRANS_OP_HALF_TOPIC`
    """
    shown = form.chosen()
    selectors = list(of_batch(wanted))
    where = fields.as_filter()
    if wanted.asks_the_store:
        opened, known = opened_for(run, source, wanted, kept, broker)
        files = opened.commitlog
        selectors = [*of_store(run, opened, known, wanted, fields.topic, kept.offsets), *selectors]
    else:
        files = _files(run, source, broker)
    shown.emit(run, _messages(run, source, files, where, selectors, shown.columns(run)))


@command("regions")
def regions(run: Run, source: StoreOrFile, broker: BrokerOptions = NOTHING_SAID) -> None:
    """What every byte of the CommitLog is: messages, blank, damage, stale records, unwritten.

    The ranges of a file lie end to end, so their lengths add up to its size.

    Example: `rocketlens dump regions /data/store`
    """
    from pipelines.lake.tables.raw_messages import COMMITLOG_REGIONS

    files = _files(run, source, broker)
    run.emit_rows(COMMITLOG_REGIONS.bare_schema, _regions(run, source, files), brief=REGION_BRIEF)


def _files(run: Run, source: Path, broker: BrokerOptions) -> list[StoreFile]:
    from parsers.commitlog.dledger_headers.entry import begins_with_entry

    if is_file(source):
        return [file_as(run, source, "dledger" if begins_with_entry(source) else "commitlog", "commitlog", "dledger")]
    return store_at(run, source, broker).commitlog


def _messages(
    run: Run,
    source: Path,
    files: list[StoreFile],
    fields: MessageFilter,
    selectors: Sequence[Selector],
    wanted: list[str],
) -> Iterator[pa.RecordBatch]:
    from parsers.commitlog.batches.read import read_commitlog
    from pipelines.selection.selector import BODY_TEXT, BodyContains, WrongCondition, selected, with_body_text

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
    from parsers.commitlog.batches.segment import regions_of
    from pipelines.cli.frame.call.rows import place_of

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
