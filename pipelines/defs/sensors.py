"""The sensor that finds new and grown store files and asks for their partitions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

import dagster as dg

from parsers.store import NotAStore, Store
from pipelines.defs.jobs import FILE_JOBS, STORE_JOB
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.partitions import TABLES_BY_PARTITION
from pipelines.ingest.ingest import partition_key
from pipelines.lake.broker_stores import store_of
from pipelines.lake.sources import BrokerSource

FILES_PER_TICK = 50
Seen = Mapping[str, str]
"""Partition key -> size and modification time. A name alone would never revisit the file that still grows, and a
CommitLog file has its full size from the first day."""


def seen_files(broker: BrokerSource, store: Store) -> dict[str, dict[str, str]]:
    """Partitions definition -> partition key -> what the file looks like now."""
    return {
        name: {
            partition_key(broker, store.root, file): f"{file.size}:{file.mtime_ns}"
            for file in tables[0].files.of(store)
        }
        for name, tables in TABLES_BY_PARTITION.items()
    }


def changes(before: Seen, now: Seen) -> list[str]:
    """Keys that are new or look different, in order."""
    return sorted(key for key, looks in now.items() if before.get(key) != looks)


@dg.sensor(
    jobs=[*FILE_JOBS.values(), STORE_JOB],
    minimum_interval_seconds=30,
    description="Finds new and grown store files of every broker and ingests them.",
)
def store_files_sensor(context: dg.SensorEvaluationContext, lakehouse: Lakehouse) -> dg.SensorResult | dg.SkipReason:
    """One run per new or changed file, and one per broker that had any."""
    before: dict[str, dict[str, str]] = json.loads(context.cursor or "{}")
    now: dict[str, dict[str, str]] = {name: {} for name in TABLES_BY_PARTITION}
    unreadable = []
    for broker in lakehouse.sources().brokers:
        try:
            for name, files in seen_files(broker, store_of(broker)).items():
                now[name].update(files)
        except NotAStore as refused:
            unreadable.append(f"{broker.name}: {refused}")
    for sentence in unreadable:
        context.log.warning(sentence)
    changed = first_of({name: changes(before.get(name, {}), now[name]) for name in now}, FILES_PER_TICK)
    if not any(changed.values()):
        return dg.SkipReason("; ".join(unreadable) or "no new and no grown store file")
    return dg.SensorResult(
        run_requests=list(_runs(changed, now)),
        dynamic_partitions_requests=[
            dg.AddDynamicPartitionsRequest(name, keys) for name, keys in _new_partitions(changed)
        ],
        cursor=json.dumps(remembered(before, now, changed), sort_keys=True),
    )


def first_of(changed: Mapping[str, list[str]], most: int) -> dict[str, list[str]]:
    """At most `most` keys altogether; what is left over is found again at the next tick."""
    taken: dict[str, list[str]] = {}
    for name, keys in changed.items():
        taken[name] = keys[: max(0, most - sum(map(len, taken.values())))]
    return taken


def remembered(
    before: Mapping[str, Seen], now: Mapping[str, Seen], taken: Mapping[str, list[str]]
) -> dict[str, dict[str, str]]:
    """The next cursor: what was asked for now as it looks now, the rest as it looked before, deleted files gone."""
    return {
        name: {
            key: looks if key in set(taken[name]) else before[name][key]
            for key, looks in files.items()
            if key in set(taken[name]) or key in before.get(name, {})
        }
        for name, files in now.items()
    }


def _runs(changed: Mapping[str, list[str]], now: Mapping[str, Seen]) -> Iterator[dg.RunRequest]:
    for name, keys in changed.items():
        for key in keys:
            yield dg.RunRequest(run_key=f"{key}@{now[name][key]}", partition_key=key, job_name=FILE_JOBS[name].name)
    for broker in _brokers(changed):
        looks = [f"{key}@{now[name][key]}" for name, keys in changed.items() for key in keys]
        digest = hashlib.sha256("\n".join(looks).encode()).hexdigest()[:16]
        yield dg.RunRequest(run_key=f"{broker}@{digest}", partition_key=broker, job_name=STORE_JOB.name)


def _new_partitions(changed: Mapping[str, list[str]]) -> Iterator[tuple[str, list[str]]]:
    yield from ((name, keys) for name, keys in changed.items() if keys)
    yield "broker", _brokers(changed)


def _brokers(changed: Mapping[str, list[str]]) -> list[str]:
    return sorted({key.split("/", 1)[0] for keys in changed.values() for key in keys})
