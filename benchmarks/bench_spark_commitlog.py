"""The CommitLog through Spark: its data source, and ingest into Delta, against the plain reader of the same run.

Run: python benchmarks/bench_spark_commitlog.py [--folder F] [--gib N ...] [--cores 1|2]
Every column and CRC of the log is read on all sides; the rows that Spark counts must be the reader's. Core-time is that
of all processes together, so it holds on a busy machine too; the clock on the wall does not. A session holds its cores
for life, so the step from one core to two is two runs with the same folder, the first under `taskset -c 0`: one core
asked of Spark leaves the JVM and its Python worker one each.

The floor is a data source that hands on one prepared batch again and again. What it takes is Spark's own: Arrow over a
socket, then every row copied into Spark's row format; no data source in Python can take less. Beside it Spark's own
scan of the same rows in Parquet, decoded inside the JVM: what rows cost it where no Python and no socket take part.
`--gib 1 4 8` holds that a GiB takes as long in a large log as in a small one.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from parsers.commitlog.batches.read import read_commitlog
from parsers.store.store import open_store
from pipelines.ingest.ingest import ingest_files
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw_messages import COMMITLOG_MESSAGES
from pipelines.lake.tables.spark_schema import spark_schema
from pipelines.spark.session import spark_session
from pipelines.spark.transfer import slices_of
from tests.support.big_log import FILE_SIZE, write_log
from tests.support.process_tree import core_seconds, peak_rss_mib

ROWS_A_GIB = 1_740_000
MOST_RSS_MIB = 700
PASSES = 3
BODIES = ("body", "body_decompressed")
EVERY = [name for name in COMMITLOG_MESSAGES.bare_schema.names if name not in BODIES]
NUMBERS = [field.name for field in COMMITLOG_MESSAGES.bare_schema if pa.types.is_integer(field.type)]


@dataclass(frozen=True)
class Log:
    """A log of that many messages in that many GiB of records."""

    root: Path
    rows: int
    gib: float


def log_of(folder: Path, size_gib: float) -> Log:
    """The log of that size, one file a GiB, written unless it is there."""
    root = folder / f"store-{size_gib:g}"
    if not root.exists():
        write_log(root, round(size_gib * ROWS_A_GIB), file_size=round(min(size_gib, 1) * FILE_SIZE))
    batches = read_commitlog(open_store(root), columns=["total_size"])
    counts = [(batch.num_rows, pc.sum(batch["total_size"]).as_py()) for batch in batches]
    rows, record_bytes = map(sum, zip(*counts, strict=True))
    return Log(root, rows, record_bytes / 2**30)


@dataclass(frozen=True)
class Taken:
    """The best of some warm passes, in seconds: of all cores together, and by the clock on the wall."""

    core: float
    wall: float

    def line(self, what: str, gib: float, beside: str) -> str:
        return f"{what:34} {self.core / gib:6.2f} core-s/GiB {self.wall / gib:6.2f} s/GiB   {beside}"


def best(work: Callable[[], int], expected: int) -> Taken:
    """What the best of some passes takes after one that warms up; every pass gives as many rows as expected."""
    passes = []
    for _ in range(1 + PASSES):
        core, wall = core_seconds(), perf_counter()
        assert work() == expected
        passes.append((core_seconds() - core, perf_counter() - wall))
    return Taken(*map(min, zip(*passes[1:], strict=True)))


def plain_rows(root: Path, columns: Sequence[str]) -> int:
    return sum(batch.num_rows for batch in read_commitlog(open_store(root), columns=columns, damage=None))


class FloorSource(DataSource):
    """Options: `batch`, a file with one Arrow batch; `batches`, how often each of `tasks` tasks hands it on."""

    @classmethod
    def name(cls) -> str:
        return "floor"

    def reader(self, schema: StructType) -> DataSourceReader:
        return FloorReader(Path(self.options["batch"]), int(self.options["batches"]), int(self.options["tasks"]))


class FloorReader(DataSourceReader):
    def __init__(self, place: Path, batches: int, tasks: int) -> None:
        self.place, self.batches, self.tasks = place, batches, tasks

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(self.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        batch = pa.ipc.open_stream(pa.memory_map(str(self.place))).read_next_batch()
        for _ in range(self.batches):
            yield batch


def through_spark(spark: SparkSession, source: str, schema: pa.Schema, rows: int, **options: str) -> int:
    """Every row crosses into the JVM; `noop` throws it away there."""
    to_noop(spark.read.format(source).schema(spark_schema(schema)).options(**options).load())
    return rows


def to_noop(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def scanned(spark: SparkSession, folder: Path, rows: int) -> int:
    to_noop(spark.read.parquet(str(folder)))
    return rows


def write_parquet(root: Path, folder: Path, schema: pa.Schema) -> None:
    """The rows of the data source, a Parquet file per slice."""
    folder.mkdir()
    for number, slice_ in enumerate(slices_of(BrokerSource("broker-a", root), COMMITLOG_MESSAGES.name)):
        with pq.ParquetWriter(folder / f"{number}.parquet", schema, compression="zstd") as file:
            for batch in slice_():
                file.write_batch(batch.select(schema.names))


def floor_options(root: Path, folder: Path, schema: pa.Schema, rows: int) -> dict[str, str]:
    """Prepare a batch as the data source gives it, and say how often to hand it on for about as many rows."""
    slices = slices_of(BrokerSource("broker-a", root), COMMITLOG_MESSAGES.name)
    rest = slices[0]()
    next(rest)  # the first batch is small
    batch = next(rest).select(schema.names)
    with pa.ipc.new_stream(folder / "floor.arrow", schema) as file:
        file.write_batch(batch)
    each = round(rows / batch.num_rows / len(slices))
    return {"batch": str(folder / "floor.arrow"), "batches": str(each), "tasks": str(len(slices))}


def data_source(spark: SparkSession, folder: Path, log: Log, names: Sequence[str]) -> None:
    """Plain reader, floor and data source, of the same columns."""
    root, rows, gib = log.root, log.rows, log.gib
    schema, read = COMMITLOG_MESSAGES.select(names), [name for name in names if name not in ("broker", "file")]
    plain = best(lambda: plain_rows(root, read), rows)
    options = floor_options(root, folder, schema, rows)
    floor = best(lambda: through_spark(spark, "floor", schema, rows, **options), rows)
    ours = best(lambda: through_spark(spark, "rocketmq_commitlog", schema, rows, store=str(root)), rows)
    with TemporaryDirectory(dir=folder) as place:
        write_parquet(root, Path(place) / "rows", schema)
        parquet = best(lambda: scanned(spark, Path(place) / "rows", rows), rows)
    print(plain.line(f"plain reader, {len(names)} columns", gib, "one thread"))
    print(parquet.line("Spark's scan of Parquet to noop", gib, f"{parquet.core / plain.core:5.2f} x plain"))
    print(floor.line("Spark's floor", gib, f"{floor.core / plain.core:5.2f} x plain"))
    beside = f"{ours.core / plain.core:5.2f} x plain, {ours.core / floor.core:.2f} x floor"
    print(ours.line("Spark data source to noop", gib, beside))


def ingested_rows(spark: SparkSession, root: Path, folder: Path) -> int:
    """Ingest every file anew: a lake of its own, so that nothing is read on from where it ended."""
    files = [f"commitlog/{file.path.name}" for file in open_store(root).commitlog]
    with TemporaryDirectory(dir=folder) as place:
        lake = Lake(Path(place))
        ingest_files(spark, lake, BrokerSource("broker-a", root), COMMITLOG_MESSAGES, files)
        return lake.rows(COMMITLOG_MESSAGES.name)


def growth(spark: SparkSession, folder: Path, logs: Sequence[Log]) -> None:
    """Plain reader and ingest into Delta of every log."""
    read = [name for name in EVERY if name not in ("broker", "file")]
    per_gib: dict[str, list[float]] = {"plain reader": [], "ingest into Delta": []}
    for log in logs:
        plain = best(partial(plain_rows, log.root, read), log.rows)
        ingest = best(partial(ingested_rows, spark, log.root, folder), log.rows)
        for name, taken in zip(per_gib, (plain, ingest), strict=True):
            per_gib[name].append(taken.core / log.gib)
            print(taken.line(name, log.gib, f"{log.gib:.2f} GiB"))
    for name, seconds in per_gib.items():
        print(f"{name}: longest over shortest GiB {max(seconds) / min(seconds):.2f}")


def main(folder: Path, sizes_gib: Sequence[float], cores: int) -> None:
    logs = [log_of(folder, size) for size in sizes_gib]
    spark = spark_session(f"local[{cores}]")
    spark.dataSource.register(FloorSource)
    first = logs[0]
    assert spark.read.format("rocketmq_commitlog").option("store", str(first.root)).load().count() == first.rows
    print(f"{first.rows} messages, {first.gib:.2f} GiB; Spark's cores {cores}, allowed {len(os.sched_getaffinity(0))}")
    print(f"load of the machine {os.getloadavg()[0]:.1f}")
    for names in (EVERY, NUMBERS):
        data_source(spark, folder, first, names)
    growth(spark, folder, logs)
    peaks = peak_rss_mib()
    assert all(peak <= MOST_RSS_MIB for name, peak in peaks.items() if name != "java"), peaks
    print("peak memory, MiB:", ", ".join(f"{name} {peak}" for name, peak in sorted(peaks.items())))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path, help="where to write the log, and to keep it for the next run")
    options.add_argument("--gib", type=float, nargs="+", default=[1], help="sizes of logs, one file a GiB")
    options.add_argument("--cores", type=int, default=2)
    given = options.parse_args()
    if given.folder is not None:
        main(given.folder, given.gib, given.cores)
    else:
        with TemporaryDirectory() as temporary:
            main(Path(temporary), given.gib, given.cores)
