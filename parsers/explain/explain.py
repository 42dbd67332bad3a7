"""Hex beside field names: what every byte of a store file is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import groupby, islice
from pathlib import Path

import numpy as np

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.checkpoints.epochs import EPOCH_FILE, MOST_BYTES
from parsers.commitlog.compiled.resync import written_from
from parsers.commitlog.dledger_headers.layout import ENTRY_INDEX_UNIT
from parsers.commitlog.record.layout import MAGIC_BLANK
from parsers.consumequeue.batch import BATCH_UNIT, TERMINATOR
from parsers.consumequeue.ext import CQ_EXT_UNIT, decode_ext_unit
from parsers.consumequeue.layout import CQ_UNIT, is_pre_blank, tags_code_kind
from parsers.damage.errors import NotThisFormat, StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.explain.commitlog import commitlog_lines
from parsers.explain.line import Line, bytes_line, layout_lines, printable, render
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import open_index
from parsers.layouts.layout import Layout
from parsers.store.places import DATABASE_PART, FileKind
from parsers.store.store_file import StoreFile, locate
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT
from parsers.values.java import decode_utf8

__all__ = ["Line", "explain", "explain_file", "render"]
TEXT_LINE_MAX = 4096
Title = Callable[[int, dict[str, int]], str]


def explain(file: Path, at: int = 0, count: int | None = None) -> Iterator[Line]:
    """The lines of a file, from the structure that holds byte `at`; `count` structures, all when None.

    What the file is follows from its place in a store (`…/commitlog/<number>`, `…/consumequeue/<topic>/<queue>/…`).
    From the first line on, the lines lie end to end up to the file's end, and cover every byte.

    Raises:
        NotThisFormat: not a place of a store file that is read here; UnreadableFile: the system refuses.
    """
    return explain_file(locate(file), at, count)


def explain_file(file: StoreFile, at: int = 0, count: int | None = None) -> Iterator[Line]:
    """`explain` for a file whose kind is known."""
    if file.kind not in EXPLAINERS:
        why = DATABASE_PART if file.kind == "rocksdb" else file.why or file.kind
        raise NotThisFormat(f"nothing to explain in such a file: {why}", path=file.path)
    if at < 0 or (count is not None and count < 0):
        raise ValueError(f"explain from byte {at}, {count} structures: neither can be negative")
    groups = (list(lines) for _, lines in groupby(EXPLAINERS[file.kind](file, at), key=lambda line: line.group))
    wanted = (lines for lines in groups if lines[-1].end > at)
    return (line for lines in islice(wanted, count) for line in lines)


def _consumequeue(file: StoreFile, at: int) -> Iterator[Line]:
    def title(number: int, row: dict[str, int]) -> str:
        queue_offset = (file.base_offset or 0) // CQ_UNIT.size + number
        if is_pre_blank(row["physical_offset"], row["msg_size"], row["tags_code"]):
            return f"unit {number}: queue offset {queue_offset}, pre-blank"
        kind = tags_code_kind(file.topic or "", row["tags_code"]).replace("_", " ")
        return f"unit {number}: queue offset {queue_offset}, tags_code is a {kind}"

    buf = map_file(file.path)
    return record_lines(buf, CQ_UNIT, 0, len(buf), at, title, "unwritten units")


def _batch_queue(file: StoreFile, at: int) -> Iterator[Line]:
    buf = map_file(file.path)

    def title(number: int, row: dict[str, int]) -> str:
        is_end = (row["physical_offset"], row["msg_size"]) == TERMINATOR
        return f"unit {number}: ends the file" if is_end else f"unit {number}"

    return record_lines(buf, BATCH_UNIT, 0, len(buf), at, title, "unwritten units")


def _ext(file: StoreFile, at: int) -> Iterator[Line]:
    buf = map_file(file.path)
    pos = 0
    try:
        while (unit := decode_ext_unit(buf, pos)) is not None:
            group = f"unit at {pos}: address {(file.base_offset or 0) + pos}"
            if pos + unit.size > at:
                yield from layout_lines(buf, pos, CQ_EXT_UNIT, group)
                yield from bytes_line(buf, pos + CQ_EXT_UNIT.size, pos + unit.size, group, "bitmap")
            pos += unit.size
    except StoreFormatError as error:
        yield from bytes_line(buf, pos, len(buf), f"damage at {pos}: {error.problem}", "damage")
        return
    yield from bytes_line(buf, pos, len(buf), f"not used from {pos}", "not used")


def _timerlog(file: StoreFile, at: int) -> Iterator[Line]:
    def title(number: int, row: dict[str, int]) -> str:
        position = (file.base_offset or 0) + number * TIMER_UNIT.size
        return f"unit {number}: timerlog position {position}"

    buf = map_file(file.path)
    blank_at = _timer_blank(buf)
    if at < blank_at:
        yield from record_lines(buf, TIMER_UNIT, 0, blank_at, at, title, "unwritten units")
    if blank_at < len(buf):
        group = f"end of file at {blank_at}"
        yield from layout_lines(buf, blank_at, TIMER_BLANK, group)
        yield from bytes_line(buf, blank_at + TIMER_BLANK.size, len(buf), group, "after the blank")


def _timer_blank(buf: memoryview) -> int:
    """Where the blank that ends the file lies; the file's size without one."""
    magics = TIMER_UNIT.array(buf)["magic"]
    for number in range(len(magics) - 1, max(-1, len(magics) - 3), -1):
        if magics[number] == MAGIC_BLANK:
            return number * TIMER_UNIT.size
    rest = len(magics) * TIMER_UNIT.size
    ends_with_blank = len(buf) - rest >= TIMER_BLANK.size and TIMER_BLANK.unpack(buf, rest)["magic"] == MAGIC_BLANK
    return rest if ends_with_blank else len(buf)


