"""The copies of a store's compacted topics as the columns that `check_copies` compares, a file at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.record.message import Message
from parsers.compaction.copies import read_copies
from parsers.compaction.positions import NO_PASS, read_positions
from parsers.compaction.sparse_queue import SparseQueue
from parsers.consumequeue.layout import PRE_BLANK
from parsers.consumequeue.read import units
from parsers.damage.errors import Damage, StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.kernels.arrays import Longs, Mask
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile
from recovery.broker.compaction import load_compaction
from recovery.broker.mapped_file_queue import LoadFailed
from recovery.broker.store_folder import read_evidence
from recovery.knowledge.inference import StoreKnowledge
from recovery.scan.intervals import Intervals
from recovery.scan.log_access import LogAccess
from recovery.verify.checks.compaction import (
    CopyColumns,
    FileColumns,
    Missing,
    check_copies,
    check_loads,
    check_missing,
    check_positions,
)
from recovery.verify.checks.files import relative
from recovery.verify.checks.queue.batch import written_units
from recovery.verify.findings.finding import Judgement, joined
from recovery.verify.settle.copy_kernel import same_records

COLUMNS = ("position", "total_size", "queue_offset", "tags_code", "store_timestamp", "crc_ok")
NO_PLACE = -1
MOST_HOLES = 100_000
"""Queue offsets without a copy that are looked at in one queue: each of them costs a look into the log."""


def judge_compaction(store: Store, known: StoreKnowledge, lost: Intervals) -> Judgement:
    """The findings about a store's copies of compacted topics; none where it has none.

    Args:
        lost: ranges of the CommitLog that a finding covers.
    """
    damages: list[Damage] = []
    positions = read_positions(store.config, damage=damages.append)
    if not (store.compaction_logs or store.compaction_queues):
        return check_positions(damages, {}, is_missing=False)
    log = LogAccess(store.commitlog)
    judged = [check_loads(_loads(store, known))]
    ahead: dict[QueueKey, tuple[int, int]] = {}
    for key, files in store.compaction_logs.items():
        queue = SparseQueue.of(store.compaction_queues.get(key, []), damage=unheard)
        by_name = {held.file.name: held.file for held in queue.files}
        offsets: list[Longs] = []
        for file in files:
            copies = _copies(store, log, key, file, lost)
            offsets.append(copies.queue_offset)
            found = by_name.get(file.name)
            rows = FileColumns.of(written_units(found), relative(store, found)) if found is not None else None
            if rows is not None:  # a copy that is damaged was made
                offsets.append(rows.units["queue_offset"][copies.damaged.hold(rows.position)].astype(np.int64))
            judged.append(check_copies(key, copies, rows, clean_exit=not store.abort_present))
        if positions is None or (damages and key not in positions):  # what passes dropped looks the same as missing
            continue
        if queue.max_queue_offset <= (position := positions.get(key, NO_PASS)):
            ahead[key] = position, queue.max_queue_offset
        known_from = max(positions.get(key, NO_PASS), queue.min_queue_offset - 1)
        there = np.sort(np.concatenate(offsets))
        judged.append(check_missing(key, _missing(store, log, key, there, known_from, queue.max_queue_offset)))
    writes_positions = known.settings.enable_compaction and not store.abort_present
    is_missing = positions is None and not damages and writes_positions
    return joined([*judged, check_positions(damages, ahead, is_missing=is_missing)])


def _loads(store: Store, known: StoreKnowledge) -> Iterator[tuple[str, int, str]]:
    """Topic, queue and what is wrong, for each queue whose copy a start of this version does not take in."""
    for found in read_evidence(store.root, known.settings).compacted:
        queue_id = -1 if found.queue_id is None else found.queue_id
        try:
            loaded = load_compaction((found,), known.version, known.settings)
        except LoadFailed as failed:
            yield found.topic, queue_id, f"{failed.rule}: {failed.evidence}"
            continue
        for one in loaded.values():
            if one.why_not is not None:
                yield found.topic, queue_id, one.why_not


def _copies(store: Store, log: LogAccess, key: QueueKey, file: StoreFile, lost: Intervals) -> CopyColumns:
    damage: list[Damage] = []
    batches = list(read_copies([file], columns=COLUMNS, damage=damage.append))
    table = pa.Table.from_batches(batches) if batches else None

    def longs(name: str) -> Longs:
        if table is None:
            return np.empty(0, np.int64)
        numbers: Longs = pc.fill_null(table[name].cast(pa.int64()), -1).to_numpy()
        return numbers

    position, size, offset = longs("position"), longs("total_size"), longs("queue_offset")
    place = _originals(store.queues.get(key, ()), offset)
    place[lost.hold(place)] = NO_PLACE
    same = _same(file, store.commitlog, position, place, size)
    for row in np.flatnonzero(~same):
        same[row] = not _is_of(log.message(int(place[row])), key, int(offset[row]))
    return CopyColumns(
        file=relative(store, file),
        base=file.base_offset or 0,
        position=position,
        msg_size=size,
        queue_offset=offset,
        tags_code=longs("tags_code"),
        store_timestamp_ms=longs("store_timestamp") // 1000,
        crc_ok=longs("crc_ok") == 1,
        original=place,
        same=same,
        damage=tuple(damage),
    )


def _is_of(message: Message | None, key: QueueKey, queue_offset: int) -> bool:
    """The unit leads to a message of its place, or to no message; else it is the unit that is wrong."""
    return message is None or (message.topic, message.queue_id, message.queue_offset) == (*key, queue_offset)


def _originals(files: Sequence[StoreFile], queue_offset: Longs) -> Longs:
    """Where the ordinary queue says that the messages of these offsets start; NO_PLACE where it does not say it."""
    found = np.full(len(queue_offset), NO_PLACE, np.int64)
    for file in files:
        try:
            view = units(file)
        except StoreFormatError:
            continue
        first = (file.base_offset or 0) // view.dtype.itemsize
        rows = np.flatnonzero((queue_offset >= first) & (queue_offset < first + len(view)))
        unit = view[queue_offset[rows] - first]
        is_message = (unit["msg_size"] > 0) & (unit["msg_size"] != PRE_BLANK["msg_size"])
        found[rows[is_message]] = unit["physical_offset"][is_message]
    return found


def _same(file: StoreFile, log: Sequence[StoreFile], position: Longs, place: Longs, size: Longs) -> Mask:
    """Whether each copy is its original; True where the log does not have that."""
    same = np.ones(len(position), np.bool_)
    copy = np.frombuffer(map_file(file.path), np.uint8) if len(position) else np.empty(0, np.uint8)
    for log_file in log:
        base = log_file.base_offset or 0
        rows = np.flatnonzero((place >= base) & (place + size <= base + log_file.size))
        if len(rows):
            original = np.frombuffer(map_file(log_file.path), np.uint8)
            at = position[rows] - (file.base_offset or 0)
            is_copy = np.zeros(len(rows), np.bool_)
            same_records(copy, at, original, place[rows] - base, size[rows], is_copy)
            same[rows] = is_copy
    return same


def _missing(store: Store, log: LogAccess, key: QueueKey, there: Longs, after: int, end: int) -> Missing:
    """Messages with KEYS that the log has between `after` and `end`, both queue offsets left out, and no copy."""
    holes = holes_between(there, after, end)
    places = _originals(store.queues.get(key, ()), holes)
    has_key = np.zeros(len(holes), np.bool_)
    for row in np.flatnonzero(places >= 0):
        message = log.message(int(places[row]))
        has_key[row] = message is not None and bool((message.property_value("KEYS") or "").strip())
    return Missing(holes[has_key], places[has_key])


def holes_between(there: Longs, after: int, end: int) -> Longs:
    """The first MOST_HOLES numbers between `after` and `end`, both left out, that are not among these."""
    kept = np.unique(there[(there > after) & (there < end)])
    before, behind = np.concatenate(([after], kept)), np.concatenate((kept, [max(end, after + 1)]))
    until = np.minimum(np.cumsum(np.minimum(behind - before - 1, MOST_HOLES)), MOST_HOLES)
    widths = np.diff(until, prepend=0)
    first = np.repeat(before + 1 - (until - widths), widths)
    holes: Longs = first + np.arange(len(first))
    return holes
