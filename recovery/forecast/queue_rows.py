"""What a broker holds of each queue, as rows; queues whose numbers a start takes back.

New messages then get numbers that others had, and groups with offsets beyond them skip these.

A queue ends at the first unit that its recovery refuses. Where dispatch does not write its later units again, as of
messages that have expired, the next message gets the number of that unit. `unit_repairs` mends such a unit.

Source: ConsumeQueue#recover, #truncateDirtyLogicFiles, #correctMinOffset, ConsumeQueueStore#recoverOffsetTable @5.3.1,
5.3.3, 5.5.1, DefaultMessageStore#recoverTopicQueueTable @4.9.8.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from parsers.kernels.arrays import Longs
from recovery.broker.consume_queue import FILES_RECOVERED, Queue
from recovery.broker.memory import BrokerMemory
from recovery.broker.store_folder import DatabaseFolder, Entry, Evidence, QueueKey
from recovery.config.files import Rows
from recovery.config.losses import offsets_of
from recovery.config.start import ConfigStart
from recovery.forecast.losses import runs_of, units_of
from recovery.forecast.repair import Repair
from recovery.scan.queue_rows import queue_rows as rows_of_queues
from recovery.start.restart import Restart


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One queue at one moment. `next_queue_offset` goes to the next message put, None when the table has none.

    All numbers are None of a queue in a database whose end is open.
    """

    topic: str
    queue_id: int
    min_queue_offset: int | None
    max_queue_offset: int | None
    max_physical_offset: int | None
    next_queue_offset: int | None


def queue_rows(memory: BrokerMemory) -> tuple[QueueRow, ...]:
    """Every queue the broker holds, by topic and id."""
    undecided = memory.undecided_queues
    return tuple(
        QueueRow(*key, None, None, None, None)
        if key in undecided
        else QueueRow(
            *key, queue.min_queue_offset, queue.max_queue_offset, queue.max_physical_offset, _next_offset(memory, key)
        )
        for key, queue in sorted(memory.every_queue.items())
    )


def _next_offset(memory: BrokerMemory, key: QueueKey) -> int | None:
    """A queue in a database is asked for it when a message comes. RocksDBConsumeQueue#assignQueueOffset."""
    if memory.database is not None:
        return memory.database.queues[key].max_queue_offset
    return memory.next_offsets.get(f"{key[0]}-{key[1]}")


@dataclass(frozen=True, slots=True)
class Skipping:
    """A group that does not get the messages with numbers from the queue's next one up to its committed offset."""

    group: str
    consumer_offset: int


@dataclass(frozen=True, slots=True)
class Renumbered:
    """One queue.

    Attributes:
        was_next_queue_offset: the number after the queue's last unit before the start; where that became zeros, or the
            database with it is gone, the greatest committed offset.
        next_queue_offset: the number that the next message gets after it.
        skipping: the groups whose committed offset is beyond that.
    """

    topic: str
    queue_id: int
    was_next_queue_offset: int
    next_queue_offset: int
    skipping: tuple[Skipping, ...]


def renumbered(played: Restart, before: Evidence) -> Iterator[Renumbered]:
    """The queues that go on with a lower number than they had in `before`; none of a start that is not played to its
    end, of a DLedger node among others.

    Units of messages at or after the log's new end do not count: those messages are losses of their own.
    """
    memory = played.memory
    told = played.started and not played.not_played and not played.is_left_to_others
    if not told:
        return
    if before.database is not None:
        yield from _renumbered_in_database(played, before.database)
        return
    after = {(row.topic, row.queue_id): row.next_queue_offset or 0 for row in queue_rows(memory)}
    log = memory.commitlog
    for key, entries in sorted({**before.queues, **before.batch_queues}.items()):
        committed = tuple(_committed(played.config, key))
        most = max((each.consumer_offset for each in committed), default=0)
        was, now = _end(entries, log.min_offset, log.max_offset, most), after.get(key, 0)
        if now < was:
            yield Renumbered(*key, was, now, tuple(each for each in committed if each.consumer_offset > now))