def _wheel(file: StoreFile, at: int) -> Iterator[Line]:
    buf = map_file(file.path)
    return record_lines(buf, TIMER_SLOT, 0, len(buf), at, lambda number, _: f"slot {number}", "empty slots")


def _index(file: StoreFile, at: int) -> Iterator[Line]:
    (opened,) = open_index([file], damage=unheard) or (None,)
    buf = map_file(file.path)
    if opened is None:
        yield from bytes_line(buf, 0, len(buf), "less than a header", "torn", INDEX_HEADER.title)
        return
    if at < INDEX_HEADER.size:
        yield from layout_lines(buf, 0, INDEX_HEADER, "header")
    if opened.geometry is None:
        why = f"slots and entries: unknown, {opened.why}"
        yield from bytes_line(buf, max(INDEX_HEADER.size, at), len(buf), why, "unknown")
        return
    slots_end = min(opened.geometry.entries_at, len(buf))
    if at < slots_end:
        yield from record_lines(
            buf, INDEX_SLOT, INDEX_HEADER.size, slots_end, at, lambda slot, _: f"slot {slot}", "empty slots"
        )
    title = partial(_entry_title, opened.slots)
    yield from record_lines(buf, INDEX_ENTRY, slots_end, len(buf), at, title, "unused entries")


def _entry_title(hash_slots: int, number: int, row: dict[str, int]) -> str:
    return f"entry {number}: slot {row['key_hash'] % hash_slots}"


def _dledger_index(file: StoreFile, at: int) -> Iterator[Line]:
    def title(number: int, _: dict[str, int]) -> str:
        return f"unit {number}: entry {(file.base_offset or 0) // ENTRY_INDEX_UNIT.size + number}"

    buf = map_file(file.path)
    return record_lines(buf, ENTRY_INDEX_UNIT, 0, len(buf), at, title, "unwritten units")


def _one(layout: Layout, name: str, file: StoreFile, at: int) -> Iterator[Line]:
    """A file of one structure, and the rest after it."""
    buf = map_file(file.path)
    if len(buf) < layout.size:
        yield from bytes_line(buf, 0, len(buf), f"less than a {name}", "torn", layout.title)
        return
    if at < layout.size:
        yield from layout_lines(buf, 0, layout, name)
    rest_is_zero = written_from(np.frombuffer(buf, np.uint8), layout.size, len(buf)) == len(buf)
    field = "zeros" if rest_is_zero else "not known"
    yield from bytes_line(buf, layout.size, len(buf), f"after the {name}", field)


