"""`rocketlens dump consumequeue | index | checkpoint | epochs | timer | rocksdbstore`: files of few forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BrokerOptions, QueueOptions, StoreArgument, StoreOrFile
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, file_as, is_file, store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.places import FileKind
    from parsers.store.store import Store
    from parsers.store.store_file import StoreFile

ENTRY_BRIEF = ("file", "entry_no", "key_hash", "physical_offset", "time_diff_s", "prev_index_no", "slot")
HEADER_BRIEF = (
    "file",
    "index_count",
    "hash_slot_count",
    "begin_physical_offset",
    "end_physical_offset",
    "geometry_known",
)
UNIT_BRIEF = ("topic", "queue_id", "queue_offset", "physical_offset", "msg_size", "tags_code", "kind")


@command("consumequeue")
def consumequeue(run: Run, source: StoreOrFile, wanted: QueueOptions, broker: BrokerOptions) -> None:
    """Units of ConsumeQueues, in files or in RocksDB: which message is where.

    Example: `rocketlens dump consumequeue /data/store --topic Orders --queue 0`
    """
    from pipelines.cli.frame.call.rows import schema_of
    from pipelines.lake.tables.raw import CONSUMEQUEUE_UNITS

    schema = schema_of(CONSUMEQUEUE_UNITS, without=["file"])
    if is_file(source):
        run.emit(schema, _units_of_file(run, source, schema), brief=UNIT_BRIEF)
        return
    store = store_at(run, source, broker, needs_log=False)
    run.emit(schema, _units(run, store, wanted, schema), brief=UNIT_BRIEF)


def _units_of_file(run: Run, source: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from parsers.queues.store_queues import read_units
    from pipelines.lake.tables.rows import conform

    kind: FileKind = "batchconsumequeue" if "batchconsumequeue" in source.absolute().parts else "consumequeue"
    file = file_as(run, source, kind)
    yield from conform(read_units(file, damage=run.damage), schema, _unsaid(run, file))


def _units(run: Run, store: Store, wanted: QueueOptions, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from parsers.queues.store_queues import StoreQueues
    from pipelines.lake.tables.rows import conform

    with StoreQueues(store, damage=run.damage) as queues:
        for key, found in queues.items():
            if wanted.wants(*key):
                yield from conform(found.batches(), schema)


def _unsaid(run: Run, file: StoreFile) -> dict[str, None]:
    """Columns without a value: those that only the place of a file tells, for a file that was copied away from it."""
    unsaid = {"topic", "queue_id"} if file.topic is None else set()
    if file.base_offset is None:
        unsaid.add("queue_offset")
    if unsaid:
        run.note(
            f"{file.path}: not in a store's consumequeue/TOPIC/QUEUE/NUMBER, so {', '.join(sorted(unsaid))} are unknown"
        )
    return dict.fromkeys(unsaid)


@command("index")
def index(
    run: Run,
    source: StoreOrFile,
    headers: Annotated[bool, typer.Option("--headers", help="One row per file instead: its header.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Entries of index files: key hash, message, chain.

    Example: `rocketlens dump index /data/store --headers --format table`
    """
    from pipelines.lake.tables.raw import INDEX_ENTRIES, INDEX_FILES

    files = [file_as(run, source, "index")] if is_file(source) else store_at(run, source, broker, needs_log=False).index
    schema = (INDEX_FILES if headers else INDEX_ENTRIES).bare_schema
    run.emit(schema, _index_rows(run, source, files, schema, headers), brief=HEADER_BRIEF if headers else ENTRY_BRIEF)


def _index_rows(
    run: Run, source: Path, files: list[StoreFile], schema: pa.Schema, headers: bool
) -> Iterator[pa.RecordBatch]:
    from parsers.index.read import index_files, read_index
    from pipelines.cli.frame.call.rows import place_of
    from pipelines.lake.tables.rows import conform

    for file in files:
        place = {"file": place_of(file.path, source)}
        if headers:
            yield from conform([index_files([file], damage=run.damage)], schema, place)
        else:
            yield from conform(read_index([file], damage=run.damage), schema, place)


