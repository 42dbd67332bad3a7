"""Who owned which queue, through Spark: a task reads one recording, a task replays the groups of one bucket.

Facts go from the readers to the replays as files below the lake, and the tasks write the parts of the tables; the
driver sees neither a fact nor a row, and commits the parts, one transaction per table.
"""

from __future__ import annotations

import gc
import os
import uuid
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.answers.recorded.beside import events_beside, logs_beside
from pipelines.answers.recorded.ownership_rows import BATCH_ROWS, logged, rows_to_batch
from pipelines.lake.configuration.sources import Sources
from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.parts import Part, PartsWriter, new_job, remove_job
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ownership import HEARTBEATS, LOG_EVENTS
from pipelines.lake.tables.raw import TABLES
from pipelines.lake.tables.table import Table
from pipelines.objects.both import remove_all
from pipelines.objects.place import Place
from pipelines.recordings.line_counts import RecordedLines
from pipelines.recordings.recordings import Recording, facts_of, find_recordings
from pipelines.spark.jobs.fact_spool import COMMON, FactSpool, SpoolFile, facts_by_group
from pipelines.spark.workers import on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rebalance.facts import Fact
    from rebalance.readers.logs.lines.reader import LogEvent

REPLAYED = {
    "assignments": "assignments",
    "assignment_divergence": "divergence",
    "ownership_intervals": "intervals",
    "ownership_anomalies": "anomalies",
    "ownership_notes": "group_notes",
}
"""Table -> attribute of `Replay` that holds its rows."""
BUCKET_BYTES = 128 << 20
"""About how much evidence makes one bucket of facts: what a task holds, a good deal smaller, in memory."""
BUCKETS_PER_CORE = 4
_GZIPPED = 16  # logs and captures are about so many times as long as their gzip
_FACTS_OF_ONE = 1 << 40  # more than one recording can hold


@dataclass(frozen=True, slots=True)
class Replayed:
    """Rows by table, and what of the evidence could not be read."""

    rows: dict[str, int]
    problems: list[str]
    lines: RecordedLines


@dataclass(frozen=True, slots=True)
class Read:
    """What a task made of one recording."""

    facts: list[SpoolFile]
    parts: dict[str, list[Part]]
    problems: list[str]
    lines: RecordedLines


def replay_sources(spark: SparkSession, lake: Lake, sources: Sources) -> Replayed:
    """Read every log and capture that the configuration names, and make the ownership tables anew from them."""
    places = sources.recorded_files()
    source = os.path.commonpath([path.parent for path in places]) if places else ""
    closed: list[str] = []
    recordings = find_recordings(places, problem=closed.append)
    read_already = {path for recording in recordings for path in recording.paths}
    beside = logs_beside(path for path in places if path not in read_already)
    buckets = bucket_count(spark, sum(map(_plain_bytes, places)))
    with spool_folder(lake) as folder:
        with job_of(lake, [LOG_EVENTS.name]) as job:
            reading = _ReadRecording(lake, folder, buckets, job, source)
            read = on_workers(spark, reading, list(enumerate([*recordings, *beside])), "reading logs and captures")
        events = _commit(lake, [LOG_EVENTS.name], [one.parts for one in read])
        replayed = replay_facts(spark, lake, source, [file for one in read for file in one.facts])
    lines = RecordedLines([log for one in read for log in one.lines.logs])
    return Replayed(events | replayed, closed + [problem for one in read for problem in one.problems], lines)


