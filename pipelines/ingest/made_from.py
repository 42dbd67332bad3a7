"""What the tables that are made broker by broker were last made from, so that only what has changed is made again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from parsers.evidence.seen import files_below, seen
from pipelines.ingest.ingested import Ingested
from pipelines.installed.version import installed_version
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ingest_notes import MADE_FROM
from pipelines.lake.tables.ownership import OWNERSHIP_INTERVALS, OWNERSHIP_TABLES
from pipelines.lake.tables.raw import QUEUES, SNAPSHOT_TABLES, TABLES

WITH: Mapping[str, str] = {
    **dict.fromkeys((table.name for table in SNAPSHOT_TABLES), QUEUES.name),
    **dict.fromkeys((table.name for table in OWNERSHIP_TABLES), OWNERSHIP_INTERVALS.name),
}
"""Tables that are made in one go with another one, whose name stands for them."""
ALL_BROKERS = ""
"""In place of a broker's name where a table is made from all of them."""


@dataclass(slots=True)
class MadeFrom:
    """By (broker, table): a text that is another one when anything has changed that the rows were made from."""

    lake: Lake
    inputs: dict[tuple[str, str], str] = field(default_factory=dict)
    _is_saved: bool = True
    _columns: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, lake: Lake) -> MadeFrom:
        """What the lake says of tables that are there."""
        rows = lake.query("SELECT * FROM made_from").to_pylist()
        made = cls(lake, {(row["broker"], row["made"]): row["inputs"] for row in rows})
        made.forget(table for table in TABLES if not lake.has(table))
        made._is_saved = True  # who finds a table gone need not keep that: the next one finds it, too
        return made

    def forget(self, tables: Iterable[str]) -> None:
        """Let tables be made again, with all that is made in one go with them."""
        lost = {WITH.get(table, table) for table in tables}
        self.inputs = {key: inputs for key, inputs in self.inputs.items() if key[1] not in lost}
        self._is_saved = False

    def changed(self, table: str, now: Mapping[str, str]) -> list[str]:
        """The brokers whose inputs, by broker, are not those that the table was made from, or was made from with other
        columns than it has now."""
        columns = self._columns_of(table)
        return [broker for broker, inputs in now.items() if self.inputs.get((broker, table)) != columns + inputs]

    def has_other_columns(self, table: str, broker: str) -> bool:
        """Whether the rows of a broker were made with other columns than the table has now."""
        inputs = self.inputs.get((broker, table))
        return inputs is not None and not inputs.startswith(self._columns_of(table))

    def note(self, table: str, now: Mapping[str, str]) -> None:
        """Note that a table was made from these inputs, by broker; `save` keeps it."""
        columns = self._columns_of(table)
        fresh = {(broker, table): columns + inputs for broker, inputs in now.items()}
        if not fresh.items() <= self.inputs.items():
            self.inputs |= fresh
            self._is_saved = False

    def _columns_of(self, table: str) -> str:
        """Told once for each table: an ingest asks for each broker."""
        if table not in self._columns:
            self._columns[table] = _columns_of(table)
        return self._columns[table]

    def save(self) -> None:
        """Keep in the lake what was noted and forgotten since it was kept last. Where a process ends before that, the
        tables are made again."""
        if self._is_saved:
            return
        made_at = datetime.now(UTC)
        rows = [
            {"broker": broker, "made": made, "inputs": inputs, "made_at": made_at}
            for (broker, made), inputs in sorted(self.inputs.items())
        ]
        self.lake.write(MADE_FROM.name, pa.Table.from_pylist(rows, schema=MADE_FROM.bare_schema))
        self._is_saved = True


def store_inputs(broker: BrokerSource, files: Mapping[str, Ingested]) -> str:
    """The inputs of what is made from one broker's store: its files as they were read, and what is said of it."""
    conf = _bytes_of(broker.broker_conf)
    said = (broker.name, broker.place, broker.version, sorted(broker.settings.items()), conf, broker.until)
    return _hashed((said, sorted((name, repr(known.state)) for name, known in files.items())))


def broker_inputs(broker: BrokerSource, files: Mapping[str, Ingested]) -> str:
    """The inputs of what is made from one broker's store and its logs."""
    return _hashed((store_inputs(broker, files), evidence_inputs(logs_of(broker))))


def logs_of(broker: BrokerSource) -> list[Path]:
    """The files below the folder of a broker's logs, sorted; none where no folder is said."""
    return [] if broker.logs is None else files_below(broker.logs)


def evidence_inputs(places: Iterable[Path]) -> str:
    """The inputs of what is made from logs and captures: names, sizes, times and inodes of the files that are there."""
    there = ((str(path), at) for path, at in seen(places).items() if at is not None)
    return _hashed(sorted((name, at.size, at.modified_ns, at.inode) for name, at in there))


def all_inputs(brokers: Mapping[str, str], *further: object) -> str:
    """The inputs of what is made from several brokers together, from those of each."""
    return _hashed((sorted(brokers.items()), further))


def _columns_of(table: str) -> str:
    """A hash over the columns of a table, and of those made in one go with it, as the head of its inputs."""
    together = (other for other in TABLES.values() if WITH.get(other.name, other.name) == table)
    return f"{_digest([(other.name, other.columns_hash) for other in together])} "


def _bytes_of(path: Path | None) -> bytes | None:
    try:
        return None if path is None else path.read_bytes()
    except OSError:
        return None


def _hashed(inputs: object) -> str:
    return _digest((installed_version(), inputs))


def _digest(told: object) -> str:
    return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:32]
