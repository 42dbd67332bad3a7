"""What a file of a store is, from the folders it lies in and its name.

Source: StorePathConfigHelper, BrokerPathConfigHelper, MappedFileQueue#doLoad, ConsumeQueueStore#load @5.3.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from parsers.values.java import INT_MAX, LONG_MAX

FileKind = Literal[
    "commitlog",
    "dledger",
    "dledger_index",
    "dledger_state",
    "consumequeue",
    "batchconsumequeue",
    "consumequeue_ext",
    "compaction_log",
    "compaction_queue",
    "index",
    "checkpoint",
    "epochs",
    "config",
    "rocksdb",
    "timerlog",
    "timerwheel",
    "timercheck",
    "abort",
    "lock",
    "not_understood",
]
SINGLE_FILES: dict[str, FileKind] = {
    "checkpoint": "checkpoint",
    "abort": "abort",
    "abort.bak": "abort",
    "lock": "lock",
    "timerwheel": "timerwheel",
    "epochFileCheckpoint": "epochs",
    "epochFileCheckpoint.bak": "epochs",
}
BACKUP = ".bak"
NUMBERED_FOLDERS: dict[str, FileKind] = {"commitlog": "commitlog", "timerlog": "timerlog", "index": "index"}
QUEUE_FOLDERS: dict[str, FileKind] = {
    "consumequeue": "consumequeue",
    "batchconsumequeue": "batchconsumequeue",
    "consumequeue_ext": "consumequeue_ext",
}
COMPACTION_FOLDERS: dict[str, FileKind] = {"compactionLog": "compaction_log", "compactionCq": "compaction_queue"}
COMPACTION_WORK = {
    "compacting": "left by a compaction pass that did not end: the broker loads nothing of it",
    "replicating": "left by a copy from the master that did not end: the broker loads nothing of it",
}
"""Folders within a compacted queue's. Source: CompactionLog#COMPACTING_SUB_FOLDER, #REPLICATING_SUB_FOLDER @5.3.3."""
DLEDGER_FOLDER, DATA_FOLDER = "dledger-", "data"
DLEDGER_FOLDERS: dict[str, FileKind] = {DATA_FOLDER: "dledger", "index": "dledger_index"}
DLEDGER_STATES = ("currterm", "checkpoint")
COMPACTION_POSITIONS = ("position-checkpoint", "position-checkpoint.bak")
"""How far each compaction queue was compacted, as JSON; since 5.1.0 brokers without such topics write it too.
Source: CompactionPositionMgr#configFilePath @5.3.3."""
# Files that brokers write and no reader here takes, by the first folder or the name.
KNOWN_NOT_READ = {
    "brokerIdentity": "identity of a controller-mode broker",
    "brokerIdentity-temp": "identity of a controller-mode broker",
    "tiered_index_file": "index of the tiered store",
    "transrocksdb": "RocksDB database of transactions",
}
TABLE_DATABASES = ("topics", "subscriptionGroups", "consumerOffsets", "rdb", "metadata")
"""Folders of config/ that are RocksDB databases of the broker's tables (since 5.1.4; all tables in rdb since 5.3.2, in
metadata since 5.4.0)."""
DATABASE_APART = "consumequeue_rocksdb"
QUEUE_DATABASES = ("consumequeue", DATABASE_APART)
"""Where the database of queues lies, the second one with useSeparateStorePathForRocksdbCQ (since 5.5.0).
Source: RocksDBConsumeQueueStore#<init>, StorePathConfigHelper#getStorePathRocksDBConsumeQueue @5.5.0."""
SECOND_DATABASE = (
    "a second database of queues beside that in consumequeue/: "
    "since 5.5.0 a broker that keeps queues in RocksDB starts with neither"
)
POP_DATABASE = "kvStore"
"""Consumer records of POP (popConsumerKVServiceEnable, since 5.3.2). Source: PopConsumerService#ROCKSDB_DIRECTORY."""
MESSAGE_DATABASE = "rocksdbstore"
"""Index, timers and half messages, where settings keep them in RocksDB; every broker makes it since 5.4.0.
Source: MessageRocksDBStorage#ROCKSDB_MESSAGE_DIRECTORY."""
ROCKSDB_FILE = re.compile(r"CURRENT|IDENTITY|LOCK|LOG(\.old\.\d+)?|(MANIFEST|OPTIONS)-\d+|\d+\.(sst|log|blob|dbtmp)")
DATABASE_PART = "part of a RocksDB database, which is read as a whole, from the store root"
ELSEWHERE = "not a place where a broker writes store files"
MAX_DIGITS = 20  # UtilAll#offset2FileName


