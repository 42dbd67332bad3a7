"""Write the ext units of a rebuilt store: the queues' tags codes move to consumequeue_ext/, addresses take their place.

Every message that is dispatched gets an ext unit after the last one of its queue; one that does not fit into the rest
of a file goes to the next file, and a short of -1 ends the former. Lightweight queues and BatchCQs have no ext units.
Source: ConsumeQueue#putMessagePositionInfoWrapper, ConsumeQueueExt#put, #fullFillToEnd @4.2.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsers.commitlog.record.properties import PropertyRule
from parsers.consumequeue.ext import CQ_EXT_UNIT, END_BLANK, END_OF_FILE, MOST_UNIT_BYTES
from parsers.consumequeue.layout import CQ_UNIT, PRE_BLANK
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.java import LONG_MIN
from parsers.values.topics import is_lmq
from recovery.knowledge.inference import StoreKnowledge
from recovery.rebuild.filter_bits import FilterBits, TopicFilters
from recovery.rebuild.new_files import write_piece
from recovery.rebuild.queue_files import QueueTotals
from recovery.scan.log_access import UNKNOWN, LogAccess, StoredTimes

FOLDER = "consumequeue_ext"


@dataclass(frozen=True, slots=True)
class ExtTotals:
    """The ext units of one rebuilt queue. `older`: messages that were stored before the newest of the topic's filters
    was made, whose bit maps a broker had calculated with the filters of then."""

    topic: str
    queue_id: int
    units: int
    bit_map_size: int
    older: int


def write_ext_units(
    store: Store, known: StoreKnowledge, bits: FilterBits, root: Path, queues: Iterable[QueueTotals]
) -> Iterator[ExtTotals]:
    """Give the queues rebuilt in `root` their ext units. Memory: the units of one queue file."""
    writer = _Writer(store, known, bits, root)
    for queue in queues:
        if queue.written and queue.units and not queue.is_batch and not is_lmq(queue.topic):
            yield writer.write((queue.topic, queue.queue_id), queue.units)


class _Writer:
    def __init__(self, store: Store, known: StoreKnowledge, bits: FilterBits, root: Path) -> None:
        self._times, self._log, self._root = StoredTimes(store.commitlog), LogAccess(store.commitlog), root
        self._filters, self._file_size = bits.topics, known.settings.mapped_file_size_consume_queue_ext
        splits = not known.version.keeps_property_values_with_separators
        self._rule: PropertyRule = "split" if splits else "first_separator"

    def write(self, key: QueueKey, count: int) -> ExtTotals:
        filters = self._filters.get(key[0])
        bit_map_size = filters.size if filters else 0
        size = CQ_EXT_UNIT.size + bit_map_size
        if size > min(MOST_UNIT_BYTES, self._file_size - END_BLANK):
            return ExtTotals(*key, 0, bit_map_size, 0)
        done = older = 0
        for path in sorted(self._folder("consumequeue", key).iterdir()):
            done, before = self._one_file(path, key, filters, size, done, count)
            older += before
        return ExtTotals(*key, done, bit_map_size, older)

    def _one_file(
        self, path: Path, key: QueueKey, filters: TopicFilters | None, size: int, done: int, count: int
    ) -> tuple[int, int]:
        """Ext units up to the end of this queue file, and how many messages in it are older than the filters."""
        units = np.fromfile(path, CQ_UNIT.dtype)
        blank = (units["physical_offset"] == PRE_BLANK["physical_offset"]) & (
            units["msg_size"] == PRE_BLANK["msg_size"]
        )
        first = int(np.count_nonzero(blank))
        rows = units[first : first + count - done]
        ext = np.zeros(
            len(rows), np.dtype([*CQ_EXT_UNIT.dtype.descr, ("bit_map", np.uint8, (size - CQ_EXT_UNIT.size,))])
        )
        places = rows["physical_offset"].astype(np.int64)
        times = self._times.at(places)
        ext["unit_size"], ext["bitmap_size"] = size, size - CQ_EXT_UNIT.size
        ext["tags_code"], ext["store_timestamp_ms"] = rows["tags_code"], times
        if filters is not None:
            maps = b"".join(filters.bit_map(self._properties(place)) for place in places.tolist())
            ext["bit_map"] = np.frombuffer(maps, np.uint8).reshape(len(rows), -1)
        rows["tags_code"] = self._append(key, ext, size, done) + LONG_MIN
        write_piece(path, len(units) * CQ_UNIT.size, first * CQ_UNIT.size, rows.tobytes())
        newest = filters.newest_born_ms if filters else UNKNOWN
        return done + len(rows), int(np.count_nonzero(times < newest))

    def _append(self, key: QueueKey, ext: npt.NDArray[np.void], size: int, done: int) -> Longs:
        """Write units after the `done` ones of the queue; the byte in the queue's ext files where each starts."""
        folder = self._folder(FOLDER, key)
        folder.mkdir(parents=True, exist_ok=True)
        per_file = (self._file_size - END_BLANK) // size
        numbers = np.arange(done, done + len(ext))
        for number in np.unique(numbers // per_file).tolist():
            first, end = max(done, number * per_file), min(done + len(ext), (number + 1) * per_file)
            base, data = number * self._file_size, ext[first - done : end - done].tobytes()
            write_piece(folder / f"{base:020d}", self._file_size, (first - number * per_file) * size, data)
            if number and first == number * per_file:
                write_piece(folder / f"{base - self._file_size:020d}", self._file_size, per_file * size, END_OF_FILE)
        starts: Longs = numbers // per_file * self._file_size + numbers % per_file * size
        return starts

    def _properties(self, physical_offset: int) -> dict[str, str]:
        message = self._log.message(physical_offset)
        return {} if message is None else dict(message.properties(self._rule))

    def _folder(self, kind: str, key: QueueKey) -> Path:
        return self._root / kind / key[0] / str(key[1])
