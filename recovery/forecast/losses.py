"""What a start loses for good: messages after the log's new end, messages that no queue or no index will have.

Found by reading, before and after: the records that still lie in the files, the units the queues had, the units and
index files they will have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from parsers.commitlog.record.layout import MAGIC_V2, RECORD_START
from parsers.commitlog.record.message import decode_message
from parsers.consumequeue.batch import BATCH_UNIT, valid_units
from parsers.consumequeue.layout import CQ_UNIT
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER
from parsers.kernels.arrays import Longs
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX, divide
from recovery.broker.batch_queue import BatchQueue
from recovery.broker.mapped_file_queue import LogFile, why_left_out
from recovery.broker.memory import BrokerMemory
from recovery.broker.queue_database import held
from recovery.broker.store_folder import DatabaseFolder, Entry, QueueKey
from recovery.lives.life import TopicLives
from recovery.rules.dispatch import PREPARED, ROLLBACK, DispatchRequest
from recovery.scan.kernel import ScanBatch
from recovery.scan.log_runs import GapSink, LogRun, runs_between
from recovery.scan.queue_rows import queue_rows
from recovery.start.no_unit import why_not_queued, why_refused
from recovery.start.restart import Restart

What = Literal["message", "queue_unit", "index_entries"]
NONE: Longs = np.empty(0, np.int64)
QUEUED = "its queue had a unit for it"
NEVER_QUEUED = "no queue had a unit for it: never dispatched, or left from an earlier truncation"
INDEX_FILE_DELETED = "the index file with its keys is deleted, and it lies before the file that is dispatched again"
NEVER_INDEXED = "no index file holds its keys, and it is not dispatched again"


@dataclass(frozen=True, slots=True)
class Loss:
    """One message and what of it is lost. Fields that only its record or its unit could tell are None without it.

    `readable`: its record can be read from the files as they are now; else a unit alone speaks of it.
    """

    what: What
    topic: str | None
    queue_id: int | None
    queue_offset: int | None
    physical_offset: int
    reason: str
    readable: bool = True


@dataclass(slots=True)
class LossCounts:
    """How many losses there are of each kind, and of how many lost messages the record can be read now."""

    of: Counter[str] = field(default_factory=Counter)
    readable: int = 0

    def passing(self, found: Iterable[Loss]) -> Iterator[Loss]:
        """The losses themselves, each counted when it is taken."""
        for loss in found:
            self.of[loss.what] += 1
            self.readable += loss.what == "message" and loss.readable
            yield loss


def losses(played: Restart, lives: Callable[[], TopicLives]) -> Iterator[Loss]:
    """Every loss: messages after the log's new end first, then what the remaining messages lack, in log order.

    Nothing of a former life is lost: an operator deleted it. `lives` is asked once such a message may be among them.
    No loss is listed for a DLedger node among others or for a start that is not played to its end, and no missing unit
    for a queue in a database whose end is open or that is damaged; `unknowns` says so instead.

    Memory: eight bytes for each queue unit, each message dispatched again and each entry of a deleted index file.
    """
    if not played.started or played.not_played or played.is_left_to_others:
        return
    yield from _beyond_the_end(played, lives)
    yield from _not_in_queue_or_index(played, lives)


def _beyond_the_end(played: Restart, lives: Callable[[], TopicLives]) -> Iterator[Loss]:
    """Records that lie after the log's new end, and units that pointed to bytes which are none any more."""
    memory = played.memory
    units = _units_behind(played, memory.commitlog.max_offset)
    positions: list[int] = []
    for request, position in _records_behind(played):
        positions.append(position)
        is_queued = bool(held(units.places, np.array([position]))[0])
        if position < lives().former_before((request.topic, request.queue_id)):
            continue
        queued = QUEUED if is_queued else _why_never_queued(request)
        reason = f"{_why_behind(memory, position)}; {queued}"
        yield Loss("message", request.topic, request.queue_id, request.queue_offset, position, reason)
    for position, key, queue_offset in units.without(np.array(sorted(positions), np.int64)):
        yield Loss("message", *key, queue_offset, position, f"{QUEUED}; no readable record is there", readable=False)


def _why_behind(memory: BrokerMemory, position: int) -> str:
    """Why the log does not reach over a record."""
    log = memory.commitlog
    if log.left_out and position >= log.left_out[0].base_offset:
        return f"its file is left out by the start: {why_left_out(log)}"
    place = "it ends the log" if position == log.max_offset else "it lies behind the record that ends the log"
    return f"{place}: {memory.log_ends_because}"


def _why_never_queued(request: DispatchRequest) -> str:
    gets_none = request.transaction_type in (PREPARED, ROLLBACK)
    return "a prepared or rolled back message, which gets no unit" if gets_none else NEVER_QUEUED


def _records_behind(played: Restart) -> Iterator[tuple[DispatchRequest, int]]:
    memory = played.memory
    kept = memory.commitlog.files[-1:]
    for file in (*kept, *memory.commitlog.deleted, *memory.commitlog.left_out):
        start = max(file.wrote_position, 0) if file in kept else 0
        yield from _requests_from(file, start, played)


