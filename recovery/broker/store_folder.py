"""What a broker would find in a store folder when it is started: names, sizes, markers; nothing decided yet.

A repair is this listing with something replaced (`dataclasses.replace`): the folder itself is only ever read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from parsers.checkpoints.epochs import EPOCH_FILE, EpochsRead, load_epochs
from parsers.damage.errors import StoreFormatError, UnsupportedVersion
from parsers.evidence.mapped import map_extended, read_at
from parsers.rocksdb.database import Database
from parsers.rocksdb.message_records import read_notes
from parsers.rocksdb.queue_table import QueueLimits, QueueTable, Units
from parsers.store.places import BACKUP, DATA_FOLDER, DLEDGER_FOLDER, MESSAGE_DATABASE, QUEUE_DATABASES
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, utf16_units
from recovery.broker.abort_file import AbortFile, read_abort_file
from recovery.rules.dispatch import InvalidForDispatch, parse_number
from recovery.rules.settings import StoreSettings
from recovery.rules.store_paths import epoch_file, log_folders

QueueKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder of files: what `File#length`, `#isDirectory` and `#lastModified` say of it."""

    name: str
    path: Path
    size: int
    is_folder: bool
    modified_ms: int

    @property
    def number(self) -> int | None:
        """What `Long.parseLong` makes of the name; None where it throws."""
        try:
            return parse_number(self.name, LONG_MIN, LONG_MAX)
        except InvalidForDispatch:
            return None

    def bytes(self) -> memoryview:
        """The file, mapped, with zeros up to `size` where a repair's listing has it longer than it is.

        Empty when it cannot be opened any more."""
        try:
            return map_extended(self.path, self.size)
        except (OSError, StoreFormatError):
            return memoryview(b"")


@dataclass(frozen=True, slots=True)
class CompactedFiles:
    """The files of one folder compactionLog/<topic>/<queue>, and of compactionCq's of the same name.

    `queue_id`: None where the folder's name is no number; `units`: None where compactionCq/ has no such folder.
    """

    topic: str
    folder: str
    queue_id: int | None
    log: tuple[Entry, ...]
    units: tuple[Entry, ...] | None


@dataclass(frozen=True, slots=True)
class DatabaseFolder:
    """The database of queues in consumequeue/, opened once for all starts that are played.

    Attributes:
        table: None where there is no database yet, or where it is refused.
        refused: why RocksDB does not open it; None where it does.
        unreadable: what of an opened one cannot be read; it grows while it is read.
    """

    table: QueueTable | None
    refused: str | None = None
    unreadable: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, folder: Path) -> Self:
        """The database that a broker would open in this folder; without CURRENT it makes a new one.

        Raises UnsupportedVersion where RocksDB itself is not installed.
        """
        unreadable: list[str] = []
        if not (folder / "CURRENT").is_file():
            logs = sorted(path.name for path in folder.glob("*.log"))
            return cls(None, f"there is no CURRENT, and {logs[0]} of a former database is there" if logs else None)
        try:
            database = Database(folder)
            table = QueueTable(database, lambda error: unreadable.append(str(error)))
        except UnsupportedVersion:
            raise
        except StoreFormatError as error:
            return cls(None, str(error))
        return cls(table, None if database.refused is None else str(database.refused), unreadable)

    @property
    def limits(self) -> Mapping[QueueKey, QueueLimits]:
        """What the database notes of each queue."""
        return {} if self.table is None else self.table.limits

    def units(self, key: QueueKey) -> Iterator[Units]:
        """The units of a queue up to its last message; none of a queue that is not noted."""
        if self.table is not None and key in self.table.limits:
            noted = self.table.limits[key]
            yield from self.table.units(noted, 0, noted.last_queue_offset)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A store folder as `load()` meets it. Lists are in the order in which the broker sorts them.

    Attributes:
        abort: `abort` is there, whatever it is; `abort_file` says what.
        queues: files of every `consumequeue/<topic>/<int>`; empty lists are folders without files.
        ext_queues: files of every `consumequeue_ext/<topic>/<int>`.
        checkpoint: its bytes, None when there is none.
        checkpoint_opens: False where something is in its place that is no file.
        index_obstructed: something stands in the place of the folder `index/`, so that no file can be made in it.
        config: what lies in config/, by name; None where there is no such folder.
        dledger, dledger_index: files of a DLedger node's log, and of the index of its entries.
        dledger_checkpoint: what the node notes of its log, None without such a file.
        compacted: the copies of compacted topics.
        other: folders that hold something this room does not replay, with the reason.
        batch_queues: files of every `batchconsumequeue/<topic>/<int>`; no other topic's queues are of that type.
        obstructed_topics: topics in whose queues something stands where a file or folder would have to be made.
        database: the database of the broker's queues, where it keeps them in one.
        second_database: the one that it writes beside the files of its queues.
        database_elsewhere: the other folder that may be a database of queues, where it is one and the broker opens one.
        message_notes: how far rocksdbstore is (`read_notes`), where the broker goes by it; None where that cannot be
            read.
        epochs: what a broker in controller mode makes of its epoch files.
        timer_wheel_size: bytes of the file timerwheel, None without one.
        timer_log: what lies in timerlog/.
    """

    root: Path
    abort: bool
    checkpoint: bytes | None
    commitlog: tuple[Entry, ...]
    queues: Mapping[QueueKey, tuple[Entry, ...]]
    index: tuple[Entry, ...]
    ext_queues: Mapping[QueueKey, tuple[Entry, ...]] = field(default_factory=dict)
    dledger: tuple[Entry, ...] = ()
    dledger_index: tuple[Entry, ...] = ()
    dledger_checkpoint: bytes | None = None
    config: Mapping[str, Entry] | None = None
    compacted: tuple[CompactedFiles, ...] = ()
    other: Mapping[str, str] = field(default_factory=dict)
    batch_queues: Mapping[QueueKey, tuple[Entry, ...]] = field(default_factory=dict)
    checkpoint_opens: bool = True
    index_obstructed: bool = False
    abort_file: AbortFile = field(default_factory=AbortFile)
    obstructed_topics: frozenset[str] = frozenset()
    database: DatabaseFolder | None = None
    second_database: DatabaseFolder | None = None
    database_elsewhere: str | None = None
    message_notes: Mapping[tuple[str, bytes], int] | None = field(default_factory=dict)
    epochs: EpochsRead = field(default_factory=EpochsRead)
    timer_wheel_size: int | None = None
    timer_log: tuple[Entry, ...] = ()

    @property
    def batch_topics(self) -> frozenset[str]:
        return frozenset(topic for topic, _ in self.batch_queues)

    @property
    def log_is_dledgers(self) -> bool:
        """The broker's log is that of a DLedger node."""
        return bool(self.dledger)

    def can_make_file(self, topic: str, queue_id: int, name: str) -> bool:
        """Whether a queue's file can be made: no folder has its name, and no file stands where its folders go."""
        place = self.root / "consumequeue" / topic / str(queue_id) / name
        return not place.is_dir() and all(part.is_dir() or not part.exists() for part in list(place.parents)[:2])