@command("checkpoint")
def checkpoint(run: Run, source: StoreOrFile, broker: BrokerOptions = NOTHING_SAID) -> None:
    """Fields of the checkpoint: how far log, queues and index were known to be on disk.

    Example: `rocketlens dump checkpoint /data/store`
    """
    from parsers.checkpoints.checkpoint import checkpoint_to_batch, read_checkpoint
    from pipelines.cli.frame.call.rows import place_of
    from pipelines.lake.tables.raw import CHECKPOINTS
    from pipelines.lake.tables.rows import conform

    in_store = not is_file(source)
    file = store_at(run, source, broker, needs_log=False).checkpoint if in_store else file_as(run, source, "checkpoint")
    if file is None:
        raise Unreadable(f"{source}: the store has no checkpoint")
    read = read_checkpoint(file, damage=run.damage)
    batches = [] if read is None else [checkpoint_to_batch(file, read)]
    run.emit(CHECKPOINTS.bare_schema, conform(batches, CHECKPOINTS.bare_schema, {"file": place_of(file.path, source)}))


@command("epochs")
def epochs(run: Run, source: StoreOrFile, broker: BrokerOptions = NOTHING_SAID) -> None:
    """Epochs of a broker in controller mode: from which byte on which master's epoch wrote the CommitLog.

    Of a store the rows of the file that the broker goes by: epochFileCheckpoint, or its backup where that has none;
    none where a number in it is none, at which the broker stops.

    Example: `rocketlens dump epochs /data/store --format table`
    """
    import pyarrow as pa

    from parsers.checkpoints.epochs import EPOCH_SCHEMA, epochs_to_batch, read_epochs
    from pipelines.cli.frame.call.rows import place_of
    from pipelines.lake.tables.rows import conform

    one = is_file(source)
    files = [file_as(run, source, "epochs")] if one else store_at(run, source, broker, needs_log=False).epochs
    if not files:
        why = (
            "its broker was never in controller mode, or storePathEpochFile (before 5.1.1 its user's ~/store) put the "
            "file elsewhere: say so with --config storePathEpochFile=FILE"
        )
        raise Unreadable(f"{source}: the store has no epochFileCheckpoint: {why}")
    read = read_epochs(files, damage=run.damage)
    schema = pa.schema([("broker", pa.string()), *EPOCH_SCHEMA])
    batches = [] if read is None else [epochs_to_batch(place_of(read[0].path, source), read[1])]
    run.emit(schema, conform(batches, schema), brief=tuple(EPOCH_SCHEMA.names))


@command("timer")
def timer(
    run: Run,
    source: StoreOrFile,
    slots: Annotated[bool, typer.Option("--slots", help="The slots in use of the timer wheel instead.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Records of timer messages: when each is due, and the message it is for.

    Example: `rocketlens dump timer /data/store --format table`
    """
    import pyarrow as pa

    from parsers.timer.log import read_timerlog
    from parsers.timer.schema import TIMER_RECORD_SCHEMA
    from parsers.timer.wheel import TIMER_SLOT_SCHEMA, read_wheel
    from pipelines.lake.tables.rows import conform
    from pipelines.lake.tables.table import plain_type

    kind: FileKind = "timerwheel" if slots else "timerlog"
    files = [file_as(run, source, kind)] if is_file(source) else store_at(run, source, broker, needs_log=False).timer
    wanted = [file for file in files if file.kind == kind]
    columns = TIMER_SLOT_SCHEMA if slots else TIMER_RECORD_SCHEMA
    schema = pa.schema([("broker", pa.string()), *((field.name, plain_type(field.type)) for field in columns)])
    batches: Iterator[pa.RecordBatch]
    if slots:
        batches = (read_wheel(file, damage=run.damage) for file in wanted)
    else:
        batches = read_timerlog(wanted, damage=run.damage)
    run.emit(schema, conform(batches, schema), brief=tuple(columns.names))


@command("rocksdbstore")
def rocksdbstore(run: Run, store: StoreArgument, broker: BrokerOptions = NOTHING_SAID) -> None:
    """Index entries, timers and half messages that a broker keeps in RocksDB (since 5.4.0), and how far each is.

    Rows come with indexRocksDBEnable, timerRocksDBEnable, transRocksDBEnable; every broker since 5.4.0 makes the
    database.

    Example: `rocketlens dump rocksdbstore /data/store --format table`
    """
    import pyarrow as pa

    from parsers.rocksdb.message_records import MESSAGE_RECORD_SCHEMA, read_message_records
    from pipelines.lake.tables.rows import conform

    database = store_at(run, store, broker, needs_log=False).message_database
    if database is None:
        run.note(f"{store}: there is no rocksdbstore/, which brokers before 5.4.0 do not make")
    batches = [] if database is None else read_message_records(database, damage=run.damage)
    schema = pa.schema([("broker", pa.string()), *MESSAGE_RECORD_SCHEMA])
    run.emit(schema, conform(batches, schema), brief=tuple(MESSAGE_RECORD_SCHEMA.names))