def _requests_from(file: LogFile, start: int, played: Restart) -> Iterator[tuple[DispatchRequest, int]]:
    """The messages of a file from byte `start` on, and their physical offsets."""
    for run in runs_of(file.entry, file.base_offset, is_dledgers=played.memory.evidence.log_is_dledgers):
        for at in run.positions[run.positions >= start].tolist():
            message = decode_message(memoryview(run.data), at)  # type: ignore[arg-type]
            yield DispatchRequest.of(message, played.memory.rules), run.base_offset + at


def runs_of(
    entry: Entry | None, base_offset: int, gaps: GapSink = lambda gap: None, *, is_dledgers: bool = False
) -> Iterator[LogRun]:
    """The messages of a log file as every reader finds them: damage is passed over, and what an earlier life left."""
    if entry is not None:
        listed = StoreFile(
            entry.path, "dledger" if is_dledgers else "commitlog", entry.size, 0, base_offset, is_extended=True
        )
        yield from runs_between(listed, 0, listed.size, gaps)


@dataclass(frozen=True, slots=True)
class _Units:
    """Units by physical offset, rising, each place once: their queues as places in `keys`, and their queue offsets."""

    places: Longs
    queues: Longs
    numbers: Longs
    keys: Sequence[QueueKey]

    @classmethod
    def of(cls, found: Iterable[tuple[int, Longs, Longs]], keys: Sequence[QueueKey]) -> _Units:
        """From (place in `keys`, physical offsets, queue offsets); of one physical offset the last unit counts."""
        listed = [(np.full(len(places), queue), places, numbers) for queue, places, numbers in found]
        columns = zip((NONE, NONE, NONE), *listed, strict=True)
        queues, places, numbers = (np.concatenate(column) for column in columns)
        kept, at = np.unique(places[::-1], return_index=True)
        return cls(kept, queues[::-1][at], numbers[::-1][at], keys)

    def without(self, positions: Longs) -> Iterator[tuple[int, QueueKey, int]]:
        """Physical offset, queue and queue offset of each unit that leads to none of these (sorted) positions."""
        for at in np.flatnonzero(~held(positions, self.places)).tolist():
            yield int(self.places[at]), self.keys[int(self.queues[at])], int(self.numbers[at])


def _units_behind(played: Restart, log_end: int) -> _Units:
    """Units of the queues as they were that point at or after the log's end. Memory: 24 bytes for each."""
    evidence = played.memory.evidence
    folder, queues = evidence.database, {**evidence.queues, **evidence.batch_queues}
    keys = list(queues if folder is None else folder.limits)
    found = _behind_in_files(queues.values(), log_end) if folder is None else _behind_in_database(folder, keys, log_end)
    return _Units.of(found, keys)


def _behind_in_database(
    folder: DatabaseFolder, keys: Sequence[QueueKey], log_end: int
) -> Iterator[tuple[int, Longs, Longs]]:
    for at, key in enumerate(keys):
        for units in folder.units(key):
            behind = units[units["physical_offset"] >= log_end]
            yield at, behind["physical_offset"].astype(np.int64), behind["queue_offset"].astype(np.int64)


def _behind_in_files(queues: Iterable[Sequence[Entry]], log_end: int) -> Iterator[tuple[int, Longs, Longs]]:
    for at, entries in enumerate(queues):
        for units in map(units_of, entries):
            rows = (units.places >= log_end) & (units.sizes > 0)
            yield at, units.places[rows], units.numbers[rows]


class FileUnits(NamedTuple):
    """The units of one queue file of any size: physical offsets, sizes (0 of a batch's that recovery refuses), and the
    queue offsets of their first messages and behind the last ones."""

    places: Longs
    sizes: Longs
    numbers: Longs
    ends: Longs


def units_of(entry: Entry) -> FileUnits:
    """The units of a queue file, whichever type it is of."""
    if entry.path.parts[-4] == BatchQueue.folder:
        rows = BATCH_UNIT.array(entry.bytes())
        sizes = np.where(valid_units(rows), rows["msg_size"], 0).astype(np.int64)
        numbers = rows["queue_offset"].astype(np.int64)
        ends = numbers + rows["message_count"]
    else:
        rows = CQ_UNIT.array(entry.bytes())
        sizes = rows["msg_size"].astype(np.int64)
        numbers = divide(entry.number or 0, CQ_UNIT.size) + np.arange(len(rows), dtype=np.int64)
        ends = numbers + 1
    return FileUnits(rows["physical_offset"].astype(np.int64), sizes, numbers, ends)


