"""The CommitLog through Spark on two cores, against the plain reader of the same run; ingest into Delta.

Run: python benchmarks/bench_spark_commitlog.py [--folder F] [--messages N] [--cores 1|2]
Every column and CRC of the log is read on both sides; the rows that Spark counts must be the reader's. A session holds
its cores for life, so the step from one core to two is two runs with the same folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from pyspark.sql import SparkSession

from parsers.commitlog.read import read_commitlog
from parsers.store import open_store
from pipelines.lake import Lake
from pipelines.sources import BrokerSource
from pipelines.spark.session import spark_session
from pipelines.spark.transfer import save, source_frame
from tests.support.big_log import write_log

ENOUGH_FOR_A_FILE = 1_740_000
PASSES = 4
TABLE = "commitlog_messages"


def best(work: Callable[[], int]) -> tuple[float, int]:
    """Seconds of the best warm pass, and what every pass gave."""
    work()
    seconds, results = [], set()
    for _ in range(PASSES):
        began = perf_counter()
        results.add(work())
        seconds.append(perf_counter() - began)
    assert len(results) == 1
    return min(seconds), results.pop()


def plain_rows(root: Path) -> int:
    return sum(batch.num_rows for batch in read_commitlog(open_store(root), on_damage="raise"))


def spark_rows(spark: SparkSession, root: Path) -> int:
    """Every column crosses into the JVM; `noop` throws it away there."""
    frame = spark.read.format("rocketmq_commitlog").option("store", str(root)).load()
    frame.write.format("noop").mode("overwrite").save()
    return 0


def ingested_rows(spark: SparkSession, root: Path, lake: Lake) -> int:
    broker = BrokerSource("broker-a", root, version="5.3.3")
    files = [f"commitlog/{file.path.name}" for file in open_store(root).commitlog]
    save(source_frame(spark, broker, TABLE, files, {}), lake, TABLE, [(broker.name, file) for file in files])
    return lake.rows(TABLE)


def main(folder: Path, messages: int, cores: int) -> None:
    root = folder / "store"
    if not root.exists():
        write_log(root, messages)
    gib = sum(file.size for file in open_store(root).commitlog) / 2**30
    plain, rows = best(lambda: plain_rows(root))
    spark = spark_session(f"local[{cores}]")
    counted = spark.read.format("rocketmq_commitlog").option("store", str(root)).load().count()
    assert counted == rows
    through_spark, _ = best(lambda: spark_rows(spark, root))
    print(f"{rows} messages, {gib:.2f} GiB, {cores} cores")
    print(f"plain reader, one thread  {plain / gib:6.2f} s/GiB")
    core_time = through_spark * cores / plain
    print(f"Spark data source to noop {through_spark / gib:6.2f} s/GiB wall, {core_time:5.2f} x core-time")
    ingest, kept = best(lambda: ingested_rows(spark, root, Lake(folder / "lake")))
    assert kept == rows
    print(f"ingest into Delta         {ingest / gib:6.2f} s/GiB wall")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=Path, help="where to write the log, and to keep it for the next run")
    options.add_argument("--messages", type=int, default=ENOUGH_FOR_A_FILE)
    options.add_argument("--cores", type=int, default=2)
    given = options.parse_args()
    if given.folder is not None:
        main(given.folder, given.messages, given.cores)
    else:
        with TemporaryDirectory() as temporary:
            main(Path(temporary), given.messages, given.cores)