def _renumbered_in_database(played: Restart, before: DatabaseFolder) -> Iterator[Renumbered]:
    """The queues of a database; of one that is gone, offsets of groups of configured topics tell which it had."""
    memory, config = played.memory, played.config
    if memory.database is None:
        return
    after = {(row.topic, row.queue_id): row.next_queue_offset for row in queue_rows(memory)}
    noted = ((key, limits.last) for key, limits in before.limits.items())
    log_end = memory.commitlog.max_offset
    ends = {key: last.queue_offset + 1 for key, last in noted if last is not None and last.physical_offset < log_end}
    if before.table is None and config is not None:
        topics = {name for load in config.loads if load.file.rows is Rows.TOPICS for name in load.rows}
        tables = [offsets_of(load.rows) for load in config.loads if load.file.rows is Rows.OFFSETS]
        for (_, topic, queue_id), offset in (row for table in tables for row in table.items() if row[0][1] in topics):
            ends[topic, queue_id] = max(offset, ends.get((topic, queue_id), 0))
    for key, was in sorted(ends.items()):
        now = after.get(key, 0)
        if now is not None and now < was:
            committed = _committed(config, key)
            yield Renumbered(*key, was, now, tuple(each for each in committed if each.consumer_offset > now))


def _end(entries: Sequence[Entry], log_min: int, log_end: int, committed: int) -> int:
    """The number after the last unit of a message before the log's end, 0 without one; where that message has
    expired, after the damaged units that follow it, also in the next files. Of a unit that became zeros only a group
    tells that had come there, by its `committed` offset."""
    numbered = [entry for entry in entries if entry.number is not None]
    for at in range(len(numbered) - 1, -1, -1):
        units = units_of(numbered[at])
        written = np.flatnonzero((units.places >= 0) & (units.sizes > 0) & (units.places < log_end))
        if len(written):
            last = int(written[-1])
            expired = units.places[last] + units.sizes[last] <= log_min
            by_place = numbered[at].path.parts[-4] == Queue.folder
            return _end_of_expired(numbered[at:], last, committed) if expired and by_place else int(units.ends[last])
    return 0


def _end_of_expired(files: Sequence[Entry], last: int, committed: int) -> int:
    """The number after the damaged units that follow an expired message's: its unit is the one at `last` of the first
    file. Units that became zeros count as far as a group's `committed` offset shows them."""
    end, slot = int(units_of(files[0]).ends[last]), last + 1
    for entry, following in zip_longest(files, files[1:]):
        damaged, slots = _damaged_after(entry, slot - 1), len(CQ_UNIT.array(entry.bytes()))
        end, slot = end + damaged, slot + damaged
        if slot < slots or following is None or following.number != (entry.number or 0) + entry.size:
            behind = entry.bytes()[slot * CQ_UNIT.size : (slot + max(0, committed - end)) * CQ_UNIT.size]
            holds = committed - end <= slots - slot and not any(behind)
            return max(end, committed) if holds else end
        slot = 0
    return end


def _damaged_after(entry: Entry, last: int) -> int:
    """How many slots after this one were written, and hold what recovery refuses; zeros show nothing."""
    units = CQ_UNIT.array(entry.bytes())[last + 1 :]
    is_unit = (units["physical_offset"] >= 0) & (units["msg_size"] > 0)
    is_zero = (units["physical_offset"] == 0) & (units["msg_size"] == 0) & (units["tags_code"] == 0)
    ends = np.flatnonzero(is_unit | is_zero)
    return int(ends[0]) if len(ends) else len(units)


def _committed(config: ConfigStart | None, key: QueueKey) -> Iterator[Skipping]:
    """Where each group is in a queue."""
    loads = () if config is None else config.loads
    tables = [offsets_of(load.rows) for load in loads if load.file.rows is Rows.OFFSETS]
    for table in tables:
        for (group, *queue), offset in sorted(table.items()):
            if tuple(queue) == key:
                yield Skipping(group, offset)


@dataclass(frozen=True, slots=True)
class _Copy:
    """Slots of one queue file, the first and the last, that the unit in slot `source` is written over."""

    source: int
    first: int
    last: int

    def command(self, file: str) -> str:
        """What does it, and leaves every other byte and the file's size alone."""
        is_one = self.first == self.last
        slot = str(self.first) if is_one else "$n"
        copied = f"dd if={file} of={file} bs={CQ_UNIT.size} count=1 skip={self.source} seek={slot} conv=notrunc"
        return copied if is_one else f"for n in $(seq {self.first} {self.last}); do {copied}; done"


@dataclass(frozen=True, slots=True)
class _Mended(Entry):
    """A queue file with units written over others."""

    copies: tuple[_Copy, ...] = ()

    def bytes(self) -> memoryview:
        stored = bytearray(Entry.bytes(self))
        units = CQ_UNIT.array(stored)
        for copy in self.copies:
            units[copy.first : copy.last + 1] = units[copy.source]
        return memoryview(stored)


