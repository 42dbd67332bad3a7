"""The derived tables of a lake, made anew where what they come from has changed.

The engines are imported where something is made: an ingest that finds nothing new does without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from parsers.evidence.seen import seen
from parsers.store.store import NotAStore
from pipelines.answers.instants import hour_of
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import ALL_BROKERS, MadeFrom, all_inputs, broker_inputs, evidence_inputs, store_inputs
from pipelines.ingest.still import StillStores
from pipelines.ingest.watermarks import watermarks_of
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake, lake_to_write
from pipelines.lake.questions import question
from pipelines.lake.tables.derived import DERIVED_TABLES
from pipelines.lake.tables.fates import DELAYED_MESSAGES
from pipelines.lake.tables.judgements import REPLICA_DIFFERENCES, RETENTION_RISK
from pipelines.lake.tables.lag import LAG_EPISODES, LAG_HISTORY
from pipelines.lake.tables.ownership import OWNERSHIP_INTERVALS, OWNERSHIP_TABLES
from pipelines.lake.tables.raw import QUEUES
from pipelines.spark.jobs.store_rows import judge_brokers
from pipelines.spark.workers import side_by_side

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
    failed: Set[str] = frozenset(),
) -> Derived:
    """Make every derived table from the lake, the stores, and the logs and captures of the configuration.

    What has not changed is left: a broker whose files are as they were when the table was made, and did not change
    while it was made.

    A store that is not there has no rows in the tables that are made from its files; without logs and captures the
    ownership tables are left as they are.

    Args:
        progress: called with the name of each table before it is made; of the ownership tables the one of intervals.
        read: by broker whose store was just read, and need not be opened to know that it is there, its files.
        lake: the lake of the configuration, where it is known to be no evidence.
        failed: brokers whose files were not read to the end just now; what is told of them stays as it is.
    """
    lake = lake or lake_to_write(sources)
    with lake.asked_often():
        others, _ = readable([broker for broker in sources.brokers if broker.name not in read])
        known = {**read, **IngestedFiles.load_all(lake, [broker.name for broker in others])}
        marks = watermarks_of(lake)
        there = [broker.cut_at(marks.get(broker.name)) for broker in sources.brokers if broker.name in known]
        making = _Making(spark, lake, sources, progress, MadeFrom.load(lake), StillStores(there, known), failed)
        making.now = {broker.name: broker_inputs(broker, known[broker.name].known) for broker in there}
        try:
            making.judgements()
            making.lag_history()
            making.comparison()
            making.ownership()
            making.lag_episodes()
        finally:
            making.note()
    return making.derived


@dataclass(slots=True)
class _Making:
    """One run over the derived tables.

    `now`: the inputs of each broker that is there. `fresh`: by table, the inputs it was made from, kept by `note`.
    """

    spark: SparkSession
    lake: Lake
    sources: Sources
    progress: Callable[[str], None]
    made: MadeFrom
    stores: StillStores
    failed: Set[str]
    now: Mapping[str, str] = field(default_factory=dict)
    fresh: dict[str, Mapping[str, str]] = field(default_factory=dict)
    derived: Derived = field(default_factory=Derived)

    def judgements(self) -> None:
        """Make the tables of one broker each for those whose inputs, or the hour where it counts, are other ones."""
        hour = hour_of(datetime.now(UTC))
        hourly = {name: f"{inputs} {hour}" for name, inputs in self.now.items()}
        changed = {
            table: set(self.made.changed(table.name, self.now))
            & set(self.made.changed(table.name, hourly)) - self.failed
            for table in JUDGED
        }
        self.stores.look(set().union(*changed.values()))
        calls = [partial(self._judged, table.name, names) for table, names in changed.items()]
        needs_spark = any(changed.values())
        rows = side_by_side(self.spark, calls) if needs_spark else (call() for call in calls)
        for (table, names), made in zip(changed.items(), rows, strict=True):
            self.derived.rows[table.name] = made
            by_clock = _told_by_the_clock(self.lake, table.name, names)
            self.fresh[table.name] = {name: (hourly if name in by_clock else self.now)[name] for name in names}

    def _judged(self, table: str, names: Set[str]) -> int:
        """Make a table anew for the named brokers; its rows."""
        if names:
            self.progress(table)
        judged = [broker for broker in self.stores.brokers if broker.name in names]
        return judge_brokers(self.spark, self.lake, table, judged, unchanged=self.now.keys() - names)

    def lag_history(self) -> None:
        """Answer the history of lag where any broker has changed."""
        if self._is_due(LAG_HISTORY.name, self.now):
            self.progress(LAG_HISTORY.name)
            write_lag_history(self.lake)
            self.fresh[LAG_HISTORY.name] = self.now
        self._count(LAG_HISTORY.name)

    def comparison(self) -> None:
        """Compare replicas where any broker has changed. What could not be read is read, and reported, every time."""
        if not self.sources.replicas:
            return
        inputs = {ALL_BROKERS: all_inputs(self.now, self.sources.replicas)}
        if self.made.changed(REPLICA_DIFFERENCES.name, inputs):
            self.progress(REPLICA_DIFFERENCES.name)
            self.stores.look(self.now)
            _, problems = write_replica_differences(self.lake, self.sources)
            self.derived.problems += problems
            if not problems:
                self.fresh[REPLICA_DIFFERENCES.name] = inputs
        self._count(REPLICA_DIFFERENCES.name)

    def ownership(self) -> None:
        """Replay logs and captures where any of them has changed. What could not be read is read, and reported, every
        time."""
        places = self.sources.recorded_files()
        inputs = {ALL_BROKERS: evidence_inputs(places)}
        if places and self.made.changed(OWNERSHIP_INTERVALS.name, inputs):
            from pipelines.spark.jobs.ownership import replay_sources

            self.progress(OWNERSHIP_INTERVALS.name)
            before = seen(places)
            replayed = replay_sources(self.spark, self.lake, self.sources)
            self.derived.rows |= replayed.rows
            self.derived.problems += replayed.problems
            if not replayed.problems and seen(places) == before:
                self.made.note(OWNERSHIP_INTERVALS.name, inputs)
        elif places:
            for table in OWNERSHIP_TABLES:
                self._count(table.name)

    def lag_episodes(self) -> None:
        """Split the history of lag into episodes and their causes where it, or any log, has changed."""
        places = self.sources.recorded_files()
        inputs = {ALL_BROKERS: all_inputs(self.now, evidence_inputs(places))}
        if self._is_due(LAG_EPISODES.name, inputs):
            self.progress(LAG_EPISODES.name)
            before = seen(places)
            write_lag_episodes(self.lake, self.sources)
            if not self.derived.problems and seen(places) == before:
                self.fresh[LAG_EPISODES.name] = inputs
        self._count(LAG_EPISODES.name)

    def note(self) -> None:
        """Keep what the tables were made from, but for brokers of which a part was gone, or has changed meanwhile: as
        the store is now, it may look the same as before."""
        if not self.fresh:
            self.made.save()
            return
        doubtful = self.stores.moved() | in_part(self.made, self.stores)
        for table, inputs in self.fresh.items():
            whole = {name: text for name, text in inputs.items() if name not in doubtful}
            self.made.note(table, {} if doubtful and ALL_BROKERS in inputs else whole)
        self.made.save()

    def _is_due(self, table: str, inputs: Mapping[str, str]) -> bool:
        return bool(self.made.changed(table, inputs)) or self.lake.version(table) is None

    def _count(self, table: str) -> None:
        self.derived.rows[table] = self.lake.rows(table)


def in_part(made: MadeFrom, stores: StillStores) -> Set[str]:
    """Brokers of whose queues some were gone, or could not be read, when they were summed up: what is made of them now
    may lack the same, and is made again even if they come back as they were."""
    inputs = {broker.name: store_inputs(broker, stores.known[broker.name].known) for broker in stores.brokers}
    return set(made.changed(QUEUES.name, inputs))


def _told_by_the_clock(lake: Lake, table: str, made: Set[str]) -> Set[str]:
    """Those brokers of `made` whose rows of a table hold as of the hour of the run and are made again in another hour:
    rows that say when the cleaner deletes unread or waiting messages."""
    if table == RETENTION_RISK.name:
        return made
    if table == DELAYED_MESSAGES.name and made:
        return made & set(lake.query(WAITING)["broker"].to_pylist())
    return set()


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
    from pipelines.answers.derived.replica_rows import replica_rows

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
