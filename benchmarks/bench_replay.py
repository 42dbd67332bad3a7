"""How fast a history is replayed: facts per second on one core, and a week of many groups on two.

Run: python -m benchmarks.bench_replay [GROUPS] [CLIENTS]
The groups are generated: members join, some restart, all heartbeat; a day with every heartbeat a fact of its own, and
weeks with runs of equal heartbeats drawn together. What the replay says is compared with what was played: intervals,
and the owners at random instants. Seconds are CPU seconds, generating not counted; memory is the peak of one worker.
"""

from __future__ import annotations

import random
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter, process_time
from typing import NamedTuple

from rebalance.facts import Fact
from rebalance.replay import Replay, replay
from tests.support.generate_sessions import DAY_MS, START_MS, GeneratedGroup, generate_group, generate_week

WORKERS = 2


class Played(NamedTuple):
    """What one group cost, and how much of it there was."""

    facts: int
    intervals: int
    cpu_seconds: float
    peak_mb: float


def timed_replay(facts: list[Fact]) -> tuple[Replay, float]:
    """A replay with its intervals and anomalies worked out, and the CPU seconds that took."""
    started = process_time()
    history = replay(facts)
    assert history.intervals is not None
    assert history.anomalies == []
    return history, process_time() - started


def check(generated: GeneratedGroup, history: Replay, instants: int) -> None:
    """Compares intervals and the owners at random instants with what was played."""
    found = sorted((i.queue_id, i.client_id, i.begin_earliest) for i in history.intervals)
    played = sorted((queue.queue_id, client_id, since) for queue, client_id, since, _ in generated.owned)
    assert found == played, f"{len(found)} intervals, {len(played)} were played"
    chance = random.Random(1)
    for at_ms in (chance.randrange(START_MS, generated.facts[-1].at_ms) for _ in range(instants)):
        for answer in history.ownership_at(at_ms):
            assert not answer.certain or set(answer.owners) == set(owners(generated, answer.queue_id, at_ms))


def owners(generated: GeneratedGroup, queue_id: int, at_ms: int) -> list[str]:
    return [
        client_id
        for queue, client_id, since, until in generated.owned
        if queue.queue_id == queue_id and since <= at_ms and (until is None or at_ms < until)
    ]


def week_of(task: tuple[int, int]) -> Played:
    """One group's week, generated, replayed and checked in this process."""
    number, clients = task
    generated = generate_week(f"group-{number:04d}", clients)
    history, seconds = timed_replay(generated.facts)
    check(generated, history, instants=5)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Played(len(generated.facts), len(history.intervals), seconds, peak_mb)


def main() -> None:
    """Print one line per measure."""
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    clients = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    day = generate_group("day", clients=clients, span_ms=DAY_MS, coalesced=False)
    history, seconds = timed_replay(day.facts)
    check(day, history, instants=20)
    print(f"one group's day: {len(day.facts)} facts, {len(day.facts) / seconds:,.0f} facts/s on one core")
    started = perf_counter()
    with ProcessPoolExecutor(WORKERS) as workers:
        weeks = list(workers.map(week_of, ((number, clients) for number in range(groups)), chunksize=4))
    cpu = sum(week.cpu_seconds for week in weeks)
    facts = sum(week.facts for week in weeks)
    print(
        f"{groups} weeks of {clients} clients, where every fact is a change: {facts:,} facts, "
        f"{facts / cpu:,.0f} facts/s on one core, {sum(week.intervals for week in weeks):,} intervals; "
        f"{cpu:.1f} CPU s replaying ({cpu / WORKERS:.1f} s on {WORKERS} cores), "
        f"{perf_counter() - started:.1f} s with generating and checking, "
        f"peak {max(week.peak_mb for week in weeks):.0f} MB"
    )


if __name__ == "__main__":
    main()
