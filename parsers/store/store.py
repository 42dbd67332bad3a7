"""A store folder: which file is what, in offset order, and nothing skipped in silence."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import compress, zip_longest
from operator import not_
from pathlib import Path

from parsers.damage.errors import why_unreadable
from parsers.store.places import (
    BACKUP,
    DATA_FOLDER,
    DLEDGER_FOLDER,
    MESSAGE_DATABASE,
    POP_DATABASE,
    SECOND_DATABASE,
    FileKind,
    Place,
    name_below,
    place_of,
)
from parsers.store.store_file import QueueKey, StoreFile, classify, placed
from parsers.store.walk import identities, walk

LOG_MOVED = "a setting says that the log lies elsewhere, so the broker does not read it"
STORES_NAMED = 5
EPOCHS_MOVED = "a setting says that the epochs lie elsewhere, so the broker does not read it"


class NotAStore(Exception):
    """The path cannot be read as a store root: missing, not a folder, no permission, or nothing of a store in it."""


@dataclass(slots=True)
class Store:
    """A store root and its files. Lists are in offset order; `queues` has one entry per (topic, queue_id).

    `ext_queues` are the ConsumeQueueExt files that units of the queues point into (enableConsumeQueueExt).
    `compaction_logs` are the copies of compacted topics, `compaction_queues` their queues: files of both have one name
    for one another, and need not join.
    `commitlog` is the whole log: of a broker in DLedger mode the files of its DLedger log, after those that it wrote
    before it was switched. `dledger` is what lies beside such a log: its index, currterm, checkpoint.
    `epochs` are epochFileCheckpoint and its backup, of a broker in controller mode.
    A RocksDB database is one file: its folder. `queue_database` holds the ConsumeQueues (storeType=defaultRocksDB), or
    a second copy of them (rocksdbCQDoubleWriteEnable), `pop_database` the consumer records of POP
    (popConsumerKVServiceEnable), `message_database` index, timers and half messages (indexRocksDBEnable and the like);
    those of the broker's tables are in `config`.
    `log_not_found` is a sentence where the log, or a part of it, lies nobody knows where.
    `reads_queue_database` says whether the broker answers from `queue_database` or from files, where there are both;
    None: nobody said it.
    `commitlog_folders`, `dledger_folders` and `epoch_file` are the places elsewhere that it was listed with
    (`open_store`).
    """

    root: Path
    commitlog: list[StoreFile] = field(default_factory=list)
    queues: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    batch_queues: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    ext_queues: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    compaction_logs: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    compaction_queues: dict[QueueKey, list[StoreFile]] = field(default_factory=dict)
    queue_database: StoreFile | None = None
    pop_database: StoreFile | None = None
    message_database: StoreFile | None = None
    index: list[StoreFile] = field(default_factory=list)
    dledger: list[StoreFile] = field(default_factory=list)
    checkpoint: StoreFile | None = None
    epochs: list[StoreFile] = field(default_factory=list)
    config: list[StoreFile] = field(default_factory=list)
    timer: list[StoreFile] = field(default_factory=list)
    markers: list[StoreFile] = field(default_factory=list)
    not_understood: list[StoreFile] = field(default_factory=list)
    log_not_found: str | None = None
    reads_queue_database: bool | None = None
    commitlog_folders: Sequence[Path] = ()
    dledger_folders: Sequence[Path] = ()
    epoch_file: Path | None = None

    def listed_again(self) -> Store:
        """The store as it is now. Raises NotAStore: one sentence."""
        again = open_store(
            self.root,
            commitlog_folders=self.commitlog_folders,
            dledger_folders=self.dledger_folders,
            epoch_file=self.epoch_file,
        )
        again.reads_queue_database = self.reads_queue_database
        return again

    def _by_queue(self) -> tuple[dict[QueueKey, list[StoreFile]], ...]:
        """The files that lie in a folder for each queue, kind by kind."""
        return self.queues, self.batch_queues, self.ext_queues, self.compaction_logs, self.compaction_queues

    @property
    def abort_present(self) -> bool:
        """The last shutdown was not in order (`abort` is there)."""
        return any(marker.path.name == "abort" for marker in self.markers)

    @property
    def log_is_dledgers(self) -> bool:
        """The broker appends to a DLedger log (enableDLegerCommitLog)."""
        return any(found.kind == "dledger" for found in self.commitlog)

    @property
    def log_start(self) -> int:
        """Where the log's first file with any byte starts, a physical offset; 0 without one."""
        return next((file.base_offset or 0 for file in self.commitlog if file.size), 0)

    @property
    def places(self) -> list[Path]:
        """The root, the folders elsewhere that settings brought files in from, and the files of epochs elsewhere, whose
        folder may be anybody's."""
        outside = [file for file in self.files() if self.root not in file.path.parents]
        return [self.root, *sorted({file.path if file.kind == "epochs" else file.path.parent for file in outside})]

    def _databases(self) -> list[StoreFile]:
        """The databases apart from those of the broker's tables."""
        databases = (self.queue_database, self.pop_database, self.message_database)
        return [database for database in databases if database is not None]

    def files(self) -> Iterator[StoreFile]:
        """Every file of the store once, understood or not."""
        yield from self.commitlog
        for queues in self._by_queue():
            for files in queues.values():
                yield from files
        yield from self._databases()
        yield from self.index
        yield from self.dledger
        if self.checkpoint is not None:
            yield self.checkpoint
        yield from self.epochs
        yield from self.config
        yield from self.timer
        yield from self.markers
        yield from self.not_understood


