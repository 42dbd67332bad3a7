"""Which files would the broker delete now, in which order, and when are the others due?

The broker is played up to quiet, then its cleaners run as they do: log first, then queues and index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from parsers.store.store import Store
from recovery.broker.batch_queue import BatchQueue
from recovery.broker.consume_queue import Queue
from recovery.broker.index_service import IndexFile
from recovery.broker.mapped_file_queue import FileList, LogFile
from recovery.broker.memory import BrokerMemory
from recovery.broker.message_check import MessageCheck
from recovery.broker.store_folder import read_evidence
from recovery.knowledge.copied_times import copied_without_times
from recovery.knowledge.inference import StoreKnowledge
from recovery.retention.cleaner import (
    HOUR_MS,
    MANUAL_ROUNDS,
    Cleaner,
    Clock,
    DiskUse,
    Trigger,
    dledger_trigger,
    expires_at_ms,
    is_delete_hour,
    trigger,
)
from recovery.retention.dledger_cleaner import has_only_dledgers, header_size, reserved_hours
from recovery.start.restart import Restart, memory_before_load, restart

Kind = Literal["commitlog", "consumequeue", "batchconsumequeue", "index"]
ROUNDS_IN_AN_HOUR = 360
HOURS_LOOKED_AHEAD = 24


@dataclass(frozen=True, slots=True)
class DueFile:
    """One file and its end.

    Attributes:
        order: place among the files that go now, from 1; None for a file that stays for now.
        round: cleaner round that deletes it, from 1, one every `cleanResourceInterval`.
        certain: False when later rounds depend on how far deleting lowers the disk use.
        due_at_ms: when it goes; None when that is not known or never.
        log_min: of a log file: the log's minimum once it is gone.
    """

    kind: Kind
    file: str
    topic: str | None
    queue_id: int | None
    order: int | None
    round: int | None
    certain: bool
    due_at_ms: int | None
    log_min: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Retention:
    """What the cleaners do to one store.

    Attributes:
        decided: whether and why the log's cleaner works now.
        files: files that go now in their order, then the log files that stay, in theirs.
        bytes_per_s: the measured write rate, None with `rate_reason` when it is unknown.
        why_not: why nothing can be said, as when the broker does not start.
    """

    clock: Clock
    decided: Trigger | None
    files: tuple[DueFile, ...]
    bytes_per_s: float | None
    rate_reason: str
    played: Restart
    why_not: str | None = None

    def rows(self) -> list[dict[str, Any]]:
        """One dict per file, plain values."""
        return [asdict(file) for file in self.files]

    def due_of(self, physical_offset: int) -> tuple[int | None, str]:
        """When the log file that holds this byte is due, and why, or why that is not known."""
        size = self.played.memory.settings.mapped_file_size_commit_log
        for file in self.files:
            if file.kind == "commitlog" and file.log_min is not None and 0 <= file.log_min - 1 - physical_offset < size:
                return file.due_at_ms, file.reason
        return None, f"no log file holds byte {physical_offset}"


def retention(
    store: Store,
    known: StoreKnowledge,
    now_ms: int,
    disk_ratio: int | None = None,
    *,
    utc_offset: timedelta | None = None,
    manual: bool = False,
) -> Retention:
    """Play the cleaners of a broker that runs on this store at `now_ms`.

    Args:
        disk_ratio: used percent of the partition; None: not known (a copy of a store lies on another disk).
        utc_offset: the broker's time zone, which deleteWhen is read in; None: this machine's.
        manual: `mqadmin deleteExpiredCommitLog` was given.
    """
    running, settings = known.version, known.settings
    played = restart(memory_before_load(read_evidence(store.root, settings), running, settings))
    clock = Clock(now_ms, utc_offset)
    if not played.started:
        why = "the broker does not start, so it deletes nothing"
        return Retention(clock, None, (), None, why, played, why)
    if (lost := copied_without_times(store)) is not None:
        why = f"when a file expires is not known: {lost.reason}"
        return Retention(clock, None, (), None, why, played, why)
    queues = disk_ratio if played.memory.every_queue or (store.root / "consumequeue").is_dir() else -1
    if has_only_dledgers(played.memory):
        decided, manual = dledger_trigger(played.memory, clock, disk_ratio), False
    else:
        decided = trigger(running, settings, clock, DiskUse(disk_ratio, queues), manual=manual)
    bytes_per_s, rate_reason = _write_rate(played)
    cleaned = list(_clean_now(played, decided, clock, manual=manual))
    gone = sum(file.kind == "commitlog" for file in cleaned)
    later = _later(played, gone, clock, bytes_per_s, rate_reason, decided)
    return Retention(clock, decided, (*cleaned, *later), bytes_per_s, rate_reason, played)


def _clean_now(played: Restart, decided: Trigger, clock: Clock, *, manual: bool) -> Iterator[DueFile]:
    """Rounds of the log's cleaner as long as they delete something, then the other cleaner."""
    memory = _lists_copied(played.memory)
    cleaner, interval_ms = Cleaner(memory), memory.settings.clean_resource_interval
    by_hour = bool(is_delete_hour(memory.settings.delete_when, clock.hour))
    order = 0
    for number in range(1, (MANUAL_ROUNDS if manual and not by_hour else ROUNDS_IN_AN_HOUR) + 1):
        gone = cleaner.clean_commitlog(decided, clock.now_ms)
        for file in gone:
            order += 1
            certain = number == 1 or by_hour or manual
            due = clock.now_ms + (number - 1) * interval_ms
            yield DueFile(
                "commitlog",
                file.name,
                None,
                None,
                order,
                number,
                certain,
                due,
                file.end_offset,
                _why(decided, file, clock, played),
            )
        if not gone:
            break
    for place, reason in _names(*cleaner.clean_queues()):
        order += 1
        yield DueFile(*place, order=order, round=1, certain=True, due_at_ms=clock.now_ms, log_min=None, reason=reason)


