"""Each queue of a tiered store: how far it was handed over, and whether its segments have the log's messages.

A broker that starts goes by the sizes in the metadata, and for the last segment of a queue by the segment itself.
Source: FlatAppendFile#recover, #recoverFileSize, FlatMessageFile#getConsumeQueueCommitOffset @5.3.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.layout import HEAD
from parsers.commitlog.message import decode_message
from parsers.consumequeue.layout import CQ_UNIT
from parsers.errors import DamageSink, StoreFormatError, report
from parsers.mapped import map_file
from parsers.queues import StoreQueues
from parsers.store import QueueKey, Store
from parsers.tiered.metadata import Segment, TieredMetadata
from parsers.tiered.segments import segment_files, segment_units
from recovery.scan.log_access import LogAccess

NOT_GIVEN = "no folder of segments was given (--segments): what a cloud provider holds is not here"
NOT_THERE = "the folder has no file of some of its segments"
SEVERAL = "the folder has segments of several clusters for it"
OFFSET_AT = HEAD.offsets["physical_offset"]
OFFSET_END = OFFSET_AT + 8


@dataclass(slots=True)
class TieredQueueState:
    """One queue. Offsets are queue offsets, sizes bytes; unknown is None, and `reason` says why.

    Attributes:
        min_queue_offset, handed_to: the first one and the one behind the last that the tiered store has.
        waiting: messages of the broker's queue that are not handed over yet.
        segments, size: of both kinds, by the metadata.
        found: segments that have a file in the folder.
        equal: messages of the segments that the log has byte for byte, but for their place.
        different: messages that the log has otherwise.
        not_in_log: messages that the log does not have (any more): only the tiered store has them.
        wrong: units that lead to no message of this queue and number.
    """

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


def tiered_queues(
    store: Store, metadata: TieredMetadata, folder: Path | None, damage: DamageSink
) -> Iterator[TieredQueueState]:
    """The queues of the metadata, by topic and number. Segments that cannot be read go to `damage`."""
    log = LogAccess(store.commitlog)
    with StoreQueues(store, on_damage="collect", damage=damage) as queues:
        for key, parts in sorted(_by_queue(metadata.segments).items()):
            own = queues.get(key)
            following = None if own is None else own.ends(store.log_start)[1]
            state = _told(key, parts)
            if folder is None:
                state.reason = NOT_GIVEN
            else:
                own_places = {} if own is None else _places(own.batches())
                _compare(state, parts, folder, log, own_places, damage)
            if state.handed_to is not None and following is not None:
                state.waiting = max(0, following - state.handed_to)
            yield state


def _by_queue(segments: Sequence[Segment]) -> dict[QueueKey, _Parts]:
    found: dict[QueueKey, _Parts] = {}
    for segment in segments:
        if segment.queue is not None and segment.kind != "INDEX":
            parts = found.setdefault(segment.queue, _Parts())
            (parts.units if segment.kind == "CONSUME_QUEUE" else parts.messages).append(segment)
    return found


def _told(key: QueueKey, parts: _Parts) -> TieredQueueState:
    """What the metadata tells."""
    first = parts.units[0].base_offset // CQ_UNIT.size if parts.units else None
    last = parts.units[-1] if parts.units else None
    handed = None if last is None or last.size is None else (last.base_offset + last.size) // CQ_UNIT.size
    both = (*parts.units, *parts.messages)
    return TieredQueueState(*key, first, handed, None, len(both), sum(each.size or 0 for each in both))


def _places(batches: Iterator[pa.RecordBatch]) -> dict[int, int]:
    """Where the messages of a queue are in the log, by number."""
    places: dict[int, int] = {}
    for batch in batches:
        offsets, physical = (batch[name].to_pylist() for name in ("queue_offset", "physical_offset"))
        places.update(zip(offsets, physical, strict=True))
    return places


def _compare(
    state: TieredQueueState, parts: _Parts, folder: Path, log: LogAccess, own: dict[int, int], damage: DamageSink
) -> None:
    files = [(segment, segment_files(folder, segment)) for segment in (*parts.units, *parts.messages)]
    state.found = sum(len(found) > 0 for _, found in files)
    if any(len(found) > 1 for _, found in files):
        state.reason = SEVERAL
        return
    if state.found < len(files):
        state.reason = NOT_THERE
    state.equal = state.different = state.not_in_log = state.wrong = 0
    there = {(segment.kind, segment.base_offset): found[0] for segment, found in files if found}
    logs = _opened([(base, path) for (kind, base), path in there.items() if kind == "COMMIT_LOG"], damage)
    for (kind, base), path in there.items():
        if kind == "CONSUME_QUEUE":
            try:
                units = segment_units(path)
            except StoreFormatError as error:
                report(error.in_file(path), "collect", damage)
                continue
            if base == parts.units[-1].base_offset:
                state.handed_to = base // CQ_UNIT.size + len(units)
            _judge(state, base // CQ_UNIT.size, units, logs, log, own)


def _opened(files: list[tuple[int, Path]], damage: DamageSink) -> list[tuple[int, memoryview]]:
    opened = []
    for base, path in files:
        try:
            opened.append((base, map_file(path)))
        except StoreFormatError as error:
            report(error.in_file(path), "collect", damage)
    return opened


def _judge(
    state: TieredQueueState,
    first: int,
    units: npt.NDArray[np.void],
    logs: list[tuple[int, memoryview]],
    log: LogAccess,
    own: dict[int, int],
) -> None:
    for number, (place, size, _) in enumerate(units.tolist(), start=first):
        record = _record(state, number, place, size, logs)
        if record is None:
            state.wrong = (state.wrong or 0) + 1
            continue
        found = log.place(own[number]) if number in own else None
        if found is None:
            state.not_in_log = (state.not_in_log or 0) + 1
        elif _same(record, bytes(found[0][found[1] : found[1] + size])):
            state.equal = (state.equal or 0) + 1
        else:
            state.different = (state.different or 0) + 1


def _record(
    state: TieredQueueState, number: int, place: int, size: int, logs: list[tuple[int, memoryview]]
) -> bytes | None:
    """The bytes of the message that a unit leads to; None where none of this queue and number is there."""
    buffer = next(((base, data) for base, data in logs if base <= place < base + len(data)), None)
    if buffer is None:
        return None
    at = place - buffer[0]
    try:
        message = decode_message(buffer[1], at)
    except StoreFormatError:
        return None
    is_own = (message.topic, message.queue_id, message.queue_offset) == (state.topic, state.queue_id, number)
    return bytes(buffer[1][at : at + size]) if is_own and message.total_size == size else None


def _same(tiered: bytes, own: bytes) -> bool:
    return tiered[:OFFSET_AT] == own[:OFFSET_AT] and tiered[OFFSET_END:] == own[OFFSET_END:]
