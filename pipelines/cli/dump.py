"""`rocketlens dump …`: the rows of one kind of store file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pipelines.cli.command import command
from pipelines.cli.opening import file_at, is_file, store_at
from pipelines.cli.options import STORE_FILES, QueueOption, StoreOrFile, TopicOption
from pipelines.cli.queues import name_unread_queues
from pipelines.cli.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store import FileKind, StoreFile

dump = typer.Typer(no_args_is_help=True, help="Print what store files hold, one row per message, unit, entry or range.")


def register(app: typer.Typer) -> None:
    """Add the command group."""
    app.add_typer(dump, name="dump", rich_help_panel=STORE_FILES)


@command(dump, "consumequeue")
def consumequeue(run: Run, source: StoreOrFile, topic: TopicOption = None, queue: QueueOption = None) -> None:
    """Units of ConsumeQueue files: which message is where.

    Example: `rocketlens dump consumequeue /data/store --topic Orders --queue 0`
    """
    from pipelines.cli.rows import schema_of
    from pipelines.tables import CONSUMEQUEUE_UNITS

    schema = schema_of(CONSUMEQUEUE_UNITS, without=["file"])
    run.emit(schema, _units(run, source, topic, queue, schema))


def _units(run: Run, source: Path, topic: str | None, queue: int | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    from parsers.batchqueue import read_batch_queue
    from parsers.consumequeue.read import read_queue
    from pipelines.cli.rows import conform

    for files in _queues(run, source, topic, queue):
        read = read_batch_queue if files[0].kind == "batchconsumequeue" else read_queue
        yield from conform(read(files, on_damage="collect", damage=run.damage), schema, unknown=_unsaid(run, files[0]))


def _queues(run: Run, source: Path, topic: str | None, queue: int | None) -> list[list[StoreFile]]:
    """The files of each queue asked for, queues in order of topic and number."""
    if is_file(source):
        kind: FileKind = "batchconsumequeue" if "batchconsumequeue" in source.absolute().parts else "consumequeue"
        return [[file_at(run, source, kind)]]
    store = store_at(run, source)
    name_unread_queues(run, store)
    queues = {**store.queues, **store.batch_queues}
    return [queues[key] for key in sorted(queues) if topic in (None, key[0]) and queue in (None, key[1])]


def _unsaid(run: Run, file: StoreFile) -> set[str]:
    """Columns that only the place of a file tells, for a file that was copied away from it."""
    unsaid = {"topic", "queue_id"} if file.topic is None else set()
    if file.base_offset is None:
        unsaid.add("queue_offset")
    if unsaid:
        run.note(
            f"{file.path}: not in a store's consumequeue/TOPIC/QUEUE/NUMBER, so {', '.join(sorted(unsaid))} are unknown"
        )
    return unsaid
