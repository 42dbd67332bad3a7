"""When a DLedger node deletes files of its log: by its own cleaner, an hour later than the broker is configured to.

Files from before the switch to DLedger are the broker's own to delete, and while one is left, DLedger deletes nothing.
Source: DLedgerCommitLog#refreshConfig, #disableDeleteDledger, #deleteExpiredFile @4.9.4, 5.3.3;
DLedgerMmapFileStore.CleanSpaceService, MmapFileList#deleteExpiredFileByTime @0.2.3, 0.3.1.2.
"""

from __future__ import annotations

from parsers.commitlog.dledger_headers.layout import HEADER_SIZE
from recovery.broker.mapped_file_queue import LogFile
from recovery.broker.memory import BrokerMemory

HOURS_WHILE_OLD_FILES_ARE_LEFT = 24 * 365 * 10
HOURS_MORE = 1
FORCED_ABOVE, CHECKED_ABOVE = 85, 70
"""Used percent of the disk: above the one, files go that have not expired; the other stands before 4.9.4."""


def is_dledgers(memory: BrokerMemory, file: LogFile) -> bool:
    return file.entry is not None and file.entry in memory.evidence.dledger


def has_only_dledgers(memory: BrokerMemory) -> bool:
    """The log begins with a DLedger file: no file is left from before the switch."""
    return bool(memory.commitlog.files) and is_dledgers(memory, memory.commitlog.files[0])


def header_size(memory: BrokerMemory, file: LogFile) -> int:
    """Bytes before each message of the file."""
    return HEADER_SIZE if is_dledgers(memory, file) else 0


def deletable(memory: BrokerMemory) -> list[LogFile]:
    """The files of the log that a cleaner may come to, oldest first: never the last."""
    files = memory.commitlog.files[:-1]
    return files if has_only_dledgers(memory) else [file for file in files if not is_dledgers(memory, file)]


def reserved_hours(memory: BrokerMemory, file: LogFile) -> int:
    """How long a file of the log is kept after it was last written."""
    hours = memory.settings.file_reserved_time
    if not is_dledgers(memory, file):
        return hours
    return max(1, hours + HOURS_MORE) if has_only_dledgers(memory) else HOURS_WHILE_OLD_FILES_ARE_LEFT


def checked_above(memory: BrokerMemory) -> int:
    """Used percent of the disk above which expired files go at any hour."""
    told = memory.version.tells_dledger_its_disk_ratio
    return memory.settings.disk_max_used_space_ratio if told else CHECKED_ABOVE
