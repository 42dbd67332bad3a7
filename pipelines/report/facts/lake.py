"""The facts of a lake: those of each broker, its verdict, and who owned which queue in the whole cluster."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.answers.verdicts import BrokerVerdict, forecasts_of, verdicts_of
from pipelines.lake.configuration.sources import Sources
from pipelines.lake.lake import Lake
from pipelines.lake.questions import question
from pipelines.lake.tables.ownership import OWNERSHIP_TABLES
from pipelines.report.facts.model import Facts, Row

TOPICS = """
SELECT broker, topic, count(*) AS messages, sum(total_size)::BIGINT AS bytes FROM commitlog_messages GROUP BY ALL
"""
QUEUES = "SELECT * FROM queues ORDER BY ALL"
EPISODES = "SELECT * FROM lag_episodes ORDER BY begin"
MADE = "SELECT broker, made FROM made_from"
FILES = "SELECT broker, file, kind, size, why FROM store_files WHERE gone_at IS NULL"


@dataclass(slots=True)
class BrokerFacts:
    """One broker of a lake: its verdict, and the facts of its store."""

    verdict: BrokerVerdict
    facts: Facts


@dataclass(slots=True)
class LakeFacts:
    """What the tables of a lake hold, broker by broker; `cluster` has the ownership of all of them, and how
    replicas among them differ."""

    source: str
    read_at_ms: int
    brokers: list[BrokerFacts] = field(default_factory=list)
    cluster: Facts | None = None


def facts_of_lake(lake: Lake, sources: Sources) -> LakeFacts:
    """The facts of every broker of the configuration. A table without rows of a broker was not filled for it, unless
    the ingest noted that it was made: that nothing was found is another answer."""
    now = int(time.time() * 1000)
    with lake.asked_often():
        tables = _Tables(lake)
        forecasts = forecasts_of(lake)
        told = LakeFacts(str(lake.root), now)
        said = {broker.name for broker in sources.brokers if broker.version is not None}
        for verdict in verdicts_of(lake, sources):
            facts = Facts(verdict.store, now)
            tables.tell(facts, verdict.broker)
            facts.forecast = forecasts.get(verdict.broker)
            facts.version = None if facts.forecast is None else _version(facts.forecast, verdict.broker in said)
            told.brokers.append(BrokerFacts(verdict, facts))
        told.cluster = Facts(told.source, now)
        if any(lake.rows(table.name) for table in OWNERSHIP_TABLES):  # logs or captures had facts
            told.cluster.intervals = tables.rows("SELECT * FROM ownership_intervals")
            told.cluster.anomalies = tables.rows("SELECT * FROM ownership_anomalies")
            told.cluster.ownership_notes = tables.rows("SELECT * FROM ownership_notes ORDER BY ALL")
        if lake.version("replica_differences") is not None:
            told.cluster.replicas = tables.rows("SELECT * FROM replica_differences ORDER BY ALL")
    return told


def _version(forecast: Mapping[str, Any], is_said: bool) -> str:
    """The versions that the forecast holds for, and whether they were taken from the files."""
    versions = ", ".join(forecast["holds_for"])
    return versions if is_said else f"{versions} (taken from the files)"


class _Tables:
    """Each table asked once for all brokers; their rows are then given out by broker."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        forecasts = self.rows("SELECT DISTINCT broker FROM recovery_forecast")
        looked = lake.version("consistency_findings") is not None
        self._compared = {row["broker"] for row in forecasts} if looked else set[str]()
        self._files = _by_broker(self.rows(FILES))
        self._made = {(row["made"], row["broker"]) for row in self.rows(MADE)}
        self._of: Mapping[str, Mapping[str, list[Row]] | None] = {
            "topics": self._split("commitlog_messages", TOPICS),
            "regions": self._split("commitlog_regions"),
            "queues": self._split("queues", QUEUES),
            "findings": _by_broker(self.rows("SELECT * FROM consistency_findings")),
            "lag": self._split("lag"),
            "retention_risk": self._split("retention_risk"),
            "ledger": self._split("loss_ledger"),
            "backlog": self._split("backlog"),
            "starts": self._split("group_starts"),
            "offset_events": self._looked_for("offset_events"),
            "lag_episodes": self._split("lag_episodes", EPISODES),
            "life_events": self._split("life_events"),
            "groups": self._split("group_lives"),
            "delays": self._looked_for("delayed_messages", question("delays_by_level")),
            "retries": self._looked_for("retry_chains", question("retries_by_group")),
            "transactions": self._looked_for("transactions", question("transactions_by_topic")),
            "pops": self._looked_for("popped_messages", question("pops_by_queue")),
            "traces": self._looked_for("trace_events", question("traces_by_group")),
        }

    def tell(self, facts: Facts, broker: str) -> None:
        """The rows of one broker; None where its store was never read, or has nothing to say of it."""
        facts.files = self._files.get(broker, [])
        facts.left_out = [f"{row['file']}: {row['why']}" for row in facts.files if row["why"] is not None]
        for name, rows in self._of.items():
            setattr(facts, name, None if rows is None else rows.get(broker))
        if facts.findings is None and broker in self._compared:
            facts.findings = []

    def filled(self, table: str, sql: str | None = None) -> list[Row] | None:
        """The rows of a table; None where it has none."""
        return self.rows(sql or f"SELECT * FROM {table}") if self._lake.rows(table) else None

    def rows(self, sql: str) -> list[Row]:
        found: Sequence[Row] = self._lake.query(sql).to_pylist()
        return list(found)

    def _looked_for(self, table: str, sql: str | None = None) -> Mapping[str, list[Row]]:
        """The rows of a table of what was looked for: a broker of which it was made, and that has no row, has none."""
        made = {broker: list[Row]() for name, broker in self._made if name == table}
        return made | dict(self._split(table, sql) or {})

    def _split(self, table: str, sql: str | None = None) -> Mapping[str, list[Row]] | None:
        rows = self.filled(table, sql)
        return None if rows is None else _by_broker(rows)


def _by_broker(rows: Sequence[Row]) -> dict[str, list[Row]]:
    split: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        split[row["broker"]].append(row)
    return dict(split)
