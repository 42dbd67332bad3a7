"""The queues in a database: units and limits, by the key layouts that RocksDBConsumeQueueTable writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.damage.errors import CorruptRecord, StoreFormatError
from parsers.rocksdb.database import Database, Pair
from parsers.rocksdb.layout import (
    AFTER,
    CHECKPOINT_TOPIC,
    DATABASE_UNIT,
    DISPATCHED,
    KEY_LIMIT,
    KEY_QUEUE,
    KEY_TOPIC,
    KEY_UNIT,
    MAX,
    MIN,
    OFFSETS_FAMILY,
    QUEUE_LIMIT,
    SEPARATOR,
    UNITS_FAMILY,
)
from parsers.values.java import LONG_MAX, decode_utf8

Units = npt.NDArray[np.void]
OnError = Callable[[StoreFormatError], None]
NONE = -1


class Limit(NamedTuple):
    """The first or last message of a queue: its number, and where it starts in the CommitLog."""

    physical_offset: int
    queue_offset: int


@dataclass(slots=True)
class QueueLimits:
    """What the database notes of one queue; None where it does not. `stored_topic`: the topic's bytes in the keys."""

    stored_topic: bytes
    queue_id: int
    first: Limit | None = None
    last: Limit | None = None
    has_units: bool = False

    @property
    def last_queue_offset(self) -> int:
        """The last message there is; -1 where a broker would say that there is none."""
        return self.last.queue_offset if self.last is not None else NONE


class QueueTable:
    """The queues' database of a store, opened.

    Attributes:
        limits: by topic and queue, in order of both, those queues that ever got a message.
        dispatched_to: the CommitLog byte after the last message dispatched; None where that is not noted.
    """

    def __init__(self, database: Database, on_error: OnError) -> None:
        """Flaws and keys that are none of a queue go to `on_error`. Raises StoreFormatError: no such database."""
        self._database, self._on_error = database, on_error
        missing = {UNITS_FAMILY, OFFSETS_FAMILY} - set(database.families)
        if missing:
            problem = f"no database of queues: it has no column family {', '.join(sorted(missing))}"
            raise CorruptRecord(problem, path=database.folder, field="column family")
        for flaw in database.flaws:
            on_error(flaw)
        self.dispatched_to: int | None = None
        found: dict[tuple[bytes, int], QueueLimits] = {}
        self._read_limits(found)
        self._meet_units(found)
        named = {(decode_utf8(queue.stored_topic), queue.queue_id): queue for queue in found.values()}
        self.limits = {key: named[key] for key in sorted(named) if _got_messages(named[key])}

    @property
    def folder(self) -> Path:
        return self._database.folder

    def close(self) -> None:
        self._database.close()

    def unit(self, queue: QueueLimits, queue_offset: int) -> dict[str, int] | None:
        """The unit of a message number, None without one. Raises StoreFormatError."""
        key = _queue_prefix(queue.stored_topic, queue.queue_id) + KEY_UNIT.pack({"queue_offset": queue_offset})
        value = self._database.get(UNITS_FAMILY, key)
        return DATABASE_UNIT.unpack(value) if value is not None and len(value) == DATABASE_UNIT.size else None

    def unit_or_none(self, queue: QueueLimits, queue_offset: int) -> dict[str, int] | None:
        """Return a unit, or None where it is missing or cannot be read; the latter is reported as damage."""
        try:
            return self.unit(queue, queue_offset)
        except StoreFormatError as error:
            self._on_error(error)
            return None

    def units(self, queue: QueueLimits, first: int = 0, last: int | None = None) -> Iterator[Units]:
        """The units from queue offset `first` up to `last` (None: all there are), in order, some at a time.

        Each array has the fields of DATABASE_UNIT and `queue_offset`; units that recovery would refuse are left out.
        What is not a unit goes to `on_error`, as does what ends the reading early.
        """
        prefix = _queue_prefix(queue.stored_topic, queue.queue_id)
        begin = prefix + KEY_UNIT.pack({"queue_offset": first})
        end = _behind(prefix)
        if last is not None and last < LONG_MAX:
            end = prefix + KEY_UNIT.pack({"queue_offset": last + 1})
        record = np.dtype([("prefix", f"V{len(prefix)}"), *KEY_UNIT.dtype.descr, *DATABASE_UNIT.dtype.descr])
        try:
            for pairs in self._database.pairs(UNITS_FAMILY, begin, end):
                units = self._sound(self._records(pairs, prefix, record))
                if len(units):
                    yield units
        except StoreFormatError as error:
            self._on_error(error)

    def _records(self, pairs: Sequence[Pair], prefix: bytes, record: np.dtype[np.void]) -> Units:
        """Key and value of each unit side by side: made of one join, and looked at as a whole."""
        stored = b"".join(chain.from_iterable(pairs))
        if len(stored) == len(pairs) * record.itemsize:
            units = np.frombuffer(stored, record)
            if units["prefix"].tobytes() == prefix * len(units):
                return units
        key_size = len(prefix) + KEY_UNIT.size
        regular = [pair for pair in pairs if (len(pair[0]), len(pair[1])) == (key_size, DATABASE_UNIT.size)]
        odd = next(pair for pair in pairs if (len(pair[0]), len(pair[1])) != (key_size, DATABASE_UNIT.size))
        self._report(f"{len(pairs) - len(regular)} keys or values of a queue are no unit's", "unit", *odd)
        return np.frombuffer(b"".join(chain.from_iterable(regular)), record)

    def _sound(self, units: Units) -> Units:
        sound = (units["physical_offset"] >= 0) & (units["msg_size"] > 0) & (units["queue_offset"] >= 0)
        if not sound.all():
            first = units[int(np.argmin(sound))]
            said = {name: int(first[name]) for name in (*KEY_UNIT.offsets, *DATABASE_UNIT.offsets)}
            problem = f"{int((~sound).sum())} units that recovery refuses"
            expected = "physical_offset >= 0 and msg_size > 0"
            self._on_error(CorruptRecord(problem, path=self.folder, field="msg_size", expected=expected, actual=said))
        return units[sound]

    def _read_limits(self, found: dict[tuple[bytes, int], QueueLimits]) -> None:
        try:
            for pairs in self._database.pairs(OFFSETS_FAMILY):
                for key, value in pairs:
                    self._take_limit(found, key, value)
        except StoreFormatError as error:
            self._on_error(error)

    def _take_limit(self, found: dict[tuple[bytes, int], QueueLimits], key: bytes, value: bytes) -> None:
        limit = _limit_key(key)
        if limit is not None and limit[0] == CHECKPOINT_TOPIC and len(value) == DISPATCHED.size:
            self.dispatched_to = DISPATCHED.unpack(value)["max_physical_offset"]
        elif limit is None or len(value) != QUEUE_LIMIT.size:
            self._report("no limit of a queue", "limit", key, value)
        else:
            topic, which, queue_id = limit
            queue = found.setdefault((topic, queue_id), QueueLimits(topic, queue_id))
            stored = Limit(**QUEUE_LIMIT.unpack(value))
            queue.first, queue.last = (queue.first, stored) if which == MAX else (stored, queue.last)

    def _meet_units(self, found: dict[tuple[bytes, int], QueueLimits]) -> None:
        """Every queue that has a unit: one look for each, past all of its units."""
        place = b""
        try:
            while (key := self._database.first_key(UNITS_FAMILY, place)) is not None:
                queue = _unit_key(key)
                if queue is None:
                    self._report("no key of a unit", "key", key, b"")
                    place = key + b"\0"
                else:
                    found.setdefault(queue, QueueLimits(*queue)).has_units = True
                    place = _behind(_queue_prefix(*queue))
        except StoreFormatError as error:
            self._on_error(error)

    def _report(self, problem: str, field: str, key: bytes, value: bytes) -> None:
        actual = f"key {key.hex()[:80]}, value {value.hex()[:80]}"
        self._on_error(CorruptRecord(problem, path=self.folder, field=field, actual=actual))


