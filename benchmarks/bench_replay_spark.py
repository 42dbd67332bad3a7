"""How long Spark takes to replay a week of many groups into the ownership tables of a lake, and how much memory.

Run: python -m benchmarks.bench_replay_spark [GROUPS] [CLIENTS]
The groups are those of bench_replay. The rows of every table that was made are compared with what was played. Memory is
the peak of this process, which holds all facts, and of the largest worker; the JVM's is its own.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from pipelines.lake import Lake
from pipelines.spark.ownership_job import Evidence, replay_into
from pipelines.spark.session import spark_session
from rebalance.events import HeartbeatReceived
from tests.support.generate_sessions import GeneratedGroup, generate_group

MASTER = "local[2]"


def generated_groups(groups: int, clients: int) -> list[GeneratedGroup]:
    """A week of each group."""
    return [generate_group(f"group-{number:04d}", clients=clients) for number in range(groups)]


def check(rows: dict[str, int], lake: Lake, played: list[GeneratedGroup]) -> None:
    """Compares the tables with what was played: each interval a row, each heartbeat told, no anomaly."""
    assert rows["ownership_intervals"] == sum(len(group.owned) for group in played), rows
    assert rows["ownership_anomalies"] == 0, rows
    assert rows["assignments"] > 0, rows
    told = "SELECT count(*) AS n FROM heartbeats WHERE kind = 'heartbeat'"
    beats = sum(isinstance(fact, HeartbeatReceived) for group in played for fact in group.facts)
    assert lake.query(told).to_pylist() == [{"n": beats}]
    groups = lake.query('SELECT count(DISTINCT "group") AS n FROM ownership_intervals').to_pylist()
    assert groups == [{"n": len(played)}]


def peak_mb(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def main() -> None:
    """Print one line per measure."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    started = perf_counter()
    played = generated_groups(groups, clients)
    evidence = Evidence("generated", [fact for group in played for fact in group.facts])
    print(
        f"{groups} weeks of {clients} clients: {len(evidence.facts):,} facts, {perf_counter() - started:.1f} s to play"
    )
    spark = spark_session(MASTER, short_lived=True)
    with tempfile.TemporaryDirectory() as folder:
        lake = Lake(Path(folder))
        started = perf_counter()
        rows = replay_into(spark, lake, evidence)
        seconds = perf_counter() - started
        check(rows, lake, played)
    spark.stop()
    print(
        f"{seconds:.1f} s through Spark on {MASTER} ({len(evidence.facts) / seconds:,.0f} facts/s): "
        + ", ".join(f"{count:,} {name}" for name, count in rows.items())
    )
    print(
        f"peak memory: {peak_mb(resource.RUSAGE_SELF):.0f} MB here with all facts, "
        f"{peak_mb(resource.RUSAGE_CHILDREN):.0f} MB in the largest process below it"
    )


if __name__ == "__main__":
    main()
