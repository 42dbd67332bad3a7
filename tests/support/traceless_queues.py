"""Edits to queues and index that nobody can tell: what is left is a store that a broker could have left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

import numpy as np

from parsers.commitlog.record.message import decode_message
from parsers.commitlog.record.tags import tags_hash
from parsers.consumequeue.layout import CQ_UNIT, MAX_EXT_ADDRESS
from parsers.damage.errors import StoreFormatError
from parsers.index.layout import INDEX_ENTRY
from parsers.index.open import open_index
from parsers.store.store_file import classify
from parsers.values.topics import SCHEDULE_TOPIC
from recovery.verify.checks.log.log import LOCK_WAIT_MS
from recovery.verify.settle.index_entries import read_places
from tests.support.bit_flips import field_of_each_byte
from tests.support.log_folders import log_files, log_start
from tests.support.opened import opened
from tests.support.store_changes import Change, Files

KNOWN_TO_THE_KEY = {"key_hash", "physical_offset", "time_diff_s"}
"""Fields of an index entry that only the keys of its message can prove."""


def left_no_trace_in_queue(change: Change, base: Path, root: Path, left: Files) -> bool:
    """A unit at the end of its queue is zeroed whose record the same damage took, or it has another tags code or size,
    which only the record could prove; units of expired messages are changed into others of expired messages, whose
    records nobody has. A delivery time is by no more beside its own than the broker's clocks were. In place of the
    address of an ext unit stands what that says, as of a broker that had them switched off for a time.

    A queue's last file without a unit of a message that is left is taken away; one without a unit is added after a full
    one, or one with units of expired messages only: a cleaner keeps the last file of a queue.
    """
    if change.what == "new":
        return _follows_full_file(change, left) or _is_all_expired(left[change.file], left)
    if change.what == "gone":
        return _was_expired(change, base, left) or _was_of_lost_tail(change, base, root)
    if change.what == "size" or not PurePath(change.file).name.isdigit():
        return False
    start = log_start(left)
    before, after = (base / change.file).read_bytes(), left[change.file]
    return all(
        _stays_expired(slot, (before, after), start)
        or (
            (_is_zeroed(slot, change, after) or _starts_as_before(slot, (before, after)))
            and not _has_record(CQ_UNIT.array(before)[slot], base, root)
        )
        or _is_as_late(slot, (before, after), change.file, base)
        or _has_its_hash(slot, (before, after), base)
        for slot in range(change.start // CQ_UNIT.size, -(-change.end // CQ_UNIT.size))
    )


def left_no_trace_in_index(change: Change, base: Path, root: Path, left: Files) -> bool:
    """Entries of expired messages are changed into others; a file of expired messages is gone, or the newest one of a
    broker that crashed, which is flushed when the next one is made.

    The only index file is some unwritten entries shorter: no file is left to tell how many entries one has. A whole
    file of a crashed broker is zeroed: its messages are gone or were not dispatched yet.
    """
    if change.what == "bytes" and _is_of_expired_entry(change, base, root, left):
        return True
    if change.what == "gone":
        (file,) = open_index([classify(base, base / change.file)])
        newest = max(path.name for path in (base / "index").iterdir())
        may_be_lost = _crashed(base, left) and change.file == f"index/{newest}"
        return may_be_lost or file.header["end_physical_offset"] < log_start(left)
    if change.what == "size":
        return _lacks_unwritten_entries(change, base, left)
    return never_reached_the_disk(change, base, left)


def never_reached_the_disk(change: Change, base: Path, left: Files) -> bool:
    """An index file of a broker that crashed, without any byte."""
    return (
        change.file.startswith("index/")
        and _crashed(base, left)
        and change.what == "bytes"
        and not any(left[change.file])
    )


def _crashed(base: Path, left: Files) -> bool:
    return "abort" in left or "halt" in base.name


def _is_of_expired_entry(change: Change, base: Path, root: Path, left: Files) -> bool:
    """Key hash, offset or seconds of entries whose messages are expired, before as after."""
    start = log_start(left)
    fields = set(field_of_each_byte(classify(root, root / change.file))[change.start : change.end])
    if not fields <= KNOWN_TO_THE_KEY:
        return False
    offsets = []
    for store in (base, root):
        (file,) = open_index([classify(store, store / change.file)])
        numbers = np.arange(
            (change.start - file.entry_at(0)) // INDEX_ENTRY.size,
            1 + (change.end - 1 - file.entry_at(0)) // INDEX_ENTRY.size,
        )
        offsets.append(read_places(file, numbers))
    return bool((np.concatenate(offsets) < start).all())


def _lacks_unwritten_entries(change: Change, base: Path, left: Files) -> bool:
    whole, cut = (base / change.file).read_bytes(), left[change.file]
    is_only = sum(name.startswith("index/") for name in left) == 1
    return is_only and (len(whole) - len(cut)) % INDEX_ENTRY.size == 0 and not any(whole[len(cut) :])


def _was_expired(change: Change, base: Path, left: Files) -> bool:
    """The file had units of expired messages only, or none."""
    return _is_all_expired((base / change.file).read_bytes(), left)


def _was_of_lost_tail(change: Change, base: Path, root: Path) -> bool:
    """The queue's last file, with units alone whose records the same damage took."""
    units = CQ_UNIT.array((base / change.file).read_bytes())
    is_last = (base / change.file) == max((base / change.file).parent.iterdir())
    return is_last and not any(_has_record(unit, base, root) for unit in units)