def open_store(
    root: Path | str,
    *,
    commitlog_folders: Sequence[Path] = (),
    dledger_folders: Sequence[Path] = (),
    epoch_file: Path | None = None,
) -> Store:
    """List a store root. Reads names, sizes and times only; opens no file. Links are followed, loops of them are not.

    A folder or file that cannot be looked at is listed as not understood, with the reason. A folder `dledger-<selfId>`
    by itself is a store with nothing but a log.

    Args:
        commitlog_folders: where the CommitLog lies, and nowhere else (`storePathCommitLog`); without it commitlog/. Its
            files are put in order by their names across all folders, as MultiPathMappedFileQueue does.
        dledger_folders: where the DLedger log's data files lie, and nowhere else (`storePathDLedgerCommitLog`).
        epoch_file: the file of epochs, with its backup beside it, and no other (`storePathEpochFile`).
    Raises:
        NotAStore: missing, not a folder, unreadable, or holding nothing a broker writes: one sentence.
    """
    root = Path(root)
    _require_folder(root)
    store = Store(root, commitlog_folders=commitlog_folders, dledger_folders=dledger_folders, epoch_file=epoch_file)
    _place_root(store)
    for folder in commitlog_folders:
        _place_log(store, ("commitlog",), folder)
    for folder in dledger_folders:
        _place_log(store, (DLEDGER_FOLDER, DATA_FOLDER), folder)
    if not dledger_folders:
        _keep_one_dledger(store)
    if epoch_file is not None:
        _take_epochs(store, epoch_file)
    if not any(found.kind != "not_understood" for found in store.files()):
        below = ", ".join(map(str, _stores_below(root)))
        where = f"; a store is below it: {below}" if below else ""
        raise NotAStore(f"{root}: holds no commitlog, consumequeue, index, checkpoint or config of a broker{where}")
    _put_in_order(store)
    return store


def _require_folder(root: Path) -> None:
    try:
        is_folder = stat.S_ISDIR(root.stat().st_mode)
    except FileNotFoundError:
        raise NotAStore(f"{root}: no such folder") from None
    except (OSError, ValueError) as refused:
        raise NotAStore(f"{root}: cannot be looked at: {why_unreadable(refused)}") from refused
    if not is_folder:
        raise NotAStore(f"{root}: a file, not a store folder (for one file name it to `dump` or `explain`)")
    if not os.access(root, os.R_OK | os.X_OK):
        raise NotAStore(f"{root}: no permission to read this folder")


def _place_root(store: Store) -> None:
    """The files below the root. Those of a log that a setting moves elsewhere are not read."""
    absolute = store.root.absolute()
    base = absolute.parent if absolute.name.startswith(DLEDGER_FOLDER) else absolute
    moved = {"commitlog": bool(store.commitlog_folders), "dledger": bool(store.dledger_folders)}
    for found in walk(base, absolute, (), identities((*store.commitlog_folders, *store.dledger_folders))):
        here = found if store.root == absolute else replace(found, path=store.root / found.path.relative_to(absolute))
        _place(store, replace(here, kind="not_understood", why=LOG_MOVED) if moved.get(found.kind) else here)


def _put_in_order(store: Store) -> None:
    """Files of logs, queues and index by the numbers in their names; each of the log knows the next one."""
    of_queues = [files for queues in store._by_queue() for files in queues.values()]
    for files in (store.commitlog, store.index, *of_queues):
        files.sort(key=lambda found: (found.base_offset or 0, found.path.name))
    store.commitlog = [
        replace(file, next_path=following and following.path)
        for file, following in zip_longest(store.commitlog, store.commitlog[1:])
    ]


