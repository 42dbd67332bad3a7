"""A lake with faults put right: what is not whole is taken out, read from the stores again, and what is lost is named.

All that an ingest needs is there before anything is taken out, and so is the note that it has to be read: a repair that
is killed in between loses nothing that a store holds.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from parsers.evidence.mapped import open_evidence
from parsers.evidence.supplied import supply_of
from parsers.store.file_state import FileState, state_of
from parsers.store.places import name_below
from parsers.store.store import NotAStore
from parsers.store.store_file import StoreFile
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom
from pipelines.ingest.read_again import gives_all_again
from pipelines.lake.catalog import publish
from pipelines.lake.check import Fault, drop
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import Sources
from pipelines.lake.delta.errors import LogUnreadable
from pipelines.lake.delta.parts import Part
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ingest_notes import INGESTED_FILES, MADE_FROM
from pipelines.lake.tables.raw import FILE_TABLES, SNAPSHOT_TABLES, STORE_FILES

FROM_FILES = frozenset(table.name for table in FILE_TABLES)
SNAPSHOTS = frozenset(table.name for table in SNAPSHOT_TABLES)
GONE_WITHOUT_ROWS = """
SELECT count(*) AS files FROM store_files
WHERE broker = $broker AND gone_at IS NOT NULL AND NOT list_contains($files, file)
  AND kind IN (SELECT kind FROM store_files WHERE broker = $broker AND list_contains($files, file))
"""
"""Files that the store no longer holds, and a table has no rows of, although it has rows of others of their kind."""
NOT_AGAIN = "the store's file no longer gives every other row of it again, so it was not read"

Told = Callable[[str], None]
Values = tuple[str, ...]
"""The partition values of a part."""


def require_logs(lake: Lake, found: Sequence[Fault]) -> None:
    """Raise LogUnreadable where a fault is that a table itself cannot be read: no repair knows its parts."""
    if unknown := [fault for fault in found if fault.partition is None]:
        folders = ", ".join(str(lake.table_root(fault.table)) for fault in unknown)
        raise LogUnreadable(
            f"{folders}: {unknown[0].what}; nothing was repaired: move each such folder to another place and keep it, "
            "then `rocketlens ingest` makes the table from what the stores hold now"
        )


def repair(
    lake: Lake, sources: Sources, found: Sequence[Fault], ingest: Callable[[], object], note: Told, lost: Told
) -> None:
    """Take out what is not whole, ingest, and name what is lost and what is left.

    Args:
        found: the faults of the lake, none of which is of a table that cannot be read (`require_logs`).
        ingest: brings the lake up to date with every store.
        note: called with what was done, and what was left.
        lost: called with each loss, and what may be one.
    """
    held = _files_held(sources)
    proven = _proven(lake, sources, found, set(held))
    taken = _TakenOut(lake, sources, set(held), proven, {(f.table, f.partition) for f in found if f.part is None})
    kept_books = [fault for fault in found if fault.table in (INGESTED_FILES.name, MADE_FROM.name)]
    others = [fault for fault in found if fault not in kept_books]
    left: list[Fault] = []
    try:
        drop(lake, kept_books, lambda table, values: False)
        _forget(lake, sources, found, held, proven)
        left = drop(
            lake,
            others,
            lambda table, values: (table, values) in proven,
            lambda table, parts: taken.tell(table, parts, note, lost),
        )
        ingest()
    finally:
        try:
            taken.tell_what_did_not_come_back(lost)
        finally:
            publish(lake)
    for fault in left:
        if fault.partition is not None:
            why = NOT_AGAIN if fault.partition in held else "the store has no such file"
            note(f"{_named(fault.table, fault.partition)}: {fault.what}, left: {why}")


def _proven(lake: Lake, sources: Sources, found: Sequence[Fault], held: Collection[Values]) -> set[tuple[str, Values]]:
    """(table, partition) of what has faults and can go whole: a store's file gives every row again that is left."""
    faulty = {fault.part for fault in found if fault.part is not None}
    asked = {(f.table, f.partition) for f in found if f.table in FROM_FILES and f.partition and f.partition in held}
    return {(table, of) for table, of in asked if gives_all_again(lake, sources.broker(of[0]), table, of[1], faulty)}


def _forget(
    lake: Lake,
    sources: Sources,
    found: Sequence[Fault],
    held: Mapping[Values, StoreFile],
    proven: Collection[tuple[str, Values]],
) -> None:
    """Let the next ingest read and make again what has faults.

    A file that is not proven to give its rows again counts as read as it is now: were it read again, rows would go that
    may be nowhere else.
    """
    of_files = [(fault.table, fault.partition) for fault in found if fault.table in FROM_FILES and fault.partition]
    for broker in sources.brokers:
        known = IngestedFiles.load(lake, broker.name)
        of_broker = [(table, partition) for table, partition in of_files if partition[0] == broker.name]
        for table, partition in of_broker:
            if partition in held and (table, partition) not in proven:
                known.look(partition[1], held[partition])
                known.note(table, [partition[1]])
        asked = [(table, of[1:]) for table, of in of_broker if of not in held or (table, of) in proven]
        known.forget([(table, name) for table, file in asked for name in file or known.known])
        known.save()
    made = MadeFrom.load(lake)
    made.forget(fault.table for fault in found)
    made.save()


def _files_held(sources: Sources) -> dict[Values, StoreFile]:
    """By (broker, name), the files that the stores of the configuration hold and that open; none of a store that is not
    there."""
    held: dict[Values, StoreFile] = {}
    for broker in sources.brokers:
        with suppress(NotAStore):
            store = store_of(broker)
            files = (file for file in store.files() if _can_be_read(file))
            held |= {(broker.name, name_below(store.root, file.path)): file for file in files}
    return held


