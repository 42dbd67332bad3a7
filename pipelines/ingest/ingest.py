"""Store files into the lake through Spark: one file, a whole store, or every broker of the configuration.

Re-running is idempotent: the rows of a file that changed are replaced in one transaction; the CommitLog file a broker
still appends to is read on from where its rows in the lake end. A file that changes while it is read is
read again by the next ingest, even if it looks as before by then; so is one that held rows after the watermark.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from parsers.evidence.seen import seen
from parsers.queues.store_queues import unit_files
from parsers.store.places import name_below
from parsers.store.store import NotAStore, Store
from parsers.store.store_file import StoreFile
from pipelines.ingest.changes import stale_files
from pipelines.ingest.config_snapshots import snapshot_config
from pipelines.ingest.gone_files import mark_gone
from pipelines.ingest.growth import grown_from
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom, store_inputs
from pipelines.ingest.reading import Amount, Progress, Reading
from pipelines.ingest.still import StillStores, changed_since
from pipelines.ingest.watermarks import take_watermark, watermarks_of
from pipelines.lake.configuration.addressed_stores import at_hand
from pipelines.lake.configuration.broker_stores import said_of, store_of
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.delta.commit import version_to_add_to
from pipelines.lake.delta.errors import NoSpark, WorkFailed
from pipelines.lake.delta.gathered import gather
from pipelines.lake.lake import Lake, lake_to_write
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES, SNAPSHOT_TABLES
from pipelines.lake.tables.raw_messages import COMMITLOG_MESSAGES
from pipelines.lake.tables.raw_table import FileTable
from pipelines.objects.view import BytesRefused
from pipelines.spark.transfer import SliceWork, slices_of, write_files, write_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(slots=True)
class IngestReport:
    """What one ingest did: rows now in the lake by (broker, table), files read and found unchanged, counted once per
    table, the files that are not understood as (broker, file, why), the stores that are not there and the files that
    could not be read as (broker, sentence): their rows in the lake are as they were, but for `queues`, which lacks such
    a queue; by broker that was read, its files. Of a `failed` broker, one of the refused, tables that came before the
    failure are up to date, and the next ingest goes on from there."""

    rows: dict[tuple[str, str], int] = field(default_factory=dict)
    files_read: int = 0
    files_unchanged: int = 0
    not_understood: list[tuple[str, str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    unread: list[tuple[str, str]] = field(default_factory=list)
    files: dict[str, IngestedFiles] = field(default_factory=dict)


class LakeHolds(NamedTuple):
    """What a lake says that it holds: of one broker, its files; of all, what their tables were made from."""

    files: IngestedFiles
    made: MadeFrom


def ingest(
    spark: SparkSession,
    sources: Sources,
    brokers: Sequence[str] = (),
    progress: Progress | None = None,
    lake: Lake | None = None,
) -> IngestReport:
    """Bring the lake up to date with the stores of the configuration (those named, or all) that are there.

    A broker whose files end a worker, or whose server refuses bytes, does not hold up the others.

    Args:
        progress: called before each table with how far the broker's files are read.
        lake: the lake of the configuration, where it is known to be no evidence.
    Raises:
        SourcesError: no broker of that name, or what is said of one is wrong; nothing was read then.
        NoSpark: there is nobody to read the others.
        WouldTouchEvidence: the lake lies among the evidence.
    """
    report = IngestReport()
    lake = lake or lake_to_write(sources)
    wanted = [sources.broker(name) for name in brokers] or sources.brokers
    for broker in wanted:
        said_of(broker)
    known, made = IngestedFiles.load_all(lake, [broker.name for broker in wanted]), MadeFrom.load(lake)
    marks = watermarks_of(lake)
    try:
        for broker in wanted:
            try:
                with at_hand(broker.view):
                    ingest_store(
                        spark,
                        lake,
                        broker.cut_at(marks.get(broker.name)),
                        report,
                        bodies=sources.bodies,
                        progress=progress,
                        holds=LakeHolds(known[broker.name], made),
                    )
                report.files[broker.name] = known[broker.name]
            except NoSpark:
                raise
            except (NotAStore, WorkFailed, BytesRefused) as refused:
                report.refused.append((broker.name, str(refused)))
                report.failed |= set() if isinstance(refused, NotAStore) else {broker.name}
    finally:
        made.save()
    for table in (*FILE_TABLES, QUEUES, *SNAPSHOT_TABLES):
        rows = lake.rows_by_broker(table.name)
        report.rows |= {(name, table.name): rows[name] for name in report.files}
    return report


def ingest_store(
    spark: SparkSession,
    lake: Lake,
    broker: BrokerSource,
    report: IngestReport,
    *,
    bodies: bool = False,
    progress: Progress | None = None,
    holds: LakeHolds | None = None,
) -> None:
    """Ingest what is new or changed in one store, table by table, and the broker's configuration.

    Where anything is, a watermark is taken first, and all tables are read as far as that (`BrokerSource.until`).

    Args:
        holds: what the lake holds, its part of all brokers to be saved by the caller; loaded, and saved, without it.
    """
    if holds is None:
        with lake.asked_often():
            holds = LakeHolds(IngestedFiles.load(lake, broker.name), MadeFrom.load(lake))
            try:
                ingest_store(spark, lake, broker, report, bodies=bodies, progress=progress, holds=holds)
            finally:
                holds.made.save()
        return
    ingested, made = holds
    store = store_of(broker)
    strange = ((name_below(store.root, file.path), file.why or file.kind) for file in store.not_understood)
    report.not_understood += [(broker.name, *told) for told in strange]
    changed, done = stale_files(store, ingested), Amount(0, 0)
    amounts = {table: _amount(names, ingested) for table, names in changed.items()}
    of_all = sum(amounts.values(), Amount(0, 0))
    if of_all.files or broker.until is None:
        broker = take_watermark(lake, broker, store)
    try:
        for table in FILE_TABLES:
            stale, here = changed[table.name], amounts[table.name]
            if progress and stale:
                progress(Reading(broker.name, table.name, here, done, of_all))
            unread = ingest_files(spark, lake, broker, table, stale, bodies=bodies, ingested=ingested)
            done += here
            report.files_read += len(stale) - len(unread)
            report.files_unchanged += len(table.files.of(store)) - len(stale)
            report.unread += [told for file in unread if (told := (broker.name, file)) not in report.unread]
        ingested.keep_only([name_below(store.root, file.path) for file in store.files()])
    finally:
        ingested.save()
    inputs = {broker.name: store_inputs(broker, ingested.known)}
    if made.changed(QUEUES.name, inputs):
        watched = StillStores([broker], {broker.name: ingested}, with_logs=False)
        watched.look([broker.name])
        mark_gone(lake, broker, store)
        lost = ingest_queues(spark, lake, broker, store)
        report.unread += [(broker.name, told) for told in lost]
        snapshot_config(spark, lake, broker, anew=made.has_other_columns(QUEUES.name, broker.name))
        if not lost and not watched.moved():
            made.note(QUEUES.name, inputs)


def _amount(names: Sequence[str], ingested: IngestedFiles) -> Amount:
    """The files by name, with their bytes as they were looked at."""
    states = [ingested.seen[name] for name in names]
    return Amount(len(names), sum(state.size for state in states if state is not None))


def ingest_files(
    spark: SparkSession,
    lake: Lake,
    broker: BrokerSource,
    table: FileTable,
    files: Sequence[str],
    *,
    bodies: bool = False,
    ingested: IngestedFiles | None = None,
) -> list[str]:
    """Ingest named files (paths below the store root) into a table of store files.

    Args:
        ingested: the broker's files as this ingest has looked at them, to be saved by the caller; they are looked at
            now, and saved, without it.
    Returns:
        The files that could not be read, each with why; the rows that the lake has of them stay. One that a running
        broker writes beside a file of config/, and that has taken its place meanwhile, is none of them.
    """
    if not files:
        return []
    known, paths = ingested or looked_at(lake, broker, table, files), {broker.store / file: file for file in files}
    first, states = seen(paths), {path: known.seen.get(file) for path, file in paths.items()}
    version = version_to_add_to(table, lake.table_root(table.name))
    begun = known.begun(table.name, files) if table.name == COMMITLOG_MESSAGES.name else []
    starts = grown_from(lake, broker, begun) if begun else {}
    fresh = [file for file in files if file not in starts]
    options = {"bodies": str(bodies).lower()}
    work = slices_of(broker, table.name, fresh, options) if fresh else []
    if starts:
        work += slices_of(broker, table.name, list(starts), {**options, "starts": json.dumps(starts)})
    lost = dict.fromkeys(lost_since(broker, known, fresh, work), "is gone or became shorter since it was listed")
    replaced = [(broker.name, file) for file in fresh]
    left = write_files(spark, lake, table.name, work, replaced, at_version=version, lost=lost)
    if not table.is_packed:
        gather(table, lake.table_root(table.name), broker.name)
    in_part = left.cut | {paths[path] for path in changed_since(first, states)}
    known.note(table.name, [file for file in files if file not in left.unread], in_part)
    if ingested is None:
        known.save()
    return [f"{file}: {why}" for file, why in left.unread.items() if not _took_its_place(broker, file)]


def _took_its_place(broker: BrokerSource, file: str) -> bool:
    """Whether a file is gone that a broker writes under a name of its own and renames."""
    return file.startswith("config/") and file.endswith(".tmp") and not (broker.store / file).exists()


def lost_since(
    broker: BrokerSource, ingested: IngestedFiles, files: Sequence[str], work: Sequence[SliceWork]
) -> list[str]:
    """The files that the work does not read, or reads less of than there was when they were looked at."""
    planned = {name_below(broker.store, piece.file.path): piece.file.size for one in work for piece in one.pieces}
    states = ((file, ingested.seen.get(file)) for file in files)
    return [file for file, state in states if state is None or planned.get(file, 0) < state.size]


def looked_at(lake: Lake, broker: BrokerSource, table: FileTable, files: Sequence[str]) -> IngestedFiles:
    """The broker's files as the lake knows them, and the named ones as they are now."""
    ingested, store, wanted = IngestedFiles.load(lake, broker.name), store_of(broker), set(files)
    for file in table.files.of(store):
        if (name := name_below(store.root, file.path)) in wanted:
            ingested.look(name, file)
    return ingested


