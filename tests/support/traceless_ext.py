"""Edits to ext files that nobody can tell: bytes that no unit of a living message leads to, where the files still hold
together.

A cleaner takes files from the front, and a file is written from front to back; only the last one may end early.
"""

from __future__ import annotations

from pathlib import Path, PurePath

from parsers.consumequeue.ext import CQ_EXT_UNIT, END_BLANK, END_OF_FILE
from parsers.consumequeue.layout import CQ_UNIT, MAX_EXT_ADDRESS
from parsers.values.java import LONG_MIN
from tests.support.log_folders import log_start
from tests.support.store_changes import Change, Files, files_once

UNIT = CQ_EXT_UNIT.size
OF_A_UNIT = range(CQ_EXT_UNIT.offsets["tags_code"], CQ_EXT_UNIT.offsets["bitmap_size"])
"""Tags code and store time: what only the unit of the message can prove. The bases have no bit maps."""


def left_no_trace_in_ext(change: Change, base: Path, left: Files) -> bool:
    """No unit leads to the edit; files at either end of the queue are gone, or one that a broker makes is there; or of
    a file tags codes and store times changed, what is behind its marker, or, of the last one, all bytes to the end are
    zero."""
    if _is_led_to(change, base, left):
        return False
    match change.what:
        case "gone":
            return not (_others(change, left, before=True) and _others(change, left, before=False))
        case "new":
            return _follows_full_file(change, left)
        case "bytes":
            return _holds_together(change, left)
        case "size":
            return False


def _is_led_to(change: Change, base: Path, left: Files) -> bool:
    """Units of the queue lead to the changed bytes, before or after; where the file is gone, after: a queue without a
    unit need not have any."""
    _, topic, queue_id, name = change.file.split("/")
    folder = f"consumequeue/{topic}/{queue_id}/"
    start = log_start(left)
    for files in (left,) if change.what == "gone" else (files_once(base), left):
        for file in (content for path, content in files.items() if path.startswith(folder)):
            units = CQ_UNIT.array(file)
            units = units[(units["tags_code"] <= MAX_EXT_ADDRESS) & (units["physical_offset"] >= start)]
            at = (units["tags_code"].astype("int64") ^ LONG_MIN) - int(name)
            if ((at < change.end) & (at + UNIT > change.start)).any():
                return True
    return False


def _others(change: Change, left: Files, *, before: bool) -> bool:
    """The queue has files before this one, or after it."""
    folder, _, name = change.file.rpartition("/")
    bases = [int(PurePath(file).name) for file in left if file.startswith(f"{folder}/")]
    return any(base < int(name) if before else base > int(name) for base in bases)


def _holds_together(change: Change, left: Files) -> bool:
    content = left[change.file]
    end = _end_of_units(content)
    if all(at < end and at % UNIT in OF_A_UNIT for at in range(change.start, change.end)):
        return True
    if content[end : end + len(END_OF_FILE)] == END_OF_FILE and end + UNIT > len(content) - END_BLANK:
        return change.start >= end + len(END_OF_FILE)
    return not any(content[change.start :]) and not _others(change, left, before=False)


def _end_of_units(content: bytes) -> int:
    """Where units of one size end that follow one another."""
    at = 0
    while at + UNIT <= len(content) and CQ_EXT_UNIT.unpack(content, at)["unit_size"] == UNIT:
        at += UNIT
    return at


def _follows_full_file(change: Change, left: Files) -> bool:
    """The file holds nothing, and the one before it is full: a broker that was to write its first unit made it."""
    folder, _, name = change.file.rpartition("/")
    before = left.get(f"{folder}/{int(name) - len(left[change.file]):020d}", b"")
    end = _end_of_units(before)
    return not any(left[change.file]) and before[end : end + len(END_OF_FILE)] == END_OF_FILE
