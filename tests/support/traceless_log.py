"""Edits to the log and the checkpoint that nobody can tell: what is left is a store that a broker could have left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.message import Message, decode_message
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import StoreFormatError, unheard
from parsers.index.open import open_index
from parsers.store.store import open_store
from parsers.store.store_file import classify
from parsers.values.topics import SCHEDULE_TOPIC
from recovery.verify.checks.log.log import LOCK_WAIT_MS
from recovery.verify.settle.index_entries import last_written, read_places
from tests.support.bit_flips import field_of_each_byte
from tests.support.log_folders import begins_late, is_numbered_log_file, is_of_log, log_files, log_setting
from tests.support.opened import opened
from tests.support.store_changes import Change, Files

KNOWN_TO_NOBODY = {
    "flag",
    "born_timestamp_ms",
    "born_host",
    "store_host",
    "reconsume_times",
    "prepared_transaction_offset",
    "after the blank",
}
"""Fields of a message that have no CRC and no second place in the store (docs/damage.md), and what follows the record
that ends a file: a piece of the message that did not fit. CommitLog.DefaultAppendMessageCallback#doAppend @4.7.1."""
KNOWN_TO_THE_UNIT = {"queue_id", "queue_offset"}

UNFORCED_MS = 15_000
"""A log is forced to disk every 10 s at least; what was dispatched since may be lost to the log."""
DAMAGED_END_MS = 3_600_000
"""So much later than the last message that can be read a damaged one behind it is taken to have been."""
CHECKPOINT_INTERVAL_MS = 65_000
"""The checkpoint is written every 60 s at least."""
TIMES_SET, INDEX_TIME = 3, 2
"""The checkpoint begins with so many times."""


def left_no_trace_in_log(change: Change, base: Path, root: Path, left: Files) -> bool:
    """A log file is in another of the log's folders than it was in; one without a record is taken away, or the first
    one of a log that a cleaner has shortened before; fields of a message changed that nothing else in the store knows
    of."""
    if change.what in ("gone", "new") and _is_elsewhere(change, base, left):
        return True
    if change.what == "gone" and begins_late(base) and change.file.endswith(min(p.name for p in log_files(base))):
        return True
    return _was_zero(change, base) or (change.what == "bytes" and _nobody_knows(change, base, root))


def left_no_trace_in_checkpoint(change: Change, base: Path, root: Path, left: Files) -> bool:
    """The confirmPhyOffset or logicsPhysicalOffset is set to another offset of the log, or to a negative one, which is
    none yet, or the masterFlushedOffset to any.

    A time is set to another one of the log's, or to one that a cleaned log may have had, or, of a broker that ended
    without shutting down, the queues' or the index's to one of messages that a loss of power took.
    """
    is_known = _offsets_not_beyond_the_log(change, left) or _times_of_the_log(change, base, root)
    return change.what == "bytes" and is_known


def _is_elsewhere(change: Change, base: Path, left: Files) -> bool:
    """The log has the file once, with the bytes that it had, in one folder or another."""
    name = Path(change.file).name
    before = [path.read_bytes() for path in log_files(base) if path.name == name]
    return before == [content for file, content in left.items() if is_of_log(file) and Path(file).name == name]


def _was_zero(change: Change, base: Path) -> bool:
    return change.what == "gone" and not any((base / change.file).read_bytes())


def _nobody_knows(change: Change, base: Path, root: Path) -> bool:
    """Each changed field of the record is one that nothing else knows, or says the same to all that know it."""
    file = root / change.file
    fields = set(field_of_each_byte(classify(file.parents[1], file))[change.start : change.end]) - KNOWN_TO_NOBODY
    before = record_around(change, base)
    after = None if before is None else _record_at(file, before.physical_offset - int(file.name))
    if not fields or before is None or after is None:
        return not fields
    untold = {"properties", "sys_flag"} if _dispatched_alike(before, after, base, root) else set()
    untold |= KNOWN_TO_THE_UNIT if _has_no_unit(before, base, root) else set()
    untold |= {"store_timestamp_ms"} if _stays_in_order(before, after, base, root) else set()
    return fields <= untold


def record_around(change: Change, root: Path) -> Message | None:
    """The record that the changed bytes belong to, None where damage before it hides where it starts."""
    content, at = (root / change.file).read_bytes(), 0
    try:
        while at <= change.start:
            message = decode_message(content, at)
            at += message.total_size
    except StoreFormatError:
        return None
    return message


def _record_at(file: Path, at: int) -> Message | None:
    """The record that starts there, None without one."""
    try:
        return decode_message(file.read_bytes(), at)
    except StoreFormatError:
        return None