def _stores_below(folder: Path) -> list[Path]:
    """Store roots one or two folders down, where somebody named the folder around them; the first few of them."""
    with suppress(OSError):
        logs = sorted(log for pattern in ("*/commitlog", "*/*/commitlog") for log in folder.glob(pattern))
        return [log.parent for log in logs[:STORES_NAMED]]
    return []


def _place_log(store: Store, own_folder: Sequence[str], folder: Path) -> None:
    """The files of a folder of the log, placed as if they lay in the store's own."""
    name = name_below(store.root, folder)
    for found in walk(folder, folder, (), ()):
        is_unlisted = found.why and found.size == 0 and found.mtime_ns == 0
        place = place_of((*own_folder, *found.path.relative_to(folder).parts))
        _place(store, replace(found if is_unlisted else placed(found, place), folder=name))


def _take_epochs(store: Store, epoch_file: Path) -> None:
    """The file of epochs that a setting names, and its backup, take the place of those of the root.

    Source: CheckpointFile#CheckpointFile @5.0.0 … 5.3.3.
    """
    both = (epoch_file, epoch_file.with_name(f"{epoch_file.name}{BACKUP}"))
    named = [path for path in both if os.path.exists(path)]
    names, own = {path.name for path in named}, identities(named)
    for files in (store.epochs, store.config, store.not_understood):
        files[:] = [file for file in files if file.path.name not in names or own.isdisjoint(identities([file.path]))]
    store.not_understood += [replace(file, kind="not_understood", why=EPOCHS_MOVED) for file in store.epochs]
    store.epochs = [placed(classify(path.parent, path), Place("epochs")) for path in named]


def _keep_one_dledger(store: Store) -> None:
    """A broker reads the DLedger log of its own selfId alone; of several, the one that was written last is its own."""
    newest: dict[Path, int] = {}
    for found in store.commitlog:
        if found.kind == "dledger":
            node = found.path.parents[1]
            newest[node] = max(newest.get(node, 0), found.mtime_ns)
    own = max(newest, key=lambda node: (newest[node], node), default=None)
    others = newest.keys() - {own}
    why = f"the DLedger log of another node: {own.name if own else ''} was written later"
    for files in (store.commitlog, store.dledger) if others else ():
        strange = [not others.isdisjoint(found.path.parents) for found in files]
        store.not_understood += [replace(found, kind="not_understood", why=why) for found in compress(files, strange)]
        files[:] = compress(files, map(not_, strange))


def _place(store: Store, found: StoreFile) -> None:
    lists: dict[FileKind, list[StoreFile]] = {
        "commitlog": store.commitlog,
        "dledger": store.commitlog,
        "dledger_index": store.dledger,
        "dledger_state": store.dledger,
        "index": store.index,
        "epochs": store.epochs,
        "config": store.config,
        "timerlog": store.timer,
        "timerwheel": store.timer,
        "timercheck": store.timer,
        "abort": store.markers,
        "lock": store.markers,
        "not_understood": store.not_understood,
    }
    if found.kind in lists:
        lists[found.kind].append(found)
    elif found.kind == "checkpoint":
        store.checkpoint = found
    elif found.kind == "rocksdb":
        _place_in_database(store, found)
    else:
        by_kind: dict[FileKind, dict[QueueKey, list[StoreFile]]] = {
            "consumequeue": store.queues,
            "batchconsumequeue": store.batch_queues,
            "consumequeue_ext": store.ext_queues,
            "compaction_log": store.compaction_logs,
            "compaction_queue": store.compaction_queues,
        }
        by_kind[found.kind].setdefault((found.topic or "", found.queue_id or 0), []).append(found)


def _place_in_database(store: Store, found: StoreFile) -> None:
    """A database is one file to its readers: its folder, as large as its files together and as new as the newest."""
    folder = found.path.parent
    databases = (*store.config, *store._databases())
    known = next((file for file in databases if file.path == folder), replace(found, size=0))
    database = replace(found, path=folder, size=known.size + found.size, mtime_ns=max(known.mtime_ns, found.mtime_ns))
    if folder.parent.name == "config":
        store.config[:] = [*(file for file in store.config if file.path != folder), database]
    elif folder.name == POP_DATABASE:
        store.pop_database = database
    elif folder.name == MESSAGE_DATABASE:
        store.message_database = database
    elif store.queue_database is None or store.queue_database.path == folder:
        store.queue_database = database
    else:
        store.not_understood.append(replace(found, kind="not_understood", why=SECOND_DATABASE))
