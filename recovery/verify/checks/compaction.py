"""Copies of compacted topics: the log of a queue against the units that lead into it, and against the CommitLog.

Source: CompactionLog#asyncPutMessage, CompactionAppendMessageCallback, CompactionService#putRequest @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from parsers.consumequeue.batch import BATCH_UNIT, Units, valid_units
from parsers.damage.errors import Damage
from parsers.damage.runs import runs
from parsers.kernels.arrays import Longs, Mask
from parsers.store.places import COMPACTION_POSITIONS
from parsers.store.store_file import QueueKey
from recovery.scan.intervals import Intervals, found_at
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

POSITIONS = COMPACTION_POSITIONS[0]


@dataclass(frozen=True, slots=True)
class CopyColumns:
    """The copies in one file of a queue's log, in order; `position` counts from the log's start, `base` is the file's.

    `original`: where the record lies in the CommitLog, -1 where that is not known; `same`: the copy is that record, or
    there is none to compare with. `damage`: what of the file is no record.
    """

    file: str
    base: int
    position: Longs
    msg_size: Longs
    queue_offset: Longs
    tags_code: Longs
    store_timestamp_ms: Longs
    crc_ok: Mask
    original: Longs
    same: Mask
    damage: tuple[Damage, ...]

    @property
    def damaged(self) -> Intervals:
        """Positions of bytes that are no record."""
        return Intervals.of(
            (self.base + one.file_pos, self.base + one.file_pos + one.length) for one in self.damage if one.length
        )

    def place(self, row: int) -> Place:
        """The bytes of one copy."""
        return Place(self.file, int(self.position[row]) - self.base, int(self.msg_size[row]))


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The units of the file of the queue that leads into a log's file, in order."""

    file: str
    units: Units
    position: Longs

    @classmethod
    def of(cls, units: Units, file: str) -> Self:
        return cls(file, units, units["physical_offset"].astype(np.int64))


class Missing(NamedTuple):
    """Messages with KEYS without a copy, and where the CommitLog has them."""

    queue_offset: Longs
    physical_offset: Longs


def check_positions(
    damages: Sequence[Damage], ahead: Mapping[QueueKey, tuple[int, int]], *, is_missing: bool
) -> Judgement:
    """What is wrong with position-checkpoint.

    Args:
        ahead: position and end of each queue whose position is not before its end, as queue offsets.
        is_missing: neither the file nor its backup is there, although a broker that had copies stopped in order.
    """
    told = [f"{damage.path.name if damage.path else POSITIONS}: {damage.reason}" for damage in damages]
    told += [
        f"{topic}/{queue_id}: position {at}, the queue ends at {end}" for (topic, queue_id), (at, end) in ahead.items()
    ]
    told += ["it is not there"] if is_missing else []
    place = Place(f"compaction/{POSITIONS}", 0, 0)
    return Judgement((Finding("compaction_positions_wrong", Span(), (place,), len(told), tuple(told)),) if told else ())


def check_loads(failures: Iterable[tuple[str, int, str]]) -> Judgement:
    """The queues whose copies a start does not take in: topic, queue, and what is wrong."""
    findings = (
        Finding(
            "compaction_files_apart",
            Span(topic, queue_id if queue_id >= 0 else None),
            (Place(f"compaction/compactionLog/{topic}", 0, 0), Place(f"compaction/compactionCq/{topic}", 0, 0)),
            1,
            (why,),
        )
        for topic, queue_id, why in failures
    )
    return Judgement(tuple(findings))


def check_copies(key: QueueKey, copies: CopyColumns, queue: FileColumns | None, *, clean_exit: bool) -> Judgement:
    """One file of a queue's log, and the units that lead into it; None where there is no such file.

    Copies after the last unit are what an unclean exit leaves.
    """
    findings = [*_damaged(key, copies), *_different(key, copies)]
    if queue is not None:
        findings += _wrong_units(key, copies, queue)
        without = ~np.isin(copies.position, queue.position)
        if not clean_exit:
            without &= copies.position < queue.position.max(initial=-1)
        findings += _without_unit(key, copies, queue.file, without)
    return Judgement(tuple(findings))


def check_missing(key: QueueKey, missing: Missing) -> Judgement:
    """Messages that no pass has come to, and that have no copy."""
    if not len(missing.queue_offset):
        return Judgement()
    first, last = int(missing.queue_offset[0]), int(missing.queue_offset[-1])
    place, count = int(missing.physical_offset[0]), len(missing.queue_offset)
    evidence = (
        f"log: {count} messages with KEYS, the first at {place}",
        f"compaction/compactionLog: none of their queue offsets, the first {first}, the last {last}",
    )
    places = (Place(f"compaction/compactionLog/{key[0]}/{key[1]}", 0, 0),)
    span = Span(*key, first, last + 1, place)
    return Judgement((Finding("compaction_message_missing", span, places, count, evidence),))


def _damaged(key: QueueKey, copies: CopyColumns) -> Iterator[Finding]:
    for one in copies.damage:
        place = Place(copies.file, one.file_pos, one.length)
        yield Finding("compaction_log_damaged", Span(*key), (place,), 1, (f"{copies.file}: {one.reason}",))


def _different(key: QueueKey, copies: CopyColumns) -> Iterator[Finding]:
    """Copies that are no longer their originals, those of a damaged body left out, which is a finding of its own."""
    for row in np.flatnonzero(~copies.same & copies.crc_ok).tolist():
        original, offset = int(copies.original[row]), int(copies.queue_offset[row])
        size = int(copies.msg_size[row])
        yield Finding(
            "compaction_copy_differs",
            Span(*key, offset, offset + 1, original, original + size),
            (copies.place(row), Place("", original, size)),
            1,
            (f"copy: {size} bytes, and its body fits its CRC", f"log: the record at {original} has other bytes"),
        )


def _wrong_units(key: QueueKey, copies: CopyColumns, queue: FileColumns) -> Iterator[Finding]:
    row, leads_to_copy = found_at(copies.position, queue.position)
    right = leads_to_copy.copy()
    if len(copies.position):
        for name in ("msg_size", "tags_code", "store_timestamp_ms", "queue_offset"):
            right &= queue.units[name] == getattr(copies, name)[row]
    right |= ~leads_to_copy & copies.damaged.hold(queue.position)  # the damage is the finding
    right &= valid_units(queue.units) & (queue.units["message_count"] == 1)
    for first, end in runs(~right):
        unit = dict(zip(BATCH_UNIT.offsets, queue.units[first].item(), strict=True))
        place = Place(queue.file, first * BATCH_UNIT.size, (end - first) * BATCH_UNIT.size)
        evidence = (f"unit: {unit}", f"{copies.file}: the record there says otherwise, or there is none")
        copy = (copies.place(int(row[first])),) if leads_to_copy[first] else ()
        span = Span(*key, unit["queue_offset"])
        yield Finding("compaction_unit_wrong", span, (place, *copy), end - first, evidence)


def _without_unit(key: QueueKey, copies: CopyColumns, queue_file: str, without: Mask) -> Iterator[Finding]:
    for first, end in runs(without):
        offset = int(copies.queue_offset[first])
        evidence = (f"{copies.file}: {end - first} records", f"{queue_file}: no unit leads to them")
        places = (copies.place(first), Place(queue_file, 0, 0))
        yield Finding("compaction_unit_wrong", Span(*key, offset), places, end - first, evidence)
