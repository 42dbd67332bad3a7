"""Each queue of a tiered store: how far it was handed over, and whether its segments have the log's messages.

A broker that starts goes by the sizes in the metadata, and for the last segment of a queue by the segment itself.
Source: FlatAppendFile#recover, #recoverFileSize, FlatMessageFile#getConsumeQueueCommitOffset @5.3.0 - 5.3.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsers.commitlog.record.layout import HEAD
from parsers.commitlog.record.message import decode_message
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import DamageSink, StoreFormatError, report
from parsers.evidence.mapped import map_file
from parsers.kernels.arrays import Longs
from parsers.queues.queue import Queue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.tiered.metadata import BrokerQueue, Segment, TieredMetadata, segment_files
from recovery.scan.intervals import found_at
from recovery.scan.log_access import LogAccess

NOT_GIVEN = (
    "no folder of segments (--segments, or tieredStoreFilePath of the broker): what a cloud provider holds is not here"
)
NOT_THERE = "the folder lacks files of some of its segments, or they cannot be read"
SHORTER = "files of some of its segments are shorter than the metadata says"
SEVERAL = "the folder has segments of several clusters for it"
NO_QUEUE = "the broker's own queue does not name some of its messages: whether the log has them is not known"
OFFSET_AT = HEAD.offsets["physical_offset"]
OFFSET_END = OFFSET_AT + 8


@dataclass(slots=True)
class TieredQueueState:
    """One queue. Offsets are queue offsets, sizes bytes; unknown is None, and `reason` says why.

    Attributes:
        path_broker: as the path of its segments names it.
        min_queue_offset, handed_to: the first one and the one after the last that the tiered store has.
        waiting: messages of the broker's queue that are not handed over yet.
        segments, size: of both kinds, by the metadata.
        found: segments that have a file in the folder.
        equal: messages of the segments that the log has byte for byte, but for their place.
        different: messages that the log has otherwise.
        not_in_log: messages from before the first one that the broker's queue still has, or whose bytes the log lost.
        wrong: units that lead to no message of this queue and number.
    """

    path_broker: str
    topic: str
    queue_id: int
    min_queue_offset: int | None
    handed_to: int | None
    waiting: int | None
    segments: int
    size: int
    found: int | None = None
    equal: int | None = None
    different: int | None = None
    not_in_log: int | None = None
    wrong: int | None = None
    reason: str | None = None


@dataclass(slots=True)
class _Parts:
    units: list[Segment] = field(default_factory=list)
    messages: list[Segment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Own:
    """The broker's own queue: places of its messages by number, rising, and the first number that it still has."""

    numbers: Longs
    places: Longs
    first: int

    @classmethod
    def of(cls, queue: Queue | None, log_start: int) -> _Own | None:
        if queue is None:
            return None
        columns = [
            [batch[name].to_numpy() for name in ("queue_offset", "physical_offset")] for batch in queue.batches()
        ]
        numbers, places = (np.concatenate([np.empty(0, np.int64), *(each[n] for each in columns)]) for n in (0, 1))
        order = np.argsort(numbers, kind="stable")
        return cls(numbers[order], places[order], queue.ends(log_start)[0])


def tiered_queues(
    store: Store, metadata: TieredMetadata, folder: Path | None, damage: DamageSink
) -> Iterator[TieredQueueState]:
    """The queues of the metadata, by broker, topic and number. Segments that cannot be read go to `damage`.

    Memory: 16 bytes for each message of the broker's own queue. Each message of the segments is decoded by itself.
    """
    log = LogAccess(store.commitlog)
    with StoreQueues(store, damage=damage) as queues:
        for key, parts in sorted(_by_queue(metadata.segments).items()):
            queue = queues.get(key[1:])
            state = _told(key, parts, metadata)
            if folder is None:
                state.reason = NOT_GIVEN
            else:
                _compare(state, parts, folder, log, _Own.of(queue, store.log_start), damage)
            if state.handed_to is not None and queue is not None:
                first, following = queue.ends(store.log_start)
                state.waiting = max(0, following - max(first, state.handed_to))
            yield state


def told_queues(metadata: TieredMetadata) -> Iterator[TieredQueueState]:
    """What the metadata alone says of each queue, by broker, topic and number."""
    for key, parts in sorted(_by_queue(metadata.segments).items()):
        yield _told(key, parts, metadata)


def _by_queue(segments: Sequence[Segment]) -> dict[BrokerQueue, _Parts]:
    found: dict[BrokerQueue, _Parts] = {}
    for segment in segments:
        if segment.queue is not None and segment.kind != "INDEX":
            parts = found.setdefault(segment.queue, _Parts())
            (parts.units if segment.kind == "CONSUME_QUEUE" else parts.messages).append(segment)
    return found


def _told(key: BrokerQueue, parts: _Parts, metadata: TieredMetadata) -> TieredQueueState:
    """What the metadata tells."""
    last = parts.units[-1] if parts.units else None
    handed = None if last is None or last.size is None else (last.base_offset + last.size) // CQ_UNIT.size
    both = (*parts.units, *parts.messages)
    size = sum(each.size or 0 for each in both)
    return TieredQueueState(*key, metadata.begins.get(key[1:]), handed, None, len(both), size)


