"""The derived tables of a lake, made anew where what they come from has changed.

The engines are imported where something is made: an ingest that finds nothing new does without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from parsers.store.store import NotAStore
from pipelines.answers.instants import hour_of
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import (
    ALL_BROKERS,
    MadeFrom,
    all_inputs,
    broker_inputs,
    evidence_inputs,
    store_inputs,
)
from pipelines.ingest.watermarks import watermarks_of
from pipelines.lake.broker_stores import store_of
from pipelines.lake.catalog import question
from pipelines.lake.lake import Lake, lake_to_write
from pipelines.lake.sources import BrokerSource, Sources
from pipelines.lake.tables.derived import DERIVED_TABLES
from pipelines.lake.tables.fates import DELAYED_MESSAGES
from pipelines.lake.tables.judgements import REPLICA_DIFFERENCES, RETENTION_RISK
from pipelines.lake.tables.lag import LAG_EPISODES, LAG_HISTORY
from pipelines.lake.tables.ownership import OWNERSHIP_INTERVALS, OWNERSHIP_TABLES
from pipelines.lake.tables.raw import QUEUES
from pipelines.spark.jobs.store_rows import judge_brokers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JUDGED = tuple(table for table in DERIVED_TABLES if table not in (LAG_HISTORY, LAG_EPISODES, REPLICA_DIFFERENCES))
"""The tables whose rows are made broker by broker."""
WAITING = "SELECT DISTINCT broker FROM delayed_messages WHERE state = 'pending'"


@dataclass(slots=True)
class Derived:
    """Rows by table, and what of the logs and captures could not be read."""

    rows: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def derive(
    spark: SparkSession,
    sources: Sources,
    progress: Callable[[str], None] = lambda table: None,
    read: Mapping[str, IngestedFiles] = MappingProxyType({}),
    lake: Lake | None = None,
) -> Derived:
    """Make every derived table from the lake, the stores, and the logs and captures of the configuration.

    What has not changed is left: a broker whose files are as they were when the table was made.

    A store that is not there has no rows in the tables that are made from its files; without logs and captures the
    ownership tables are left as they are.

    Args:
        progress: told the name of each table before it is made; of the ownership tables the one of intervals.
        read: by broker whose store was just read, and need not be opened to know that it is there, its files.
        lake: the lake of the configuration, where it is known to be no evidence.
    """
    lake, derived = lake or lake_to_write(sources), Derived()
    made = MadeFrom.load(lake)
    others, _ = readable([broker for broker in sources.brokers if broker.name not in read])
    known = {**read, **IngestedFiles.load_all(lake, [broker.name for broker in others])}
    marks = watermarks_of(lake)
    there = [broker.cut_at(marks.get(broker.name)) for broker in sources.brokers if broker.name in known]
    now = {broker.name: broker_inputs(broker, known[broker.name].known) for broker in there}
    hourly = {name: f"{inputs} {hour_of(datetime.now(UTC))}" for name, inputs in now.items()}

    @cache
    def lacking() -> Set[str]:
        return in_part(made, there, known)

    for table in JUDGED:
        changed = set(made.changed(table.name, now)) & set(made.changed(table.name, hourly))
        if changed:
            progress(table.name)
        judged = [broker for broker in there if broker.name in changed]
        derived.rows[table.name] = judge_brokers(spark, lake, table.name, judged, unchanged=now.keys() - changed)
        by_clock = _told_by_the_clock(lake, table.name, changed)
        whole = changed - lacking() if changed else changed
        made.note(table.name, {name: (hourly if name in by_clock else now)[name] for name in whole})
        made.save()
    if made.changed(LAG_HISTORY.name, now) or lake.version(LAG_HISTORY.name) is None:
        progress(LAG_HISTORY.name)
        write_lag_history(lake)
        made.note(LAG_HISTORY.name, {name: inputs for name, inputs in now.items() if name not in lacking()})
        made.save()
    derived.rows[LAG_HISTORY.name] = lake.rows(LAG_HISTORY.name)
    _compare(lake, sources, now, made, derived, progress)
    all_read = _own(spark, lake, sources, made, derived, progress)
    _split_lag(lake, sources, now, made, derived, progress, lambda: all_read and not lacking())
    return derived


def in_part(made: MadeFrom, brokers: Sequence[BrokerSource], known: Mapping[str, IngestedFiles]) -> Set[str]:
    """Brokers of whose queues some were gone, or could not be read, when they were summed up: what is made of them now
    may lack the same, and is made again even if they come back as they were."""
    inputs = {broker.name: store_inputs(broker, known[broker.name].known) for broker in brokers}
    return set(made.changed(QUEUES.name, inputs))


def _told_by_the_clock(lake: Lake, table: str, made: Set[str]) -> Set[str]:
    """Of the brokers that a table was just made for, those whose rows hold as of the hour of the run: they are made
    again in another one. That is when the cleaner deletes what is unread, and what waits for its time."""
    if table == RETENTION_RISK.name:
        return made
    if table == DELAYED_MESSAGES.name and made:
        return made & set(lake.query(WAITING)["broker"].to_pylist())
    return set()


def _split_lag(
    lake: Lake,
    sources: Sources,
    now: Mapping[str, str],
    made: MadeFrom,
    derived: Derived,
    progress: Callable[[str], None],
    is_whole: Callable[[], bool],
) -> None:
    """Split the history of lag into episodes and their causes where it, or any log, has changed.

    `is_whole`: whether all files of both could be read; what could not may be the same file when it can be.
    """
    inputs = {ALL_BROKERS: all_inputs(now, evidence_inputs(sources.recorded_files()))}
    if made.changed(LAG_EPISODES.name, inputs) or lake.version(LAG_EPISODES.name) is None:
        progress(LAG_EPISODES.name)
        write_lag_episodes(lake, sources)
        if is_whole():
            made.note(LAG_EPISODES.name, inputs)
            made.save()
    derived.rows[LAG_EPISODES.name] = lake.rows(LAG_EPISODES.name)


def _compare(
    lake: Lake,
    sources: Sources,
    now: Mapping[str, str],
    made: MadeFrom,
    derived: Derived,
    progress: Callable[[str], None],
) -> None:
    """Compare replicas where any broker has changed. What could not be read is read, and told, every time."""
    if not sources.replicas:
        return
    inputs = {ALL_BROKERS: all_inputs(now, sources.replicas)}
    if made.changed(REPLICA_DIFFERENCES.name, inputs):
        progress(REPLICA_DIFFERENCES.name)
        _, problems = write_replica_differences(lake, sources)
        derived.problems += problems
        if not problems:
            made.note(REPLICA_DIFFERENCES.name, inputs)
            made.save()
    derived.rows[REPLICA_DIFFERENCES.name] = lake.rows(REPLICA_DIFFERENCES.name)


def _own(
    spark: SparkSession,
    lake: Lake,
    sources: Sources,
    made: MadeFrom,
    derived: Derived,
    progress: Callable[[str], None],
) -> bool:
    """Replay logs and captures where any of them has changed; whether all could be read. What could not be is read, and
    told, every time."""
    places = sources.recorded_files()
    inputs = {ALL_BROKERS: evidence_inputs(places)}
    if places and made.changed(OWNERSHIP_INTERVALS.name, inputs):
        from pipelines.spark.jobs.ownership import replay_sources

        progress(OWNERSHIP_INTERVALS.name)
        replayed = replay_sources(spark, lake, sources)
        derived.rows |= replayed.rows
        derived.problems += replayed.problems
        if replayed.problems:
            return False
        made.note(OWNERSHIP_INTERVALS.name, inputs)
        made.save()
    elif places:
        derived.rows |= {table.name: lake.rows(table.name) for table in OWNERSHIP_TABLES}
    return True


def write_lag_history(lake: Lake) -> int:
    """Answer lag_history.sql from the snapshots and the lives of topics in the lake, into its table; its rows."""
    from pipelines.answers.lives.lag_of_lives import with_lives

    return lake.write(LAG_HISTORY.name, with_lives(lake.query(question("lag_history")), lake), replaced=None)


def write_lag_episodes(lake: Lake, sources: Sources) -> int:
    """Split the lag of every broker's groups into causes, from tables of the lake and the brokers' logs; its rows."""
    from pipelines.answers.episodes.of_lake import lake_episodes

    rows = pa.Table.from_pylist(list(lake_episodes(lake, sources)), schema=LAG_EPISODES.bare_schema)
    return lake.write(LAG_EPISODES.name, rows, replaced=None)


def write_replica_differences(lake: Lake, sources: Sources) -> tuple[int, list[str]]:
    """Compare the replicas of the configuration; rows, and a sentence for each group that could not be compared."""
    from pipelines.answers.replica_rows import replica_rows

    rows, problems = replica_rows(sources)
    schema = REPLICA_DIFFERENCES.bare_schema
    return lake.write(REPLICA_DIFFERENCES.name, pa.Table.from_pylist(rows, schema=schema), replaced=None), problems


def readable(brokers: Sequence[BrokerSource]) -> tuple[list[BrokerSource], list[str]]:
    """The brokers whose store can be opened, and a sentence for each of the others."""
    there: list[BrokerSource] = []
    refused: list[str] = []
    for broker in brokers:
        try:
            store_of(broker)
            there.append(broker)
        except NotAStore as why:
            refused.append(f"{broker.name}: {why}")
    return there, refused