class Place(NamedTuple):
    """A file's kind, the number in its name, its queue, and why it is not understood."""

    kind: FileKind
    base_offset: int | None = None
    topic: str | None = None
    queue_id: int | None = None
    why: str | None = None


def place_of(parts: Sequence[str]) -> Place:
    """The place of a file by its path below the store root, split at the separators."""
    folder, name = parts[0], parts[-1]
    if len(parts) == 1 and name in SINGLE_FILES:
        return Place(SINGLE_FILES[name])
    if folder in NUMBERED_FOLDERS and len(parts) == 2:
        number = number_in(name)
        if number is None:
            return _not_understood(f"its name is not a number, as every file in {folder}/ has")
        return Place(NUMBERED_FOLDERS[folder], number)
    if folder in QUEUE_FOLDERS and len(parts) == 4:
        return _queue_file(QUEUE_FOLDERS[folder], parts[1], parts[2], name)
    if folder == "config" and len(parts) == 2:
        return Place("timercheck" if name == "timercheck" else "config")
    if folder == "compaction":
        return _compaction_file(parts)
    if folder.startswith(DLEDGER_FOLDER):
        return _dledger_file(parts)
    if is_rocksdb_file(name) and _is_database(parts[:-1]):
        return Place("rocksdb")
    return _not_understood(_why_not(parts))


def is_rocksdb_file(name: str) -> bool:
    """Whether RocksDB gives such a name to a file of its databases."""
    return ROCKSDB_FILE.fullmatch(name) is not None


def _is_database(folder: Sequence[str]) -> bool:
    """Whether the folder is one in which a broker keeps queues or tables that are read here."""
    is_table = len(folder) == 2 and folder[0] == "config" and folder[1] in TABLE_DATABASES
    return is_table or (len(folder) == 1 and folder[0] in (*QUEUE_DATABASES, POP_DATABASE, MESSAGE_DATABASE))


def _dledger_file(parts: Sequence[str]) -> Place:
    """DLedgerConfig#getDefaultPath, #getDataStorePath, #getIndexStorePath; MemberState and DLedgerMmapFileStore."""
    if len(parts) == 2 and parts[1].removesuffix(".bak") in DLEDGER_STATES:
        return Place("dledger_state")
    if len(parts) != 3 or parts[1] not in DLEDGER_FOLDERS:
        return _not_understood(ELSEWHERE)
    number = number_in(parts[2])
    if number is None:
        return _not_understood(f"its name is not a number, as every file in {parts[0]}/{parts[1]}/ has")
    return Place(DLEDGER_FOLDERS[parts[1]], number)


def _compaction_file(parts: Sequence[str]) -> Place:
    """CompactionStore, CompactionLog @5.1.0."""
    if len(parts) == 2 and parts[1] in COMPACTION_POSITIONS:
        return Place("config")
    if len(parts) == 5 and parts[1] in COMPACTION_FOLDERS:
        return _queue_file(COMPACTION_FOLDERS[parts[1]], parts[2], parts[3], parts[4])
    if len(parts) == 6 and parts[1] in COMPACTION_FOLDERS and parts[4] in COMPACTION_WORK:
        return _not_understood(COMPACTION_WORK[parts[4]])
    return _not_understood(ELSEWHERE)


def _queue_file(kind: FileKind, topic: str, queue: str, name: str) -> Place:
    queue_id, number = number_in(queue, INT_MAX), number_in(name)
    if queue_id is None or str(queue_id) != queue:
        return _not_understood("its folder is not a queue number, so brokers pass it over")
    if number is None:
        return _not_understood("its name is not a number, as every file of a queue has")
    return Place(kind, number, printable_name(topic), queue_id)


def printable_name(name: str) -> str:
    """A file or folder name as text: bytes that are not UTF-8 become U+FFFD, as in Java."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def name_below(root: Path, path: Path) -> str:
    """How rows name a file: its path below the store root; its whole path where a setting put it elsewhere."""
    above, whole = f"{root}/", str(path)
    if whole.startswith(above):  # a store has thousands of files, and `relative_to` is slow
        return whole[len(above) :]
    return (path.relative_to(root) if path.is_relative_to(root) else path.absolute()).as_posix()


def number_in(name: str, most: int = LONG_MAX) -> int | None:
    """Java's parseInt or parseLong of a name of plain digits; None for anything else, or beyond `most`."""
    if not (name.isascii() and name.isdigit() and len(name) <= MAX_DIGITS):
        return None
    number = int(name)
    return number if number <= most else None


def _not_understood(why: str) -> Place:
    return Place("not_understood", why=why)


def _why_not(parts: Sequence[str]) -> str:
    if parts[0] in KNOWN_NOT_READ:
        return KNOWN_NOT_READ[parts[0]]
    return ELSEWHERE
