"""The broker's cleaners: when they run, which files of log, queues and index they delete, in which order.

Played on a broker's memory; nothing is deleted anywhere.
Source: CleanCommitLogService, CleanConsumeQueueService, MappedFileQueue#deleteExpiredFileByTime,
#deleteExpiredFileByOffset, IndexService#deleteExpiredFile @4.9.8, 5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from parsers.layouts.layout import Layout
from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, split
from recovery.broker.batch_queue import BatchQueue
from recovery.broker.consume_queue import Queue
from recovery.broker.index_service import IndexFile
from recovery.broker.mapped_file_queue import LoadFailed, LogFile
from recovery.broker.memory import BrokerMemory
from recovery.retention.dledger_cleaner import FORCED_ABOVE, checked_above, deletable, is_dledgers, reserved_hours
from recovery.rules.dispatch import InvalidForDispatch, parse_number
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

HOUR_MS = 3_600_000
BATCH_BEFORE_5 = 10
MANUAL_ROUNDS = 20
"""Rounds that one `deleteExpiredCommitLog` command (mqadmin) makes the cleaner work in."""


@dataclass(frozen=True, slots=True)
class Clock:
    """An instant and the broker's time zone; without an offset the zone of this machine."""

    now_ms: int
    utc_offset: timedelta | None = None

    @property
    def hour(self) -> int:
        return self.at(self.now_ms).hour

    def at(self, instant_ms: int) -> datetime:
        instant = datetime.fromtimestamp(instant_ms / 1000, UTC)
        return instant.astimezone(None if self.utc_offset is None else timezone(self.utc_offset))


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Used percent of the partitions of log and queues, rounded up as the broker does; None where unknown.

    A folder that does not exist counts as -1 to the broker: below zero it deletes expired files.
    """

    commitlog: int | None
    queues: int | None


@dataclass(frozen=True, slots=True)
class Trigger:
    """Whether the log's cleaner works now: `at_once` also deletes files that have not expired.

    `undecided` names what would have to be known to say so.
    """

    runs: bool
    at_once: bool
    why: str
    undecided: str | None = None


def is_delete_hour(delete_when: str, hour: int) -> bool | None:
    """`UtilAll#isItTimeToDo`: hours separated by semicolons. None when one is no number: the whole round fails."""
    try:
        return any(parse_number(part, INT_MIN, INT_MAX) == hour for part in split(delete_when, ";"))
    except InvalidForDispatch:
        return None


def trigger(version: BrokerVersion, settings: StoreSettings, clock: Clock, disk: DiskUse, *, manual: bool) -> Trigger:
    """What makes the cleaner work in this round, as `CleanCommitLogService#deleteExpiredFiles`."""
    by_hour = is_delete_hour(settings.delete_when, clock.hour)
    if by_hour is None:
        return Trigger(False, False, f"deleteWhen {settings.delete_when!r} is no list of hours: every round fails")
    space = _space(version, settings, disk)
    at_once = space.at_once and settings.clean_file_forcibly_enable
    if by_hour:
        return Trigger(True, at_once, f"the hour {clock.hour:02d} is in deleteWhen {settings.delete_when}")
    if space.runs:
        return Trigger(True, at_once, space.why)
    if manual:
        return Trigger(True, at_once, "deletion was asked for by command")
    why = f"the hour {clock.hour:02d} is not in deleteWhen {settings.delete_when}"
    return Trigger(False, False, f"{why}; {space.why}", space.undecided)


def dledger_trigger(memory: BrokerMemory, clock: Clock, used: int | None) -> Trigger:
    """What makes DLedger's cleaner work, as `CleanSpaceService#doWork`; the command to delete does not reach it."""
    by_hour = is_delete_hour(memory.settings.delete_when, clock.hour)
    if by_hour is None:
        return Trigger(False, False, f"deleteWhen {memory.settings.delete_when!r} is no list of hours")
    most = checked_above(memory)
    at_once = memory.settings.clean_file_forcibly_enable and used is not None and used > FORCED_ABOVE
    if by_hour:
        return Trigger(True, at_once, f"the hour {clock.hour:02d} is in deleteWhen {memory.settings.delete_when}")
    why = f"the hour {clock.hour:02d} is not in deleteWhen {memory.settings.delete_when}"
    if used is None:
        return Trigger(False, False, f"{why}; the disk use is not known", "the disk use of the DLedger log")
    if used > most:
        return Trigger(True, at_once, f"disk use of the DLedger log {used} % is above {most} %")
    return Trigger(False, False, f"{why}; disk use {used} % is not above {most} %")


