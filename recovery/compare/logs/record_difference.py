"""One place of the log in several replicas: the record each has there, the fields that differ, and which copy is wrong.

A copy is proven wrong by a check that it fails while another passes it (no record, a CRC), or by most of the replicas
holding another one; else `recovery.compare.own_dispatch` asks queues and index. Otherwise it stays open which is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsers.commitlog.compiled.resync import CRC_RIGHT, crc_verdict
from parsers.commitlog.compiled.shape import own_offset, shape_of
from parsers.commitlog.record.layout import RECORD_START, SMALLEST_MESSAGE
from parsers.explain.commitlog import message_lines
from parsers.explain.line import Line
from recovery.compare.logs.log_pair import LogBytes

State = Literal["record", "crc_wrong", "no_record", "unwritten", "no_file"]
DecidedBy = Literal["check", "majority", "dispatch"]
MOST_RECORD_BYTES = 1 << 26
MOST_FIELDS = 32
HEX_SHOWN = 32


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field that replicas hold otherwise: `at` is its first byte in the whole log, `values` what each replica has.

    A value is None where the replica has no record there.
    """

    field: str
    at: int
    values: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """Bytes [begin, end) of the whole log, which replicas hold otherwise.

    Attributes:
        states: what each replica has there.
        wrong: the replicas whose copy is proven wrong; empty where that is open.
        decided_by: what proves it; None where it is open.
    """

    begin: int
    end: int
    states: Mapping[str, State]
    fields: tuple[FieldDifference, ...]
    wrong: tuple[str, ...]
    decided_by: DecidedBy | None


def difference_at(begin: int, logs: Mapping[str, LogBytes], header: int) -> RecordDifference | None:
    """The records that begin at a byte of the log; None where no replica has one there.

    Raises UnreadableFile where a file becomes shorter meanwhile.
    """
    size = max((_record_size(log, begin, header) for log in logs.values()), default=0)
    if not size:
        return None
    copies = {name: log.bytes_of(begin, begin + size) for name, log in logs.items()}
    states: dict[str, State] = {name: _state(copy, begin, header) for name, copy in copies.items()}
    wrong, decided_by = _wrong(copies, states)
    return RecordDifference(
        begin, begin + size, states, tuple(_fields(copies, states, begin, header)), wrong, decided_by
    )


def holds_record(log: LogBytes, begin: int, header: int) -> bool:
    """Whether a record that fails no check begins at a byte of the log."""
    size = _record_size(log, begin, header)
    return bool(size) and _state(log.bytes_of(begin, begin + size), begin, header) == "record"


def _record_size(log: LogBytes, begin: int, header: int) -> int:
    start = log.bytes_of(begin, begin + header + SMALLEST_MESSAGE)
    if start is None:
        return 0
    size = RECORD_START.unpack(start, header)["total_size"]
    if not SMALLEST_MESSAGE <= size <= MOST_RECORD_BYTES:
        return 0
    whole = log.bytes_of(begin, begin + header + size)
    return header + size if whole is not None and _state(whole, begin, header) in ("record", "crc_wrong") else 0


def _state(copy: bytes | None, begin: int, header: int) -> State:
    if copy is None:
        return "no_file"
    data = np.frombuffer(copy, np.uint8)
    shape = shape_of(data, header)
    if shape[0] and own_offset(data, header) == begin + header:
        return "record" if crc_verdict(data, header, shape) == CRC_RIGHT else "crc_wrong"
    return "no_record" if data.any() else "unwritten"


def _wrong(copies: Mapping[str, bytes | None], states: Mapping[str, State]) -> tuple[tuple[str, ...], DecidedBy | None]:
    """What was never written, or has no file, is missing and not wrong: the one record that there is is right."""
    held = {name: copy for name, copy in copies.items() if states[name] in ("record", "crc_wrong", "no_record")}
    sound = Counter(copy for name, copy in held.items() if states[name] == "record")
    if not sound:
        return (), None
    best, votes = sound.most_common(1)[0]
    if len(sound) == 1:
        return tuple(name for name in held if states[name] != "record"), "check"
    if 2 * votes > len(held):
        return tuple(name for name, copy in held.items() if copy != best), "majority"
    return (), None


def _fields(
    copies: Mapping[str, bytes | None], states: Mapping[str, State], begin: int, header: int
) -> Iterator[FieldDifference]:
    readable = {name: copy for name, copy in copies.items() if copy is not None and states[name] != "no_file"}
    explained = {
        name: _by_field(copy, header) for name, copy in readable.items() if states[name] in ("record", "crc_wrong")
    }
    names = list(dict.fromkeys(field for lines in explained.values() for field in lines))
    shown = 0
    for field in names:
        lines = [lines[field] for lines in explained.values() if field in lines]
        parts = {
            name: copy[lines[0].file_pos : lines[0].end]
            if name not in explained
            else copy[found.file_pos : found.end]
            if (found := explained[name].get(field)) is not None
            else None
            for name, copy in readable.items()
        }
        if len(set(parts.values())) > 1 and shown < MOST_FIELDS:
            values = {name: _value(field, explained.get(name), parts[name]) for name in readable}
            yield FieldDifference(field, begin + lines[0].file_pos, {**dict.fromkeys(copies), **values})
            shown += 1


def _by_field(copy: bytes, header: int) -> dict[str, Line]:
    """The lines of a message by field; a property that comes twice is numbered."""
    found: dict[str, Line] = {}
    for line in message_lines(memoryview(copy), 0, header):
        name, number = line.field, 2
        while name in found:
            name, number = f"{line.field} ({number})", number + 1
        found[name] = line
    return found


def _value(field: str, lines: Mapping[str, Line] | None, part: bytes | None) -> str | None:
    """What the replica says, with the bytes where two values read alike."""
    if lines is None:
        return None if part is None else f"bytes {part[:HEX_SHOWN].hex()}"
    line = lines.get(field)
    if line is None or part is None:
        return None
    if field == "body":
        return f"{len(part)} bytes, {line.value}"
    return line.value