def _not_in_queue_or_index(played: Restart, lives: Callable[[], TopicLives]) -> Iterator[Loss]:
    """Messages of the log as it will be whose unit is in no queue, and those whose keys no index file has."""
    memory = played.memory
    queued = {key: queued_offsets(played, key) for key in memory.every_queue}
    dispatched = np.sort(np.array(memory.dispatched.physical_offset, np.int64))
    index = _IndexCover.of(played)
    for file in memory.commitlog.files:
        for batch in _batches(file, played):
            if not memory.queues_are_damaged:
                yield from _without_unit(batch, played, queued, dispatched, lives)
            yield from _without_keys(batch, played, index, dispatched, lives)


def _batches(file: LogFile, played: Restart) -> Iterator[ScanBatch]:
    """The messages of a file up to the log's end that this version reads."""
    memory = played.memory
    for run in runs_of(file.entry, file.base_offset, is_dledgers=memory.evidence.log_is_dledgers):
        chosen = run.positions[run.positions < file.wrote_position]
        if not memory.version.reads_v2_messages:
            chosen = chosen[run.data[chosen + RECORD_START.size - 1] != MAGIC_V2 & 0xFF]
        yield memory.runs.scanner.scan(run.data, chosen)


def queued_offsets(played: Restart, key: QueueKey) -> Longs:
    """Physical offsets of a queue's units after the start, sorted, those of a pre-blank left out."""
    database = played.memory.database
    if database is not None:
        return database.queues[key].physical_offsets()
    queue = played.memory.queues[key]
    units = [queue.unit.array(file.content(file.wrote_position)) for file in queue.mapped.files]
    columns = [of_file["physical_offset"][of_file["msg_size"] != INT_MAX] for of_file in units]
    return np.sort(np.concatenate([column.astype(np.int64) for column in columns] or [NONE]))


def _without_unit(
    batch: ScanBatch, played: Restart, queued: dict[QueueKey, Longs], dispatched: Longs, lives: Callable[[], TopicLives]
) -> Iterator[Loss]:
    units, records = batch.units, batch.records
    names, undecided = played.memory.runs.scanner.topics.names, played.memory.undecided_queues
    for (topic, queue_id), rows in queue_rows(units.topic, units.queue_id).items():
        if (names[topic], queue_id) in undecided:
            continue
        offsets = records.physical_offset[units.record[rows]]
        missing = ~held(queued.get((names[topic], queue_id), NONE), offsets)
        if missing.any():
            missing &= offsets >= lives().former_before((names[topic], queue_id))
        again = held(dispatched, offsets)
        for row in np.flatnonzero(missing).tolist():
            queue_offset = int(units.queue_offset[rows[row]])
            place = (names[topic], queue_id), queue_offset, int(offsets[row])
            why = why_refused(played) if again[row] else why_not_queued(played, *place)
            yield Loss("queue_unit", names[topic], queue_id, queue_offset, int(offsets[row]), why)


@dataclass(frozen=True, slots=True)
class _IndexCover:
    """What the index held before the start: nothing after `end`, and `deleted` in files that go (sorted)."""

    end: int
    deleted: Longs

    @classmethod
    def of(cls, played: Restart) -> _IndexCover:
        index = played.memory.index
        entries = [*index.deleted, *(file.entry for file in index.files if file.entry is not None)]
        ends = [INDEX_HEADER.unpack(_head(entry))["end_physical_offset"] for entry in entries]
        return cls(
            max(ends, default=-1), np.sort(np.concatenate([_indexed_in(e, played) for e in index.deleted] or [NONE]))
        )


def _head(entry: Entry) -> bytes:
    return bytes(entry.bytes()[: INDEX_HEADER.size]).ljust(INDEX_HEADER.size, b"\0")


def _indexed_in(entry: Entry, played: Restart) -> Longs:
    """Physical offsets of the entries of one index file, as far as it goes."""
    at = played.memory.index.geometry.entries_at + INDEX_ENTRY.size
    stored = entry.bytes()[at:]
    count = min(INDEX_HEADER.unpack(_head(entry))["index_count"] - 1, len(stored) // INDEX_ENTRY.size)
    return INDEX_ENTRY.array(stored, count=max(count, 0))["physical_offset"].astype(np.int64)


def _without_keys(
    batch: ScanBatch, played: Restart, index: _IndexCover, dispatched: Longs, lives: Callable[[], TopicLives]
) -> Iterator[Loss]:
    records, memory = batch.records, played.memory
    if not memory.rules.index_enabled:
        return
    offsets = records.physical_offset
    in_deleted = held(index.deleted, offsets)
    has_keys = np.diff(records.first_key) > 0
    lost = has_keys & (in_deleted | (offsets > index.end)) & ~held(dispatched, offsets)
    names = memory.runs.scanner.topics.names
    for row in np.flatnonzero(lost).tolist():
        topic, queue_id = names[records.topic[row]], int(records.queue_id[row])
        if offsets[row] < lives().former_before((topic, queue_id)):
            continue
        yield Loss(
            "index_entries",
            topic,
            queue_id,
            int(records.queue_offset[row]),
            int(offsets[row]),
            INDEX_FILE_DELETED if in_deleted[row] else NEVER_INDEXED,
        )
