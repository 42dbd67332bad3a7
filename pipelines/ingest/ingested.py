"""Which files of a broker's store have changed since the lake took their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from parsers.store.file_state import FileState, state_of
from parsers.store.places import name_below
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ingest_notes import INGESTED_FILES
from pipelines.lake.tables.raw import TABLES

STATE = tuple(field.name for field in fields(FileState))
KNOWN = "SELECT * FROM ingested_files WHERE broker = $broker"


@dataclass(frozen=True, slots=True)
class Ingested:
    """A file as it was when rows were read from it, and the tables that have these rows.

    Attributes:
        tables: those with all its rows.
        begun: those with any, also of the file as it was before.
    """

    state: FileState
    read_at: datetime
    tables: frozenset[str]
    begun: frozenset[str]


@dataclass(slots=True)
class IngestedFiles:
    """The files of one broker by their names below its root. A file is looked at once, before any of it is read.

    Rows that were read into a table with other columns than it has now count as none: they are read again.
    What is noted is kept by `save`. Where a process ends before that, the files are read again and their rows
    replaced.
    """

    lake: Lake
    broker: str
    known: dict[str, Ingested]
    seen: dict[str, FileState | None] = field(default_factory=dict)
    _is_saved: bool = True

    @classmethod
    def load(cls, lake: Lake, broker: str) -> IngestedFiles:
        """What the lake holds of a broker's files."""
        known = {file: ingested for _, file, ingested in _kept(lake, lake.query_broker(KNOWN, broker))}
        return cls(lake, broker, known)

    @classmethod
    def load_all(cls, lake: Lake, brokers: Iterable[str]) -> dict[str, IngestedFiles]:
        """What the lake holds of the files of several brokers, read once."""
        found: dict[str, IngestedFiles] = {name: cls(lake, name, {}) for name in brokers}
        if found:
            for broker, file, ingested in _kept(lake, lake.query("SELECT * FROM ingested_files")):
                if broker in found:
                    found[broker].known[file] = ingested
        return found

    def keep_only(self, present: Collection[str]) -> None:
        """Forget files that the store no longer holds."""
        if gone := self.known.keys() - set(present):
            for name in gone:
                del self.known[name]
            self._is_saved = False

    def stale(self, table: str, store: Store, files: Iterable[StoreFile]) -> list[str]:
        """The files whose rows in a table are not those of the file as it is now."""
        named = ((name_below(store.root, file.path), file) for file in files)
        return [name for name, file in named if not self._is_fresh(table, name, file)]

    def _is_fresh(self, table: str, name: str, file: StoreFile) -> bool:
        known = self.known.get(name)
        if known is None or table not in known.tables:
            self.look(name, file)
            return False
        if name not in self.seen:
            self.seen[name] = known.state if known.state.still_holds(file) else state_of(file)
        return self.seen[name] == known.state

    def look(self, name: str, file: StoreFile) -> None:
        """Take the state of a file that is going to be read."""
        if name not in self.seen:
            self.seen[name] = state_of(file)

    def begun(self, table: str, names: Iterable[str]) -> list[str]:
        """Of these files those that a table has rows of, whatever has become of the files since."""
        return [name for name in names if name in self.known and table in self.known[name].begun]

    def note(self, table: str, names: Collection[str], cut: Collection[str] = ()) -> None:
        """Note that a table has the rows of these files as they were looked at; of those that are `cut` not all."""
        now = datetime.now(UTC)
        for name in names:
            state, known = self.seen.get(name), self.known.get(name)
            if state is not None:
                tables = known.tables if known is not None and known.state == state else frozenset()
                begun = known.begun if known is not None else frozenset()
                tables = tables - {table} if name in cut else tables | {table}
                self.known[name] = Ingested(state, now, tables, begun | {table})
                self._is_saved = False

    def forget(self, read: Iterable[tuple[str, str]]) -> None:
        """Let files be read again into tables: pairs of a table and a file."""
        for table, name in read:
            if (known := self.known.get(name)) is not None:
                without = known.tables - {table}, known.begun - {table}
                self.known[name] = Ingested(known.state, known.read_at, *without)
                self._is_saved = False

    def save(self) -> None:
        """Keep in the lake what was noted and forgotten since it was kept last."""
        if self._is_saved:
            return
        rows = [ingested_row(self.broker, name, known) for name, known in sorted(self.known.items())]
        table = pa.Table.from_pylist(rows, schema=INGESTED_FILES.bare_schema)
        self.lake.write(INGESTED_FILES.name, table, replaced=[(self.broker,)])
        self._is_saved = True


def _kept(lake: Lake, rows: pa.Table) -> Iterator[tuple[str, str, Ingested]]:
    """(broker, file, what is kept of it) for rows of the table. A table that is not there has the rows of no file."""
    there = {made_with(name): name for name in TABLES if lake.has(name)}
    of_kinds: dict[tuple[str, ...], tuple[frozenset[str], frozenset[str]]] = {}  # many files, of few kinds
    states = zip(*(rows[name].to_pylist() for name in STATE), strict=True)
    others = (rows[name].to_pylist() for name in ("broker", "file", "read_at", "tables", "made_with"))
    for broker, file, read_at, names, made, state in zip(*others, states, strict=True):
        if (kind := of_kinds.get(key := (*names, "", *(made or ())))) is None:
            begun = frozenset(there[each] for each in made or () if each in there)
            kind = of_kinds[key] = begun.intersection(names), begun
        yield broker, file, Ingested(FileState(*state), read_at, *kind)


def made_with(table: str) -> str:
    """A table's name with a hash over its columns: rows made with other columns lack what is new."""
    return f"{table} {TABLES[table].columns_hash}"


def ingested_row(broker: str, name: str, known: Ingested) -> dict[str, Any]:
    """What the table keeps of a file."""
    return {
        "broker": broker,
        "file": name,
        **asdict(known.state),
        "read_at": known.read_at,
        "tables": sorted(known.tables),
        "made_with": sorted(map(made_with, known.begun)),
    }