def unit_repairs(played: Restart, queues: Sequence[Renumbered]) -> Iterator[Repair]:
    """The one repair of all these queues that can be mended so; nothing where none can.

    A refused unit of an expired message gets the bytes of the unit beside it. Both lead to messages before the log's
    first byte, which no pull gets any more: all that changes is that the queue's recovery goes on after it.
    """
    memory = played.memory
    store, size, log_min = memory.evidence, memory.settings.consume_queue_file_size, memory.commitlog.min_offset
    if memory.settings.enable_consume_queue_ext or log_min <= 0 or memory.database is not None:
        return
    mended: dict[QueueKey, tuple[Entry, ...]] = {}
    first_left = _first_numbers(played, {(queue.topic, queue.queue_id) for queue in queues})
    for queue in queues:
        key = queue.topic, queue.queue_id
        files = _mended(store.queues.get(key, ()), size, log_min, memory.commitlog.max_offset, first_left.get(key))
        if files is not None:
            mended[key] = files
    changed = [entry for entries in mended.values() for entry in entries if isinstance(entry, _Mended)]
    if not changed:
        return
    names = [str(entry.path.relative_to(store.root)) for entry in changed]
    commands = [
        copy.command(shlex.quote(name)) for entry, name in zip(changed, names, strict=True) for copy in entry.copies
    ]
    yield Repair(
        f"copy consumequeue/ first; then run in the store's folder, before the start: `{'; '.join(commands)}`",
        "units of messages that have expired are damaged, and their queue would end there; "
        "each gets the bytes of the unit beside it, which has expired, too",
        "disk space for the copy; no consumer can get those messages any more",
        files=tuple(names),
        store=replace(store, queues={**store.queues, **mended}),
    )


def _mended(
    entries: Sequence[Entry], size: int, log_min: int, log_end: int, first_left: int | None
) -> tuple[Entry, ...] | None:
    """The files with every refused unit mended that stands before an expired one; None where that is not safe.

    It is where each file has its size and follows the one before, no unit on the way leads into the log, and the log
    has no message of a number up to the last one that is mended.
    """
    numbers = [entry.number for entry in entries]
    in_a_row = all(a is not None and b == a + size for a, b in pairwise(numbers))
    if not entries or None in numbers or not in_a_row or any(e.size != size or e.is_folder for e in entries):
        return None
    found: list[Entry] = list(entries)
    passed_expired = False
    for at in range(len(entries) - 1, max(0, len(entries) - FILES_RECOVERED) - 1, -1):
        offsets, sizes, of_units, _ = units_of(entries[at])
        is_unit = (offsets >= 0) & (sizes > 0) & (offsets < log_end)
        expired = np.flatnonzero(is_unit & (offsets + sizes <= log_min))
        if not len(expired) and not passed_expired:
            continue
        if not len(expired):
            return None
        last = int(expired[-1])
        end = len(offsets) if passed_expired else last + 1 + _damaged_after(entries[at], last)
        passed_expired = True
        if len(np.flatnonzero(is_unit[:end])) != np.searchsorted(expired, end):
            return None
        refused = np.flatnonzero(~is_unit[:end])
        if len(refused) and first_left is not None and int(of_units[refused[-1]]) >= first_left:
            return None
        if len(refused):
            entry = entries[at]
            found[at] = _Mended(
                entry.name, entry.path, entry.size, False, entry.modified_ms, tuple(_copies(refused, expired))
            )
    return tuple(found)


def _copies(refused: Longs, expired: Longs) -> Iterator[_Copy]:
    """Each run of refused slots gets the unit before it; at the file's start the first expired one."""
    for run in np.split(refused, np.flatnonzero(np.diff(refused) > 1) + 1):
        first, last = int(run[0]), int(run[-1])
        yield _Copy(first - 1 if first else int(expired[0]), first, last)


def _first_numbers(played: Restart, keys: Collection[QueueKey]) -> dict[QueueKey, int]:
    """The lowest queue offset of each of these queues that a message of the log has."""
    memory, found = played.memory, dict[QueueKey, int]()
    for file in memory.commitlog.files:
        for run in runs_of(file.entry, file.base_offset):
            units = memory.runs.scanner.scan(run.data, run.positions).units
            names = memory.runs.scanner.topics.names
            for (topic, queue_id), rows in rows_of_queues(units.topic, units.queue_id).items():
                key, least = (names[topic], queue_id), int(units.queue_offset[rows].min())
                if key in keys:
                    found[key] = min(least, found.get(key, least))
    return found