def _can_be_read(file: StoreFile) -> bool:
    """Whether a file opens, and gives its first and last byte; of a database, whether its folder can be listed; of a
    file elsewhere, whether it was listed."""
    if file.kind == "rocksdb" or supply_of(file.path) is not None:
        return state_of(file) is not None
    try:
        with open_evidence(file.path) as opened:
            size = opened.seek(0, os.SEEK_END)
            for position in {0, size - 1} if size else ():
                opened.seek(position)
                if not opened.read(1):
                    return False
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Awaited:
    """Rows that have to come back to a partition, and the rows, by (broker, file), that stayed in it."""

    rows: int
    stayed: Counter[Values]


@dataclass(frozen=True, slots=True)
class _TakenOut:
    """What a repair took out of the tables that are read from stores, and what of it came back.

    Attributes:
        held: (broker, file) of the files that the stores hold.
        proven: (table, partition) that goes whole, because a store's file gives all of it again.
        doubled: (table, partition) with messages that are there twice, of which fewer come back.
        before: by broker, the files as the lake knew them before the ingest; empty where it had lost count of them.
    """

    lake: Lake
    sources: Sources
    held: set[Values]
    proven: set[tuple[str, Values]]
    doubled: set[tuple[str, Values | None]]
    awaited: dict[tuple[str, Values], _Awaited] = field(default_factory=dict)
    before: dict[str, Mapping[str, FileState]] = field(default_factory=dict)

    def tell(self, table: str, parts: Sequence[Part], note: Told, lost: Told) -> None:
        """Name what was just taken out of a table, and whether a store still holds it."""
        if table not in FROM_FILES | SNAPSHOTS:
            return  # made again from other tables
        again, gone = Counter[Values](), Counter[Values]()
        for part in parts:
            (again if self._comes_back(table, part) else gone)[part.partition] += part.rows
        for values, rows in sorted(gone.items()):
            is_there = table in FROM_FILES and values in self.held
            why = NOT_AGAIN if is_there else "no store holds them any more or lets them be read"
            lost(f"{_named(table, values)}: {rows} rows were taken out, and {why}")
        for values, rows in sorted(again.items()):
            if values[0] not in self.before:
                self.before[values[0]] = self._states(values[0])
            self.awaited[table, values] = _Awaited(rows, self._rows(table, values))
            note(f"{_named(table, values)}: {rows} rows were taken out; what the store holds is read again")

    def tell_what_did_not_come_back(self, lost: Told) -> None:
        """After an ingest, or what there was of it."""
        for (table, values), awaited in self.awaited.items():
            if told := self._missing(table, values, awaited):
                lost(f"{_named(table, values)}: {awaited.rows} rows were taken out, {told}")

    def _missing(self, table: str, values: Values, awaited: _Awaited) -> str | None:
        """What is known not to have come back, or is not known to have; None where all has."""
        back = {key: max(0, n - awaited.stayed[key]) for key, n in self._rows(table, values).items()}
        least = min(awaited.rows, 1) if (table, values) in self.doubled else awaited.rows
        total, same = sum(back.values()), self._unchanged(values[0])
        if total < least:
            return f"{total} were read again"
        sure = sum(count for key, count in back.items() if key[-1] in same)
        if len(values) > 1 or sure >= least or not self._had_other_files(table, values[0]):
            return None
        return (
            f"{sure} were read again from files that have not changed since, {total - sure} from files that have: "
            "whether rows of files that the store no longer holds are lost is not known"
        )

    def _comes_back(self, table: str, part: Part) -> bool:
        if len(part.partition) == 1:  # files packed into common parts: what the part held shows when they are read
            return any(values[0] == part.partition[0] for values in self.held)
        broker, file = part.partition
        if table not in SNAPSHOTS:
            return (table, part.partition) in self.proven
        if (broker, file) not in self.held:
            return False
        with suppress(OSError):  # a state that the broker has since written over is nowhere else
            return (self.sources.broker(broker).store / file).stat().st_mtime_ns <= part.written_ms * 1_000_000
        return False

    def _rows(self, table: str, values: Values) -> Counter[Values]:
        """Rows of each file in a partition, without files that the lake had not known before."""
        if len(values) > 1:
            return Counter({values: self.lake.partition_rows(table)[values]})
        known = self.before[values[0]]
        rows = self.lake.file_rows(table)
        return Counter({key: n for key, n in rows.items() if key[0] == values[0] and (not known or key[1] in known)})

    def _states(self, broker: str) -> Mapping[str, FileState]:
        """The files as they were read, whatever their times and inodes."""
        known = IngestedFiles.load(self.lake, broker).known
        return {name: replace(file.state, modified_ns=0, inode=0) for name, file in known.items()}

    def _unchanged(self, broker: str) -> set[str]:
        """Files that are as they were when the rows that were taken out had been read from them."""
        now, before = self._states(broker), self.before[broker]
        return {name for name, state in now.items() if before.get(name) == state}

    def _had_other_files(self, table: str, broker: str) -> bool:
        """Whether the rows may have been of files that the store no longer holds."""
        if not self.before[broker]:
            return True  # rows of files that are new may stand for those of others
        if table == STORE_FILES.name:
            return False  # one row for each file: none can stand for another
        files = [file for name, file in self.lake.file_rows(table) if name == broker]
        (gone,) = self.lake.query_broker(GONE_WITHOUT_ROWS, broker, files=files)["files"].to_pylist()
        return gone > 0 or any((broker, name) not in self.held for name in self.before[broker])


def _named(table: str, partition: Values) -> str:
    return f"{table} of {' '.join(partition)}"