def _compare(
    state: TieredQueueState, parts: _Parts, folder: Path, log: LogAccess, own: _Own | None, damage: DamageSink
) -> None:
    files = [(segment, segment_files(folder, segment)) for segment in (*parts.units, *parts.messages)]
    state.found = sum(len(found) > 0 for _, found in files)
    if any(len(found) > 1 for _, found in files):
        state.reason = SEVERAL
        return
    opened = {
        (segment.kind, segment.base_offset): data
        for segment, found in files
        if found and (data := _opened(found[0], damage)) is not None
    }
    if any(len(opened.get((s.kind, s.base_offset), b"")) < (s.size or 0) for s, _ in files):
        state.reason = SHORTER
    if len(opened) < len(files):
        state.reason = NOT_THERE
    state.equal = state.different = state.wrong = 0
    state.not_in_log = None if own is None else 0
    messages = _Messages.of(parts.messages, {base: d for (kind, base), d in opened.items() if kind == "COMMIT_LOG"})
    first: int | None = None
    for segment in parts.units:
        data = opened.get((segment.kind, segment.base_offset))
        if data is not None:
            units, begin = CQ_UNIT.array(data), segment.base_offset // CQ_UNIT.size
            if segment is parts.units[-1]:
                state.handed_to = begin + len(units)
            kept = np.flatnonzero(units["physical_offset"] >= messages.first)
            if first is None and len(kept):
                first = begin + int(kept[0])
            _judge(state, begin + kept, units[kept], messages, log, own)
    state.min_queue_offset = first if first is not None and len(opened) == len(files) else state.min_queue_offset
    if own is None and not state.reason:
        state.reason = NO_QUEUE


def _opened(path: Path, damage: DamageSink) -> memoryview | None:
    try:
        return map_file(path)
    except StoreFormatError as error:
        report(error.in_file(path), damage)
        return None


@dataclass(frozen=True, slots=True)
class _Messages:
    """The COMMIT_LOG segments of a queue that are there; `first`: where those of the metadata begin, `missing`: the
    ranges of those that cannot be read."""

    bases: Longs
    data: list[memoryview]
    first: int
    missing: list[range]

    @classmethod
    def of(cls, segments: Sequence[Segment], opened: Mapping[int, memoryview]) -> _Messages:
        missing = [
            range(each.base_offset + len(opened.get(each.base_offset, b"")), each.base_offset + (each.size or 0))
            for each in segments
        ]
        first = min((each.base_offset for each in segments), default=0)
        return cls(np.array(sorted(opened), np.int64), [opened[base] for base in sorted(opened)], first, missing)

    def record(self, place: int, size: int, key: tuple[str, int, int]) -> bytes | None:
        """The message at a place of the queue's own log; None where none of this queue and number is there."""
        number = int(np.searchsorted(self.bases, place, side="right")) - 1
        at = place - int(self.bases[number]) if number >= 0 else -1
        if number < 0 or at >= len(self.data[number]):
            return None
        try:
            message = decode_message(self.data[number], at)
        except StoreFormatError:
            return None
        is_own = (message.topic, message.queue_id, message.queue_offset) == key and message.total_size == size
        return bytes(self.data[number][at : at + size]) if is_own else None


def _judge(
    state: TieredQueueState,
    numbers: Longs,
    units: npt.NDArray[np.void],
    messages: _Messages,
    log: LogAccess,
    own: _Own | None,
) -> None:
    """Count what the units lead to; what nobody can read is not counted, and `reason` says that it is there."""
    counted: Counter[str] = Counter()
    at, is_named = (np.zeros(0, np.int64), np.zeros(0, np.bool_)) if own is None else found_at(own.numbers, numbers)
    for row, (number, (place, size, _)) in enumerate(zip(numbers.tolist(), units.tolist(), strict=True)):
        record = messages.record(place, size, (state.topic, state.queue_id, number))
        if record is None:
            counted["unread" if any(place in each for each in messages.missing) else "wrong"] += 1
        elif own is None:
            counted["unnamed"] += 1
        elif not is_named[row]:
            counted["not_in_log" if number < own.first else "unnamed"] += 1
        else:
            found = log.place(int(own.places[at[row]]))
            if found is None:
                counted["not_in_log"] += 1
            else:
                same = _same(record, bytes(found[0][found[1] : found[1] + size]))
                counted["equal" if same else "different"] += 1
    for name in ("equal", "different", "wrong", "not_in_log"):
        told = getattr(state, name)
        setattr(state, name, None if told is None else told + counted[name])
    if counted["unread"]:
        state.reason = NOT_THERE
    elif counted["unnamed"] and not state.reason:
        state.reason = NO_QUEUE


def _same(tiered: bytes, own: bytes) -> bool:
    return tiered[:OFFSET_AT] == own[:OFFSET_AT] and tiered[OFFSET_END:] == own[OFFSET_END:]