def _epochs(file: StoreFile, at: int) -> Iterator[Line]:
    """The lines of a file of `EPOCH_FILE`, one after another."""
    buf, pos = map_file(file.path), 0
    for number, line in enumerate(bytes(buf[:MOST_BYTES]).splitlines(keepends=True)):
        if pos + len(line) > at:
            field = EPOCH_FILE.line(number)
            text = printable(decode_utf8(line.rstrip(b"\r\n")))
            yield from bytes_line(buf, pos, pos + len(line), f"line {number + 1}", field.name, text, field.meaning)
        pos += len(line)
    yield from bytes_line(buf, max(pos, at), len(buf), f"beyond {MOST_BYTES} bytes", "not read")


def _text(file: StoreFile, at: int) -> Iterator[Line]:
    """Lines of text, cut where they are too long to show; zeros, which no text has, are one line."""
    buf = map_file(file.path)
    data = np.frombuffer(buf, np.uint8)
    pos = 0
    while pos < len(buf):
        zeros_end = written_from(data, pos, len(buf))
        piece = bytes(buf[pos : pos + TEXT_LINE_MAX])
        found = piece.find(b"\n")
        end = zeros_end if zeros_end > pos else pos + (found + 1 if found >= 0 else len(piece))
        if end > at and zeros_end > pos:
            yield from bytes_line(buf, pos, end, f"zeros at {pos}", "zeros")
        elif end > at:
            text = printable(decode_utf8(piece[: end - pos]).rstrip("\n").replace("\t", "  "))
            yield from bytes_line(buf, pos, end, f"text at {pos}", "text", text)
        pos = end


EXPLAINERS: Mapping[FileKind, Callable[[StoreFile, int], Iterator[Line]]] = {
    "commitlog": commitlog_lines,
    "dledger": commitlog_lines,
    "dledger_index": _dledger_index,
    "dledger_state": _text,
    "consumequeue": _consumequeue,
    "batchconsumequeue": _batch_queue,
    "consumequeue_ext": _ext,
    "compaction_log": commitlog_lines,
    "compaction_queue": _batch_queue,
    "index": _index,
    "checkpoint": partial(_one, CHECKPOINT, "checkpoint"),
    "epochs": _epochs,
    "timerlog": _timerlog,
    "timerwheel": _wheel,
    "timercheck": partial(_one, TIMER_CHECK, "timercheck"),
    "config": _text,
    "abort": _text,
    "lock": _text,
}


def record_lines(
    buf: memoryview, layout: Layout, begin: int, end: int, at: int, title: Title, empty: str
) -> Iterator[Line]:
    """The structures from `begin` to `end`, starting with the one that holds byte `at`.

    A stretch of structures of zeros is one line, called `empty`; bytes that are no whole structure are named torn.
    """
    data, unwritten = np.frombuffer(buf, np.uint8)[:end], bytes(layout.size)
    whole_end = begin + (end - begin) // layout.size * layout.size
    pos = begin + max(0, at - begin) // layout.size * layout.size
    while pos < whole_end:
        if buf[pos : pos + layout.size] == unwritten:
            zeros_end = begin + (written_from(data, pos, whole_end) - begin) // layout.size * layout.size
            count = (zeros_end - pos) // layout.size
            yield from bytes_line(buf, pos, zeros_end, f"{empty} at {pos}", "zeros", f"{count} × {layout.size} bytes")
            pos = zeros_end
            continue
        number = (pos - begin) // layout.size
        yield from layout_lines(buf, pos, layout, title(number, layout.unpack(buf, pos)))
        pos += layout.size
    yield from bytes_line(buf, max(pos, whole_end), end, f"torn end at {whole_end}", "torn", layout.title)