def bucket_count(spark: SparkSession, evidence_bytes: int) -> int:
    """How many buckets the facts of so much evidence go to."""
    return max(BUCKETS_PER_CORE * spark.sparkContext.defaultParallelism, evidence_bytes // BUCKET_BYTES)


def _plain_bytes(path: Path) -> int:
    return path.stat().st_size * (_GZIPPED if path.suffix == ".gz" else 1)


@contextmanager
def spool_folder(lake: Lake) -> Iterator[Place]:
    """A folder for facts that every task sees, gone afterwards."""
    folder = lake.root / f".facts-{uuid.uuid4().hex}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        with suppress(OSError):  # what is left `vacuum` removes
            remove_all(folder)


@contextmanager
def job_of(lake: Lake, tables: Iterable[str]) -> Iterator[str]:
    """A name for the parts of one job; when the job fails, its parts go."""
    job = new_job()
    try:
        yield job
    except BaseException:
        for table in tables:
            remove_job(lake.table_root(table), job)
        raise


@dataclass(frozen=True, slots=True)
class _ReadRecording:
    """Called in a worker with a recording and its number."""

    lake: Lake
    folder: Place
    buckets: int
    job: str
    source: str

    def __call__(self, task: tuple[int, Recording]) -> Read:
        number, recording = task
        origin = f"{recording.source}: {'+'.join(path.name for path in recording.paths)}"
        # a task that is tried again writes files of its own
        spool = FactSpool(self.folder, uuid.uuid4().hex, self.buckets, first_position=number * _FACTS_OF_ONE)
        events = TableWriters([LOG_EVENTS], self.lake.table_root, self.job, origin)
        problems: list[str] = []
        lines = RecordedLines()

        def keep(event: LogEvent) -> None:
            events.add(LOG_EVENTS.name, (logged(event, recording.stem),))

        if recording.kind == "beside":
            for event in events_beside(recording, problems.append):
                keep(event)
            return Read(spool.close(), events.close(), problems, lines)
        for fact in facts_of(recording, problems.append, keep, partial(lines.add, recording.name)):
            spool.add(fact)
        return Read(spool.close(), events.close(), problems, lines)


def replay_facts(spark: SparkSession, lake: Lake, source: str, files: Sequence[SpoolFile]) -> dict[str, int]:
    """Replay every group of the spooled facts and make the tables of that anew; rows by table."""
    by_bucket: defaultdict[int, list[Place]] = defaultdict(list)
    for file in files:
        by_bucket[file.bucket].append(file.path)
    common = by_bucket.pop(COMMON, [])
    names = [HEARTBEATS.name, *REPLAYED]
    with job_of(lake, names) as job:
        replaying = _ReplayBucket(lake, job, source, common)
        parts = on_workers(spark, replaying, list(by_bucket.values()), "replaying groups")
    return _commit(lake, names, parts)


@dataclass(frozen=True, slots=True)
class _ReplayBucket:
    """Called in a worker with the files of one bucket."""

    lake: Lake
    job: str
    source: str
    common: list[Place]

    def __call__(self, bucket: list[Place]) -> dict[str, list[Part]]:
        names = (HEARTBEATS.name, *REPLAYED)
        tables = TableWriters([TABLES[name] for name in names], self.lake.table_root, self.job, self.source)
        of_all: list[Fact] = [fact for _, facts in facts_by_group(self.common) for fact in facts]
        with _uncollected():
            deque(map(partial(_add_rows, tables, of_all), facts_by_group(bucket)), maxlen=0)
        return tables.close()


def _add_rows(tables: TableWriters, of_all: list[Fact], group: tuple[str, list[Fact]]) -> None:
    """The rows of one group; when it returns, nothing of the group is left."""
    from rebalance.facts.heartbeats import heartbeats_of
    from rebalance.replay import replay

    _, own = group
    history = replay(of_all + own)
    tables.add(HEARTBEATS.name, heartbeats_of(own))
    for name, attribute in REPLAYED.items():
        tables.add(name, getattr(history, attribute))


@contextmanager
def _uncollected() -> Iterator[None]:
    """Switch the cyclic collector off: a replay leaves no cycles, and looking for them takes a tenth of its time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _commit(lake: Lake, names: Iterable[str], made: Sequence[Mapping[str, list[Part]]]) -> dict[str, int]:
    """Replace tables by the parts that the tasks wrote; rows by table."""
    rows = {}
    for name in names:
        parts = [part for by_table in made for part in by_table[name]]
        commit(TABLES[name], lake.table_root(name), parts, None)
        rows[name] = sum(part.rows for part in parts)
    return rows


class TableWriters:
    """Writes rows of several tables as they come; at most BATCH_ROWS and what is added at once wait in memory."""

    def __init__(self, tables: Iterable[Table], root_of: Callable[[str], Place], job: str, source: str) -> None:
        self._source = source
        self._tables = {table.name: table for table in tables}
        self._writers = {name: PartsWriter(table, root_of(name), job) for name, table in self._tables.items()}
        self._waiting: dict[str, list[Any]] = {name: [] for name in self._tables}

    def add(self, name: str, rows: Iterable[Any]) -> None:
        waiting = self._waiting[name]
        waiting.extend(rows)
        if len(waiting) >= BATCH_ROWS:
            self._write(name)

    def close(self) -> dict[str, list[Part]]:
        """The parts of each table; nothing is committed yet."""
        for name in self._tables:
            self._write(name)
        return {name: writer.close() for name, writer in self._writers.items()}

    def _write(self, name: str) -> None:
        if rows := self._waiting[name]:
            self._writers[name].write(rows_to_batch(self._tables[name].bare_schema, rows, self._source))
            self._waiting[name] = []