def ingest_queues(spark: SparkSession, lake: Lake, broker: BrokerSource, store: Store) -> list[str]:
    """Sum up every queue of a store anew; what of its listing is gone or cannot be read, queues and files, and why.

    Once more where there is any, and no queue is gone as a whole: a running broker's cleaner deletes files between a
    look at a folder and at what lies in it.
    """
    if not (lost := _summed_up(spark, lake, broker, store)):
        return []
    now = store.listed_again()
    is_whole = {_queue_of(file) for file in unit_files(store)} <= {_queue_of(file) for file in unit_files(now)}
    return _summed_up(spark, lake, broker, now) if is_whole else lost


def _summed_up(spark: SparkSession, lake: Lake, broker: BrokerSource, store: Store) -> list[str]:
    work = slices_of(broker, QUEUES.name)
    planned = {_queue_of(piece.file) for one in work for piece in one.pieces}
    gone = sorted({_queue_of(file) for file in unit_files(store)} - planned, key=repr)
    unread = write_table(spark, lake, QUEUES.name, work, replaced=[(broker.name,)])
    told = [f"{kind} of {topic} {queue_id}: is gone since it was listed" for kind, topic, queue_id in gone]
    return told + [f"{file}: {why}" for file, why in unread.items()]


def _queue_of(file: StoreFile) -> tuple[str, str | None, int | None]:
    return file.kind, file.topic, file.queue_id