def _space(version: BrokerVersion, settings: StoreSettings, disk: DiskUse) -> Trigger:
    """`isSpaceToDelete`: before 5.0.0 a nearly full disk below diskMaxUsedSpaceRatio deletes nothing by itself."""
    warning, force = _clamped(version, settings)
    most = min(max(settings.disk_max_used_space_ratio, 10), 95)
    at_once = False
    for name, used in (("commitlog", disk.commitlog), ("consumequeue", disk.queues)):
        if used is None:
            return Trigger(False, False, f"the disk use of {name} is not known", f"the disk use of {name}")
        at_once = at_once or used > force or used > warning
        if at_once and version.deletes_at_once_by_itself:
            return Trigger(True, True, f"disk use of {name} {used} % is above {min(force, warning)} %")
        if (used < 0 or used > most) and not version.deletes_at_once_by_itself:
            return Trigger(True, at_once, f"disk use of {name} {used} % is above {most} %")
    for name, used in (("commitlog", disk.commitlog), ("consumequeue", disk.queues)):
        if used is not None and (used < 0 or used > most):
            return Trigger(True, at_once, f"disk use of {name} {used} % is above {most} %")
    return Trigger(False, at_once, f"disk use {disk.commitlog} % and {disk.queues} % is not above {most} %")


def _clamped(version: BrokerVersion, settings: StoreSettings) -> tuple[int, int]:
    """Warning and force ratio; since 5.0.0 inside 35…90 and 30…85."""
    warning, force = settings.disk_space_warning_level_ratio, settings.disk_space_clean_forcibly_ratio
    if not version.deletes_at_once_by_itself:
        return warning, force
    return min(max(warning, 35), 90), min(max(force, 30), 85)


@dataclass(slots=True)
class Cleaner:
    """The cleaners of one running broker."""

    memory: BrokerMemory
    last_log_min: int = field(default=0, init=False)

    def clean_commitlog(self, decided: Trigger, now_ms: int) -> list[LogFile]:
        """One round: expired files from the oldest on, never the last, at most a batch."""
        settings, log = self.memory.settings, self.memory.commitlog
        of_5 = self.memory.version.deletes_at_once_by_itself
        batch = settings.delete_file_batch_max if of_5 else BATCH_BEFORE_5
        gone: list[LogFile] = []
        if not decided.runs:
            return gone
        for file in deletable(self.memory):
            if not (decided.at_once or now_ms >= expires_at_ms(file, self.memory)):
                break
            gone.append(file)
            if len(gone) >= batch and not is_dledgers(self.memory, file):  # DLedger's rounds are 100 ms apart
                break
        log.files = log.files[len(gone) :]
        log.deleted += gone
        return gone

    def clean_queues(self) -> tuple[list[tuple[Queue | BatchQueue, LogFile]], list[IndexFile]]:
        """When the log's minimum has risen: queue files whose last message is gone, then index files likewise."""
        log_min = self.memory.commitlog.min_offset
        if log_min <= self.last_log_min:
            return [], []
        self.last_log_min = log_min
        gone: list[tuple[Queue | BatchQueue, LogFile]] = []
        try:
            for queue in self.memory.queues.values():
                gone += [(queue, file) for file in _clean_queue(queue, log_min)]
                queue.correct_min(log_min)
        except LoadFailed as failed:  # caught by the service: queues after this one and the index are not cleaned
            self.memory.because(failed.rule, failed.source, failed.evidence)
            return gone, []
        return gone, self._clean_index(log_min)

    def _clean_index(self, log_min: int) -> list[IndexFile]:
        index = self.memory.index
        gone = 0
        while gone < len(index.files) - 1 and index.files[gone].header()["end_physical_offset"] < log_min:
            gone += 1
        deleted, index.files = index.files[:gone], index.files[gone:]
        index.deleted += [file.entry for file in deleted if file.entry is not None]
        return deleted


def expires_at_ms(file: LogFile, memory: BrokerMemory) -> int:
    """When a file may go: its modification time and fileReservedTime hours, one more in a DLedger log."""
    modified = 0 if file.entry is None else file.entry.modified_ms
    return modified + reserved_hours(memory, file) * HOUR_MS


def _clean_queue(queue: Queue | BatchQueue, log_min: int) -> list[LogFile]:
    files = queue.mapped.files
    gone = 0
    while gone < len(files) - 1 and _last_message_of(files[gone], queue.unit) < log_min:
        gone += 1
    deleted = files[:gone]
    queue.mapped.files, queue.mapped.deleted = files[gone:], queue.mapped.deleted + deleted
    return deleted


def _last_message_of(file: LogFile, unit: Layout) -> int:
    """Physical offset in the last unit of a full file; a file that is not full stays."""
    if file.wrote_position < file.size:
        return LONG_MAX
    return unit.unpack(file.content(file.size), file.size - unit.size)["physical_offset"]