def _dispatched_alike(before: Message, after: Message, base: Path, root: Path) -> bool:
    """Queue and index get the same of both, as far as they got anything of the first: of a message that was rolled back
    nothing, and of a delayed one no tags, unless the index has them."""
    if before.transaction_type == after.transaction_type == "rollback":
        return True
    of_index = {"KEYS", "UNIQ_KEY"} | ({"TAGS"} if opened(base)[1].version.indexes_tags else set())
    of_unit = {"DELAY"} if before.topic == SCHEDULE_TOPIC else {"DELAY", "TAGS"}
    read = of_index if _is_in_index(before, root) else set()
    if before.transaction_type != "prepared" and not _has_no_unit(before, base, root):
        read = read | of_unit
    same_type = before.transaction_type == after.transaction_type or (
        {before.transaction_type, after.transaction_type} <= {"none", "commit"}
    )
    return same_type and all(before.property_value(name) == after.property_value(name) for name in read)


def _is_in_index(message: Message, root: Path) -> bool:
    """An entry of an index file that can be read leads to the message."""
    files = open_index(open_store(root).index, damage=unheard)
    readable = [file for file in files if file.geometry is not None]
    return any(message.physical_offset in read_places(file, np.arange(1, last_written(file) + 1)) for file in readable)


def _stays_in_order(before: Message, after: Message, base: Path, root: Path) -> bool:
    """The record's store time still lies between its neighbours', as far as its broker kept them in order, and in the
    same second for the index; of a delayed message a unit has it, too."""
    store, known = opened(base, config=log_setting(base))
    columns = ["physical_offset", "store_timestamp"]
    log = pa.Table.from_batches(list(read_commitlog(store, columns=columns, damage=unheard)))
    places, times = (log[name].cast(pa.int64()).to_pylist() for name in columns)
    row = places.index(before.physical_offset)
    beside = [times[at] // 1000 for at in (row - 1, row + 1) if 0 <= at < len(times)]
    if len(beside) < 2 or (before.topic == SCHEDULE_TOPIC and not _has_no_unit(before, base, root)):
        return False
    apart_ms = 0 if known.version.stamps_batches_in_lock else LOCK_WAIT_MS
    begins = [file.header["begin_timestamp_ms"] for file in open_index(store.index, damage=unheard)]
    stored = before.store_timestamp_ms, after.store_timestamp_ms
    same_second = all(len({(time - begin) // 1000 for time in stored}) == 1 for begin in begins)
    return same_second and beside[0] - apart_ms <= stored[1] <= beside[1] + apart_ms


def _has_no_unit(message: Message, base: Path, root: Path) -> bool:
    """The record had no unit yet, its topic was deleted since, or the same damage took it."""
    folder = f"consumequeue/{message.topic}/{message.queue_id}"
    sizes = {path.stat().st_size for path in (base / folder).glob("*")}
    place = message.queue_offset * CQ_UNIT.size
    for size in sizes:
        file = root / folder / f"{place - place % size:020d}"
        unit = file.read_bytes()[place % size :][: CQ_UNIT.size] if file.is_file() else b""
        if any(unit) and CQ_UNIT.unpack(unit)["physical_offset"] == message.physical_offset:
            return False
    return True


def _times_by_offset(root: Path, base: Path) -> dict[int, int]:
    """The store time (epoch ms) of each message that can be read."""
    store, _ = opened(root, config=log_setting(base))
    columns = ["physical_offset", "store_timestamp"]
    batches = [batch.to_pydict() for batch in read_commitlog(store, columns=columns, damage=unheard)]
    return {at: round(time.timestamp() * 1000) for batch in batches for at, time in zip(*batch.values(), strict=True)}


def _offsets_not_beyond_the_log(change: Change, left: Files) -> bool:
    """Only the checkpoint's offsets changed, and those into this log do not lie beyond it; the master's may."""
    ends = [int(Path(name).name) + len(data) for name, data in left.items() if is_numbered_log_file(name)]
    row = CHECKPOINT.unpack(left["checkpoint"])
    offsets = [row[name] for name in ("confirm_physical_offset", "logics_physical_offset")]
    is_theirs = CHECKPOINT.offsets["master_flushed_offset"] <= change.start and change.end <= CHECKPOINT.size
    return is_theirs and all(offset <= max(ends, default=0) for offset in offsets)


def _times_of_the_log(change: Change, base: Path, root: Path) -> bool:
    """Only times of the checkpoint changed, to some between those of the first message and the last that there was."""
    fields = range(change.start // 8, -(-change.end // 8))
    times, before = _times_by_offset(root, base), _times_by_offset(base, base)
    stored = times.values()
    is_cut = any(not path.stat().st_size for path in log_files(root))  # an empty file may have had later messages
    lost_ms = UNFORCED_MS if is_cut or ((root / "abort").exists() and 0 not in fields) else 0
    if max(before) not in times:  # nothing tells how much later than the rest the damaged end was
        lost_ms = DAMAGED_END_MS
    expired_ms = CHECKPOINT_INTERVAL_MS if begins_late(root) else 0
    row = list(CHECKPOINT.unpack((root / "checkpoint").read_bytes()).values())
    return fields.stop <= TIMES_SET and all(
        (at == INDEX_TIME and row[at] == 0)  # until an index file is full
        or min(stored, default=0) - expired_ms <= row[at] <= max(stored, default=0) + lost_ms
        for at in fields
    )