def _lists_copied(memory: BrokerMemory) -> BrokerMemory:
    """Copy a broker's file lists, so that cleaning leaves the played start as it was."""

    def copied(files: FileList) -> FileList:
        return replace(files, files=list(files.files), deleted=list(files.deleted))

    return replace(
        memory,
        commitlog=copied(memory.commitlog),
        queues={key: replace(queue, mapped=copied(queue.mapped)) for key, queue in memory.queues.items()},
        index=replace(memory.index, files=list(memory.index.files), deleted=list(memory.index.deleted)),
    )


def _why(decided: Trigger, file: LogFile, clock: Clock, played: Restart) -> str:
    expired = clock.now_ms >= expires_at_ms(file, played.memory)
    return f"{decided.why}; {'it has expired' if expired else 'not expired, but the disk is nearly full'}"


def _names(
    queue_files: list[tuple[Queue | BatchQueue, LogFile]], index_files: list[IndexFile]
) -> Iterator[tuple[tuple[Kind, str, str | None, int | None], str]]:
    for queue, file in queue_files:
        yield (queue.folder, file.name, queue.topic, queue.queue_id), "its last message is before the log's minimum"
    for index_file in index_files:
        yield ("index", index_file.name or "", None, None), "its last entry is before the log's minimum"


def _later(
    played: Restart, gone: int, clock: Clock, bytes_per_s: float | None, rate_reason: str, decided: Trigger
) -> Iterator[DueFile]:
    """The log files that stay for now: each is due in the first delete hour after it and all older ones expired."""
    memory = played.memory
    ready_ms: int | None = clock.now_ms
    for file in memory.commitlog.files[gone:]:
        expires: int | None = expires_at_ms(file, memory)
        reason = "it expires by its modification time and fileReservedTime"
        if file is memory.commitlog.files[-1]:
            expires, reason = _expiry_of_newest(file, memory, clock, bytes_per_s, rate_reason)
        ready_ms = None if expires is None or ready_ms is None else max(ready_ms, expires)
        due = None if ready_ms is None else next_delete_hour(memory.settings.delete_when, clock, ready_ms)
        if due is None and ready_ms is not None:
            reason = f"{reason}; deleteWhen {memory.settings.delete_when} names no hour of the calendar from then on"
        if decided.undecided:
            reason = f"{reason}; it may go earlier: {decided.undecided} is not known"
        yield DueFile("commitlog", file.name, None, None, None, None, True, due, file.end_offset, reason)


def _expiry_of_newest(
    file: LogFile, memory: BrokerMemory, clock: Clock, bytes_per_s: float | None, rate_reason: str
) -> tuple[int | None, str]:
    """The newest file is never deleted; once full it is no longer the newest."""
    if not bytes_per_s:
        return None, f"the newest file stays until it is full; when that is, is not known: {rate_reason}"
    full_ms = clock.now_ms + int((file.size - file.wrote_position) / bytes_per_s * 1000)
    return (
        full_ms + reserved_hours(memory, file) * HOUR_MS,
        f"the newest file is full at the measured rate; {rate_reason}",
    )


def next_delete_hour(delete_when: str, clock: Clock, from_ms: int) -> int | None:
    """The first instant from `from_ms` on whose local hour is in deleteWhen; None when no hour of the calendar is."""
    try:
        hour = clock.at(from_ms).replace(minute=0, second=0, microsecond=0)
        instants = (hour + timedelta(hours=ahead) for ahead in range(HOURS_LOOKED_AHEAD + 1))
        due = next((instant for instant in instants if is_delete_hour(delete_when, instant.hour)), None)
    except (OverflowError, ValueError):  # beyond the last day that a calendar has
        return None
    return None if due is None else max(from_ms, int(due.timestamp() * 1000))


def _write_rate(played: Restart) -> tuple[float | None, str]:
    """Bytes per second between the first messages of the oldest and the newest log file."""
    memory = played.memory
    files = memory.commitlog.files
    if len(files) < 2:
        return None, "fewer than two log files tell no rate"
    check = MessageCheck(memory.version, memory.settings)
    ends = [
        check.at(file.stored[header_size(memory, file) :], 0, crc=False, read_body=False).request
        for file in (files[0], files[-1])
    ]
    first, last = (0 if request is None else request.store_timestamp_ms for request in ends)
    if not 0 < first < last:
        return None, "the first messages of the oldest and the newest log file tell no time between them"
    written = files[-1].base_offset - files[0].base_offset
    return written * 1000 / (last - first), f"{written} bytes in {(last - first) / 1000:.0f} s"