def _got_messages(queue: QueueLimits) -> bool:
    """Brokers also note a minimum for queues that they were only asked about."""
    return queue.has_units or queue.last is not None or (queue.first is not None and queue.first.queue_offset > 0)


def _topic_prefix(topic: bytes) -> bytes:
    return KEY_TOPIC.pack({"topic_size": len(topic), "separator": SEPARATOR}) + topic


def _queue_prefix(topic: bytes, queue_id: int) -> bytes:
    """What the keys of all units of a queue begin with."""
    separators = {"separator": SEPARATOR, "separator_2": SEPARATOR}
    return _topic_prefix(topic) + KEY_QUEUE.pack({"queue_id": queue_id, **separators})


def _behind(prefix: bytes) -> bytes:
    """The least key after every one that begins with a prefix that ends in a separator."""
    return prefix[:-1] + bytes([AFTER])


def _topic_of(key: bytes) -> bytes | None:
    if len(key) < KEY_TOPIC.size:
        return None
    size = KEY_TOPIC.unpack(key)["topic_size"]
    return key[KEY_TOPIC.size : KEY_TOPIC.size + size] if 0 <= size <= len(key) - KEY_TOPIC.size else None


def _unit_key(key: bytes) -> tuple[bytes, int] | None:
    """Topic and queue of a unit's key, None for a key that is none."""
    topic = _topic_of(key)
    if topic is None or len(key) != KEY_TOPIC.size + len(topic) + KEY_QUEUE.size + KEY_UNIT.size:
        return None
    queue_id = KEY_QUEUE.unpack(key, KEY_TOPIC.size + len(topic))["queue_id"]
    return (topic, queue_id) if queue_id >= 0 and key.startswith(_queue_prefix(topic, queue_id)) else None


def _limit_key(key: bytes) -> tuple[bytes, bytes, int] | None:
    """Topic, `max` or `min`, and queue of a limit's key, None for a key that is none."""
    topic = _topic_of(key)
    if topic is None:
        return None
    for which in (MAX, MIN):
        head = _topic_prefix(topic) + bytes([SEPARATOR]) + which
        if len(key) == len(head) + KEY_LIMIT.size and key.startswith(head + bytes([SEPARATOR])):
            return topic, which, KEY_LIMIT.unpack(key, len(head))["queue_id"]
    return None
