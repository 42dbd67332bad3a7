"""How long Spark takes to replay a week of many groups into the ownership tables of a lake, and how much memory.

Run: python -m benchmarks.bench_replay_spark [GROUPS] [CLIENTS] [DEPLOYS]
The weeks are those of bench_replay, played in Spark's tasks and spooled as a reader of logs spools its facts; then they
are replayed and the tables are written, which is what is timed. Tables are compared with what was played: rows in all,
and for some groups every interval. Memory is the peak of this process, of the largest worker and of the JVM.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from pyspark.sql import SparkSession

from pipelines.lake.lake import Lake
from pipelines.spark.jobs.fact_spool import FactSpool, SpoolFile
from pipelines.spark.jobs.ownership import bucket_count, replay_facts, spool_folder
from pipelines.spark.session import spark_session
from rebalance.facts import GroupFact, HeartbeatReceived
from tests.support.generate_sessions import generate_week

MASTER = "local[2]"
TASKS = 8
COMPARED = 10
BYTES_OF_A_CLIENT = 66_000  # of a capture: 220 requests in a week


class Played(NamedTuple):
    """What a task played of some groups, and where their facts are."""

    files: list[SpoolFile]
    facts: int
    intervals: int
    heartbeats: int


def name_of(number: int) -> str:
    return f"group-{number:04d}"


class Play:
    """Called in a worker with the numbers of some groups."""

    def __init__(self, folder: Path, buckets: int, clients: int, deploys: int) -> None:
        self.folder, self.buckets, self.clients, self.deploys = folder, buckets, clients, deploys

    def __call__(self, task: int, numbers: Iterable[int]) -> Iterator[Played]:
        spool = FactSpool(self.folder, str(task), self.buckets, first_position=task << 40)
        facts = intervals = heartbeats = 0
        for number in numbers:
            played = generate_week(name_of(number), self.clients, self.deploys)
            told = [
                fact for fact in played.facts if number == 0 or isinstance(fact, GroupFact)
            ]  # one broker, one start
            for fact in told:
                spool.add(fact)
            facts += len(told)
            intervals += len(played.owned)
            heartbeats += sum(isinstance(fact, HeartbeatReceived) for fact in played.facts)
        yield Played(spool.close(), facts, intervals, heartbeats)


def check(rows: dict[str, int], lake: Lake, played: list[Played], groups: int, clients: int, deploys: int) -> None:
    """Compares the tables with what was played."""
    assert rows["ownership_intervals"] == sum(task.intervals for task in played), rows
    assert rows["ownership_anomalies"] == 0, rows
    assert rows["assignments"] > 0, rows
    told = lake.query("SELECT count(*) AS n FROM heartbeats WHERE kind = 'heartbeat'").to_pylist()
    assert told == [{"n": sum(task.heartbeats for task in played)}]
    for number in range(0, groups, max(1, groups // COMPARED)):
        owned = generate_week(name_of(number), clients, deploys).owned
        told = lake.query(
            "SELECT queue_id, client_id, epoch_ms(begin_earliest) AS begun FROM ownership_intervals "
            'WHERE "group" = $name',
            name=name_of(number),
        ).to_pylist()
        found = sorted((row["queue_id"], row["client_id"], row["begun"]) for row in told)
        assert found == sorted((queue.queue_id, client_id, since) for queue, client_id, since, _ in owned)


class Usage(NamedTuple):
    """What a process has taken so far."""

    cpu_seconds: float
    peak_mb: float


def usage(_: object = None) -> tuple[int, Usage]:
    """This process and its usage."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return os.getpid(), Usage(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def usage_of_workers(spark: SparkSession) -> Usage:
    """All worker processes, which are kept from job to job: their CPU time, the peak of the largest."""
    workers = dict(spark.sparkContext.parallelize(range(TASKS), TASKS).map(usage).collect())
    return Usage(sum(used.cpu_seconds for used in workers.values()), max(used.peak_mb for used in workers.values()))


def peak_mb_of_jvm(spark: SparkSession) -> float:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    status = Path(f"/proc/{gateway.proc.pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def main() -> None:
    """Print one line per measure."""
    given = [int(argument) for argument in sys.argv[1:4]]
    groups, clients, deploys = given + [1000, 50, 0][len(given) :]
    spark = spark_session(MASTER, short_lived=True)
    with tempfile.TemporaryDirectory() as root:
        lake = Lake(Path(root))
        with spool_folder(lake) as folder:
            assert isinstance(folder, Path)
            started = perf_counter()
            buckets = bucket_count(spark, groups * clients * (1 + deploys) * BYTES_OF_A_CLIENT)
            numbers = spark.sparkContext.parallelize(range(groups), TASKS)
            played = numbers.mapPartitionsWithIndex(Play(folder, buckets, clients, deploys)).collect()
            facts = sum(task.facts for task in played)
            files = [file for task in played for file in task.files]
            spooled_mb = sum(file.path.stat().st_size for file in files) / 1e6
            print(
                f"{groups} weeks of {clients} clients, {deploys} deploys: {facts:,} facts, "
                f"{spooled_mb:.0f} MB spooled, {perf_counter() - started:.1f} s to play and spool"
            )
            before = usage_of_workers(spark)
            started = perf_counter()
            rows = replay_facts(spark, lake, "generated", files)
            seconds = perf_counter() - started
            after = usage_of_workers(spark)
        check(rows, lake, played, groups, clients, deploys)
    cpu = after.cpu_seconds - before.cpu_seconds
    print(
        f"{seconds:.1f} s through Spark on {MASTER}, {seconds / groups * 1000:.1f} s per 1000 groups, "
        f"{facts / seconds:,.0f} facts/s; {cpu:.1f} CPU s of the workers, {cpu / groups * 1000:.1f} s per 1000 groups, "
        f"{facts / cpu:,.0f} facts/s of one core"
    )
    print(", ".join(f"{count:,} {name}" for name, count in rows.items()))
    print(
        f"peak memory: {usage()[1].peak_mb:.0f} MB here, {after.peak_mb:.0f} MB in the largest worker, "
        f"{peak_mb_of_jvm(spark):.0f} MB in the JVM"
    )
    spark.stop()


if __name__ == "__main__":
    main()
