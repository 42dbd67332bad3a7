"""A broker that runs on a store: whether one does, and whether its cleaner has come to queues and index by now.

From start to shutdown a broker holds a lock on the file `lock` (DefaultMessageStore#start, #shutdown @4.2.0 … 5.5.1).
It deletes files of queues and index after those of its log. Both cleaners have a round every cleanResourceInterval, the
first a minute after start; that of queues and index waits deleteConsumeQueueFilesInterval after each queue of which it
deleted files, and is one round behind at most.
Source: DefaultMessageStore#addScheduleTask, #cleanFilesPeriodically, CleanConsumeQueueService#deleteExpiredFiles
@4.9.7, 5.3.3, where it has a thread of its own (#cleanQueueFilesPeriodically).
"""

from __future__ import annotations

import fcntl
import struct
import sys
import time
from pathlib import Path

from parsers.evidence.mapped import open_evidence
from parsers.evidence.supplied import supply_of
from parsers.store.store import Store
from recovery.rules.settings import StoreSettings

LOCK = "lock"
FIRST_ROUND_S = 60.0
ROUNDS = 2
FLOCK = struct.Struct("@hhqqi")
"""struct flock of Linux: type, whence, start, length, and the process that holds it."""


def is_running(root: Path) -> bool:
    """Whether a process holds the lock, which is asked and not taken. False where nothing tells: before 4.2.0, in a
    copy, with the store at an address, on another system than Linux."""
    if sys.platform != "linux" or supply_of(root) is not None:
        return False
    asked = FLOCK.pack(fcntl.F_WRLCK, 0, 0, 1, 0)
    try:
        with open_evidence(root / LOCK) as file:
            told = fcntl.fcntl(file.fileno(), fcntl.F_GETLK, asked)
    except OSError:
        return False
    return bool(FLOCK.unpack(told)[0] != fcntl.F_UNLCK)


def cleaner_is_due(store: Store, settings: StoreSettings) -> bool:
    """Whether that may be so now: a file of the log went, or the broker started, no longer ago than two rounds take.

    The time of the log's folder says when a file went from it, or came. A broker starts by writing to its lock.
    """
    folders = {file.path.parent for file in store.commitlog}
    try:
        changed = [folder.stat().st_mtime for folder in folders]
        started = [(store.root / LOCK).stat().st_mtime + FIRST_ROUND_S] if (store.root / LOCK).exists() else []
    except OSError:
        return False
    pauses_ms = len(store.queues) * settings.delete_consume_queue_files_interval
    round_s = (settings.clean_resource_interval + pauses_ms) / 1000
    return time.time() < max(changed + started, default=0.0) + ROUNDS * round_s
