"""Rebuild the queues and indexes of many brokers as one Spark job over pieces of their CommitLogs.

A task scans one slice of a log, as the local rebuild does, and hands on packed rows; after one shuffle, a task has all
units of some queues, or all records of an index, in log order, and puts them through the local rebuild's writers.
Every rule is `recovery`'s. The new folder must be one that all tasks see under the same path.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from parsers.evidence.guard import EvidenceGuard
from parsers.store.store import Store
from pipelines.lake.tables.spark_schema import spark_schema
from pipelines.spark.sources.slices import DEFAULT_SPLIT_BYTES, Slice, cut
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.knowledge import knowledge_of
from recovery.rebuild.index_files import IndexTotals
from recovery.rebuild.queue_files import QueueFilesWriter, QueueTotals, is_folder_name
from recovery.rebuild.rebuild import index_files, living_report
from recovery.rebuild.report import RebuildReport, ScanTotals

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

PARTS = ".parts"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """One broker of a rebuild: its store, what dispatch needs to know of it, and where its new files go."""

    store: Store
    known: StoreKnowledge
    to: Path

    @property
    def log_bytes(self) -> int:
        return sum(file.size for file in self.store.commitlog)


@dataclass(slots=True)
class _Found:
    """What the tasks did for one broker. `parts` are the folders that their files are in."""

    scanned: ScanTotals = field(default_factory=ScanTotals)
    queues: list[QueueTotals] = field(default_factory=list)
    index_files: list[IndexTotals] = field(default_factory=list)
    parts: list[Path] = field(default_factory=list)


def rebuild_with_spark(
    spark: SparkSession,
    stores: Mapping[str, Store],
    to: Path,
    *,
    known: Mapping[str, StoreKnowledge] | None = None,
    split_bytes: int = DEFAULT_SPLIT_BYTES,
) -> dict[str, RebuildReport]:
    """Write `to`/BROKER/ for every broker, with the bytes and the report of `recovery.rebuild.rebuild` for its store.

    `to` appears when it is complete; a failure leaves nothing behind. What is not `known` of a broker is inferred.

    Args:
        split_bytes: about how much of a log one task scans; files are cut anywhere.
    Raises:
        ValueError: no brokers, a name that no folder can have, or a `to` that `recovery.rebuild.rebuild` would refuse.
        OSError: the new directory cannot be written.
    """
    if not stores or not all(map(is_folder_name, stores)):
        raise ValueError(f"names of brokers are names of folders here, at least one: {', '.join(stores) or 'none'}")
    told = known or {}
    guard = EvidenceGuard(*(folder for store in stores.values() for folder in store.places))
    with guard.new_folder(to) as partial:
        brokers = [
            Rebuilt(store, told[name] if name in told else knowledge_of(store), partial / name)
            for name, store in stores.items()
        ]
        found = _run(spark, brokers, split_bytes, uncut=frozenset())
        if torn := _torn(brokers, found):
            found = _run(spark, brokers, split_bytes, uncut=torn)
        for broker, done in zip(brokers, found, strict=True):
            _gather(done.parts, broker.to)
        return {
            name: living_report(
                broker.store, broker.known, broker.to, to / name, done.scanned, done.queues, done.index_files
            )
            for name, broker, done in zip(stores, brokers, found, strict=True)
        }


def _torn(brokers: Sequence[Rebuilt], found: Sequence[_Found]) -> frozenset[int]:
    """Brokers whose log was cut inside a record that holds another record of that very place: see `runs_between`."""
    pairs = enumerate(zip(brokers, found, strict=True))
    return frozenset(number for number, (broker, done) in pairs if done.scanned.covered > broker.log_bytes)


def _run(spark: SparkSession, brokers: Sequence[Rebuilt], split_bytes: int, *, uncut: frozenset[int]) -> list[_Found]:
    """Scan and write everything once; the files of brokers in `uncut` are scanned whole."""
    from pipelines.spark.jobs.rebuild_rows import LOG_ORDER, ONE_WRITER, ROWS, TOTALS

    for broker in brokers:
        shutil.rmtree(broker.to, ignore_errors=True)
        (broker.to / PARTS).mkdir(parents=True)
    slices = [
        (number, slice_)
        for number, broker in enumerate(brokers)
        for slice_ in cut(broker.store.commitlog, split_bytes, within_files=number not in uncut)
    ]
    known = [broker.known for broker in brokers]
    tasks = len(brokers) + spark.sparkContext.defaultParallelism
    scan = _Scan(known, slices, shards=tasks)
    scanned = spark.range(0, len(slices), 1, max(1, len(slices))).mapInArrow(scan, spark_schema(ROWS))
    ordered = scanned.repartition(tasks, *ONE_WRITER).sortWithinPartitions(*LOG_ORDER)
    written = ordered.mapInArrow(_Write(known, [broker.to for broker in brokers]), spark_schema(TOTALS))
    return _collected(len(brokers), written.toArrow().sort_by("slice"))


def _collected(brokers: int, rows: pa.Table) -> list[_Found]:
    from pipelines.spark.jobs.rebuild_rows import INDEX, REPORT

    found = [_Found() for _ in range(brokers)]
    for row in rows.to_pylist():
        totals, done = pickle.loads(row["totals"]), found[row["broker"]]
        if row["purpose"] == REPORT:
            done.scanned.add(totals)
            continue
        done.parts.append(Path(row["part"]))
        if row["purpose"] == INDEX:
            done.index_files = totals
        else:
            done.queues += totals
    return found


def _gather(parts: Iterable[Path], to: Path) -> None:
    """Put together what tasks wrote apart. A queue, and an index, is the work of one task."""
    for part in parts:
        for made in (*part.glob("*consumequeue/*/*"), *part.glob("index")):
            target = to / made.relative_to(part)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(made, target)
    shutil.rmtree(to / PARTS)


class _Scan:
    """Called in a worker with numbers of slices; its rows are what dispatch makes of their records."""

    def __init__(self, known: Sequence[StoreKnowledge], slices: Sequence[tuple[int, Slice]], *, shards: int) -> None:
        self.known, self.slices, self.shards = known, slices, shards

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield from self._rows(number)

    def _rows(self, number: int) -> Iterator[pa.RecordBatch]:
        from pipelines.spark.jobs.rebuild_rows import RowMaker
        from recovery.lives.numbering import NumberingNotes
        from recovery.scan.log_runs import runs_between
        from recovery.scan.scanner import LogScanner

        broker, slice_ = self.slices[number]
        known, make, totals = self.known[broker], RowMaker(broker, number, self.shards), ScanTotals()
        scanner = LogScanner(known.rules)
        notes = NumberingNotes(scanner.topics)
        for piece in slice_.pieces:
            for run in runs_between(piece.file, piece.start, piece.end, totals.note_gap):
                batch = scanner.scan(run.data, run.positions)
                totals.count(batch)
                notes.take(batch)
                yield make.rows(batch, scanner.topics, with_index=known.settings.writes_index_files)
        totals.numbering = notes.close()
        yield make.totals(totals)


class _Write:
    """Called in a worker with rows in log order: writes their files into a folder of this attempt and says so."""

    def __init__(self, known: Sequence[StoreKnowledge], to: Sequence[Path]) -> None:
        self.known, self.to = known, to

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        from pipelines.spark.jobs.rebuild_rows import INDEX, REPORT, by_writer, totals_row, unpacked

        task = TaskContext.get()
        attempt = "" if task is None else str(task.taskAttemptId())
        for (broker, purpose, _), pieces in groupby(by_writer(batches), key=itemgetter(0)):
            rows = map(itemgetter(1), pieces)
            if purpose == REPORT:
                for row in (row for batch in rows for row in batch.to_pylist()):
                    yield totals_row(broker, purpose, row["slice"], row["packed"], "")
                continue
            part, known = self.to[broker] / PARTS / attempt, self.known[broker]
            write = _write_index if purpose == INDEX else _write_queues
            done = write(part, known, unpacked(rows))
            yield totals_row(broker, purpose, -1, pickle.dumps(done), str(part))


def _write_queues(part: Path, known: StoreKnowledge, batches: Iterator[pa.RecordBatch]) -> list[QueueTotals]:
    from pipelines.spark.jobs.rebuild_rows import queue_batch
    from recovery.scan.topic_table import TopicTable

    topics = TopicTable(known.rules)
    writer = QueueFilesWriter.of(part, topics, known.settings)
    for rows in batches:
        writer.write(queue_batch(rows, topics))
    writer.close()
    return list(writer.totals())


def _write_index(part: Path, known: StoreKnowledge, batches: Iterator[pa.RecordBatch]) -> list[IndexTotals]:
    from pipelines.spark.jobs.rebuild_rows import index_batch

    writer = index_files(part, known)
    for rows in batches:
        writer.write(index_batch(rows))
    writer.close()
    return writer.totals