def _is_all_expired(queue_file: bytes, left: Files) -> bool:
    units = CQ_UNIT.array(queue_file)
    return bool((units["physical_offset"] < log_start(left)).all())


def _follows_full_file(change: Change, left: Files) -> bool:
    """The file holds no unit, and the one before it is full: a broker that was to write its first unit made it."""
    folder, _, name = change.file.rpartition("/")
    before = left.get(f"{folder}/{int(name) - len(left[change.file]):020d}") if name.isdigit() else None
    return before is not None and not any(left[change.file]) and any(before[-CQ_UNIT.size :])


def _stays_expired(slot: int, contents: Sequence[bytes], start: int) -> bool:
    """The unit was of an expired message, and is again."""
    units = [unit for content in contents for unit in CQ_UNIT.array(content)[slot : slot + 1]]
    return len(units) == len(contents) and all(
        0 <= unit["physical_offset"] < start and unit["msg_size"] > 0 for unit in units
    )


def _starts_as_before(slot: int, contents: Sequence[bytes]) -> bool:
    """The unit leads to the place that it led to."""
    before, after = (content[slot * CQ_UNIT.size :][: CQ_UNIT.offsets["msg_size"]] for content in contents)
    return before == after and all(len(content) >= (slot + 1) * CQ_UNIT.size for content in contents)


def _has_other_tags(slot: int, contents: Sequence[bytes]) -> bool:
    """Only the unit's tags code changed."""
    before, after = (content[slot * CQ_UNIT.size :][: CQ_UNIT.offsets["tags_code"]] for content in contents)
    return before == after and all(len(content) >= (slot + 1) * CQ_UNIT.size for content in contents)


def _is_as_late(slot: int, contents: Sequence[bytes], file: str, base: Path) -> bool:
    """The delivery time of a delayed message, as far from the right one as an old broker's clocks may be apart."""
    if PurePath(file).parts[1] != SCHEDULE_TOPIC or not _has_other_tags(slot, contents):
        return False
    before, after = (int(CQ_UNIT.array(content)[slot]["tags_code"]) for content in contents)
    return abs(after - before) <= LOCK_WAIT_MS and not opened(base)[1].version.reckons_delays_from_store_time


def _has_its_hash(slot: int, contents: Sequence[bytes], base: Path) -> bool:
    """The hash of its message's tags stands in place of an address, and the rest of the unit is as it was."""
    before, after = (CQ_UNIT.array(content)[slot] for content in contents)
    if before["tags_code"] > MAX_EXT_ADDRESS or not _has_other_tags(slot, contents):
        return False
    place = int(before["physical_offset"])
    name = next((path for path in log_files(base) if 0 <= place - int(path.name) < path.stat().st_size), None)
    if name is None:
        return False
    message = decode_message(name.read_bytes(), place - int(name.name))
    return bool(after["tags_code"] == tags_hash(message.property_value("TAGS")))


def _is_zeroed(slot: int, change: Change, after: bytes) -> bool:
    """What changed of the unit is zero."""
    at = slot * CQ_UNIT.size
    return not any(after[max(change.start, at) : min(change.end, at + CQ_UNIT.size)])


def _has_record(unit: np.void, base: Path, root: Path) -> bool:
    """The message of the base's unit is still in the log."""
    return bool(unit["msg_size"] > 0) and _same_record(int(unit["physical_offset"]), base, root)


def _same_record(physical_offset: int, base: Path, root: Path) -> bool:
    for path in log_files(base):
        at = physical_offset - int(path.name) if path.name.isdigit() else -1
        damaged = root / path.relative_to(base)
        if 0 <= at < path.stat().st_size and damaged.is_file():
            try:
                return decode_message(path.read_bytes(), at) == decode_message(damaged.read_bytes(), at)
            except StoreFormatError:
                return False
    return False
