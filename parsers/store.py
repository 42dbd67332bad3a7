"""A store folder: which file is what, in offset order, with gaps named and nothing skipped in silence.

Source: StorePathConfigHelper, MappedFileQueue#doLoad, ConsumeQueueStore#load @5.3.3.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from parsers.errors import CorruptRecord, StoreFormatError, TruncatedRecord, UnreadableFile

FileKind = Literal[
    "commitlog",
    "consumequeue",
    "batchconsumequeue",
    "consumequeue_ext",
    "index",
    "checkpoint",
    "config",
    "timerlog",
    "timerwheel",
    "timercheck",
    "abort",
    "lock",
    "not_understood",
]
QueueKey = tuple[str, int]

SINGLE_FILES: dict[str, FileKind] = {
    "checkpoint": "checkpoint",
    "abort": "abort",
    "abort.bak": "abort",
    "lock": "lock",
    "timerwheel": "timerwheel",
}
QUEUE_FOLDERS: dict[str, FileKind] = {
    "consumequeue": "consumequeue",
    "batchconsumequeue": "batchconsumequeue",
    "consumequeue_ext": "consumequeue_ext",
}


FOLDERS_DEEP = 4  # consumequeue/<topic>/<queue id>/<number>


class NotAStore(Exception):
    """The path cannot be read as a store root: missing, not a folder, no permission, or nothing of a store in it."""


@dataclass(frozen=True, slots=True)
class StoreFile:
    """One file of a store, as seen when the folder was listed.

    `base_offset` is the number in the name: the byte offset of the file's first byte in its log or queue (commitlog,
    consumequeue, timerlog), the creation time for index files, None for others. `why` says why it is not understood.
    """

    path: Path
    kind: FileKind
    size: int
    mtime_ns: int
    base_offset: int | None = None
    topic: str | None = None
    queue_id: int | None = None
    why: str | None = None


@dataclass(slots=True)
class Store:
    """A store root and its files. Lists are in offset order; `queues` has one entry per (topic, queue_id)."""

    root: Path
    commitlog: list[StoreFile] = field(default_factory=list)
    queues: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    batch_queues: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    index: list[StoreFile] = field(default_factory=list)
    checkpoint: StoreFile | None = None
    config: list[StoreFile] = field(default_factory=list)
    timer: list[StoreFile] = field(default_factory=list)
    markers: list[StoreFile] = field(default_factory=list)
    not_understood: list[StoreFile] = field(default_factory=list)

    @property
    def abort_present(self) -> bool:
        """The last shutdown was not in order (`abort` is there)."""
        return any(marker.path.name == "abort" for marker in self.markers)

    def files(self) -> Iterator[StoreFile]:
        """Every file of the store once, understood or not."""
        yield from self.commitlog
        for files in (*self.queues.values(), *self.batch_queues.values()):
            yield from files
        yield from self.index
        if self.checkpoint is not None:
            yield self.checkpoint
        yield from self.config
        yield from self.timer
        yield from self.markers
        yield from self.not_understood


def open_store(root: Path | str) -> Store:
    """List a store root. Reads names, sizes and times only; opens no file.

    Raises:
        NotAStore: missing, not a folder, unreadable, or holding nothing a broker writes: one sentence.
    """
    root = Path(root)
    if not root.exists():
        raise NotAStore(f"{root}: no such folder")
    if not root.is_dir():
        raise NotAStore(f"{root}: a file, not a store folder (for one file name it to `dump` or `explain`)")
    if not os.access(root, os.R_OK | os.X_OK):
        raise NotAStore(f"{root}: no permission to read this folder")
    store = Store(root)
    for path in _walk(root):
        _place(store, classify(root, path))
    if not any(found.kind != "not_understood" for found in store.files()):
        raise NotAStore(f"{root}: holds no commitlog, consumequeue, index, checkpoint or config of a broker")
    for files in (store.commitlog, store.index, *store.queues.values(), *store.batch_queues.values()):
        files.sort(key=lambda found: (found.base_offset or 0, found.path.name))
    return store


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            yield Path(folder) / name


def classify(root: Path, path: Path) -> StoreFile:
    """What one file of a store is, from its place and name."""
    seen = path.lstat()
    kind, base_offset, topic, queue_id, why = _kind_of(path.relative_to(root).parts)
    if not stat.S_ISREG(seen.st_mode) and not path.is_file():
        kind, why = "not_understood", "not a regular file"
    elif stat.S_ISLNK(seen.st_mode):
        seen = path.stat()
    return StoreFile(path, kind, seen.st_size, seen.st_mtime_ns, base_offset, topic, queue_id, why)


def locate(path: Path) -> StoreFile:
    """One file as the store it seems to lie in would list it, from the names of the folders above it.

    Raises UnreadableFile when it is not there or cannot be looked at.
    """
    absolute = path.absolute()
    found = None
    try:
        for root in absolute.parents[:FOLDERS_DEEP]:
            found = classify(root, absolute)
            if found.kind != "not_understood":
                break
    except OSError as refused:
        raise UnreadableFile(f"cannot be read: {refused.strerror}", path=path) from refused
    if found is None:
        raise UnreadableFile("cannot be read: a folder", path=path)
    return replace(found, path=path)


def sequence_errors(files: Sequence[StoreFile]) -> Iterator[StoreFormatError]:
    """Where files of one log or queue, given in offset order, do not join: gaps, overlaps, wrong sizes, empty files.

    Each file must end where the next begins; the last must be as large as the one before it.
    Source: MappedFileQueue#doLoad (every file has the configured size), #checkSelf @5.3.3.
    """
    for number, file in enumerate(files):
        base_offset = file.base_offset or 0
        if file.size == 0:
            yield TruncatedRecord("a file of 0 bytes", field="file size", actual=0, path=file.path)
        elif number + 1 < len(files):
            follows = files[number + 1].base_offset or 0
            if base_offset + file.size != follows:
                yield CorruptRecord(
                    "the file does not end where the next one begins",
                    at=file.size,
                    field="file size",
                    expected=follows - base_offset,
                    actual=file.size,
                    path=file.path,
                )
        elif number and file.size != files[number - 1].size:
            yield CorruptRecord(
                "the last file has not the size of the one before it",
                at=file.size,
                field="file size",
                expected=files[number - 1].size,
                actual=file.size,
                path=file.path,
            )


Place = tuple[FileKind, int | None, str | None, int | None, str | None]


def _kind_of(parts: tuple[str, ...]) -> Place:
    folder, name = parts[0], parts[-1]
    if len(parts) == 1 and name in SINGLE_FILES:
        return SINGLE_FILES[name], None, None, None, None
    if folder in ("commitlog", "timerlog", "index") and len(parts) == 2:
        return _numbered(folder, name)
    if folder in QUEUE_FOLDERS and len(parts) == 4 and parts[2].isascii() and parts[2].isdigit() and _is_number(name):
        return QUEUE_FOLDERS[folder], int(name), parts[1], int(parts[2]), None
    if folder == "config" and len(parts) == 2:
        return ("timercheck" if name == "timercheck" else "config"), None, None, None, None
    return "not_understood", None, None, None, _why_not(parts)


def _numbered(folder: str, name: str) -> Place:
    if not _is_number(name):
        return "not_understood", None, None, None, f"its name is not a number, as every file in {folder}/ has"
    kinds: dict[str, FileKind] = {"commitlog": "commitlog", "timerlog": "timerlog", "index": "index"}
    return kinds[folder], int(name), None, None, None


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) <= 20


def _why_not(parts: tuple[str, ...]) -> str:
    if parts[0].startswith("dledger-"):
        return "DLedger log: entries behind 48-byte headers"
    if parts[0] == "consumequeue" and len(parts) == 2:
        return "RocksDB consume queue (storeType=defaultRocksDB)"
    if parts[0] in ("rocksdbstore", "kvStore") or (parts[0] == "config" and len(parts) > 2):
        return "RocksDB database of the broker"
    return "not a place where a broker writes store files"


def _place(store: Store, found: StoreFile) -> None:
    lists: dict[FileKind, list[StoreFile]] = {
        "commitlog": store.commitlog,
        "index": store.index,
        "config": store.config,
        "timerlog": store.timer,
        "timerwheel": store.timer,
        "timercheck": store.timer,
        "abort": store.markers,
        "lock": store.markers,
        "consumequeue_ext": store.not_understood,
        "not_understood": store.not_understood,
    }
    if found.kind in lists:
        lists[found.kind].append(found)
    elif found.kind == "checkpoint":
        store.checkpoint = found
    else:
        queues = store.queues if found.kind == "consumequeue" else store.batch_queues
        queues.setdefault((found.topic or "", found.queue_id or 0), []).append(found)