NOT_REPLAYED = {"timerlog": "the timer wheel is recovered after the store, from its own log"}


def read_evidence(root: Path, settings: StoreSettings) -> Evidence:
    """List the folder. Reads names, sizes and times, and `checkpoint` and epochs; opens a database of queues."""
    folders, folder = log_folders(root, settings), settings.queue_database_folder
    opened = DatabaseFolder.opened(root / folder) if settings.opens_queue_database else None
    topics = _entries(root / "consumequeue")
    node = _dledger_node(root)
    return Evidence(
        root=root,
        abort=(root / "abort").exists(),
        checkpoint=_read_small(root / "checkpoint"),
        commitlog=_log_files(folders.commitlog),
        queues=_queues(topics),
        ext_queues=_queues(_entries(root / "consumequeue_ext")),
        index=tuple(_in_java_order(_entries(root / "index"))),
        dledger=_log_files(folders.dledger or ([node / DATA_FOLDER] if node else [])),
        dledger_index=tuple(_in_java_order(_entries(node / "index"))) if node else (),
        dledger_checkpoint=_read_small(node / "checkpoint") if node else None,
        config=config_entries(root),
        compacted=tuple(_compacted(root / "compaction")),
        other={name: why for name, why in NOT_REPLAYED.items() if _holds_files(root / name)}
        | {path.name: "another DLedger node's log" for path in root.glob(f"{DLEDGER_FOLDER}*") if path != node},
        batch_queues=_queues(_entries(root / "batchconsumequeue")),
        checkpoint_opens=not (root / "checkpoint").is_dir(),
        index_obstructed=(root / "index").exists() and not (root / "index").is_dir(),
        abort_file=read_abort_file(root),
        obstructed_topics=frozenset(topic.name for topic in topics if _is_obstructed(topic)),
        database=opened if settings.uses_rocksdb_queues else None,
        second_database=None if settings.uses_rocksdb_queues else opened,
        database_elsewhere=_database_elsewhere(root, folder) if settings.opens_queue_database else None,
        message_notes=_message_notes(root / MESSAGE_DATABASE) if settings.goes_by_message_database else {},
        epochs=_epochs(epoch_file(root, settings) or root / EPOCH_FILE.title),
        timer_wheel_size=wheel.stat().st_size if (wheel := root / "timerwheel").is_file() else None,
        timer_log=tuple(_in_java_order(_entries(root / "timerlog"))),
    )


def _database_elsewhere(root: Path, folder: str) -> str | None:
    return next((name for name in QUEUE_DATABASES if name != folder and (root / name / "CURRENT").is_file()), None)


def _message_notes(folder: Path) -> Mapping[tuple[str, bytes], int] | None:
    """Raises UnsupportedVersion where RocksDB itself is not installed."""
    if not (folder / "CURRENT").is_file():
        return {}
    try:
        return read_notes(StoreFile(folder, "rocksdb", 0, 0))
    except UnsupportedVersion:
        raise
    except StoreFormatError:
        return None


def _epochs(file: Path) -> EpochsRead:
    paths = (file, file.with_name(f"{file.name}{BACKUP}"))
    return load_epochs(StoreFile(path, "epochs", 0, 0) for path in paths if path.is_file())


def config_entries(root: Path) -> dict[str, Entry] | None:
    """What lies in config/ of a store root, by name; None where there is no such folder."""
    folder = root / "config"
    return {entry.name: entry for entry in _entries(folder)} if folder.is_dir() else None


def _log_files(folders: Iterable[Path]) -> tuple[Entry, ...]:
    """MultiPathMappedFileQueue#load: the files of all folders together, sorted by name only."""
    return tuple(_in_java_order(entry for folder in sorted(folders) for entry in _entries(folder)))


def _dledger_node(root: Path) -> Path | None:
    """The folder of a DLedger node; of several the one whose log was written last."""
    nodes = [path for path in root.glob(f"{DLEDGER_FOLDER}*") if path.is_dir()]
    return max(nodes, key=lambda node: (_written_ms(node / DATA_FOLDER), node), default=None)


def _written_ms(folder: Path) -> int:
    return max((entry.modified_ms for entry in _entries(folder)), default=-1)


def _queues(topics: Iterable[Entry]) -> dict[QueueKey, tuple[Entry, ...]]:
    """ConsumeQueueStore#loadConsumeQueues: folders whose name is no int are passed over."""
    found: dict[QueueKey, tuple[Entry, ...]] = {}
    for topic in topics:
        for queue in _entries(topic.path):
            try:
                queue_id = parse_number(queue.name, INT_MIN, INT_MAX)
            except InvalidForDispatch:
                continue
            found[topic.name, queue_id] = tuple(_in_java_order(_entries(topic.path / str(queue_id))))
    return found


def _compacted(folder: Path) -> Iterator[CompactedFiles]:
    """CompactionStore#load: every folder of compactionLog/<topic>/; one that is named 007 stands for that of 7."""
    logs, queues = folder / "compactionLog", folder / "compactionCq"
    for topic in (entry for entry in _entries(logs) if entry.is_folder):
        for queue in (entry for entry in _entries(topic.path) if entry.is_folder):
            try:
                queue_id = parse_number(queue.name, INT_MIN, INT_MAX)
            except InvalidForDispatch:
                yield CompactedFiles(topic.name, queue.name, None, (), None)
                continue
            name = str(queue_id)
            units = queues / topic.name / name
            yield CompactedFiles(
                topic.name,
                name,
                queue_id,
                tuple(_in_java_order(_entries(topic.path / name))),
                tuple(_in_java_order(_entries(units))) if units.is_dir() else None,
            )


def _is_obstructed(topic: Entry) -> bool:
    queues = _entries(topic.path)
    files = (entry for queue in queues for entry in _entries(queue.path))
    return not (topic.is_folder and all(q.is_folder for q in queues)) or any(entry.is_folder for entry in files)


def _in_java_order(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: utf16_units(entry.name))


def _entries(folder: Path) -> list[Entry]:
    """`File#listFiles`: nothing for what is no folder or cannot be read."""
    try:
        with os.scandir(folder) as listing:
            return [_entry(found) for found in listing]
    except OSError:
        return []


def _holds_files(folder: Path) -> bool:
    return any(_holds_files(entry.path) if entry.is_folder else entry.size for entry in _entries(folder))


def _entry(found: os.DirEntry[str]) -> Entry:
    try:
        seen = found.stat()
        return Entry(found.name, Path(found.path), seen.st_size, found.is_dir(), seen.st_mtime_ns // 1_000_000)
    except OSError:  # a dangling link: Java's File says length 0 and no folder
        return Entry(found.name, Path(found.path), 0, False, 0)


def _read_small(path: Path) -> bytes | None:
    try:
        return read_at(path, 0, 1 << 20)
    except OSError:
        return None
