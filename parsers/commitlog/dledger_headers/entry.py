"""The header of a DLedger entry: what it must say, given the message after it and the entry before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsers.commitlog.dledger_headers.layout import (
    BLANK_SIZE_MIN,
    ENTRY_HEADER,
    ENTRY_START,
    HEADER_SIZE,
    MAGIC_BLANK,
    MAGIC_CONFIG_CHANGE,
    MAGIC_ENTRY,
    MAGIC_NO_OP,
)
from parsers.commitlog.record.layout import MAGIC_V1, MAGIC_V2, RECORD_START
from parsers.damage.errors import CorruptRecord, NotThisFormat, StoreFormatError, TruncatedRecord, UnsupportedVersion
from parsers.evidence.mapped import read_at
from parsers.kernels.arrays import Bytes, LongRows, Longs
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.kernel import inline_kernel, kernel
from parsers.layouts.layout import Buffer

AT_SIZE = ENTRY_HEADER.offsets["entry_size"]
AT_INDEX = ENTRY_HEADER.offsets["entry_index"]
AT_TERM = ENTRY_HEADER.offsets["term"]
AT_POSITION = ENTRY_HEADER.offsets["position"]
AT_CHANNEL = ENTRY_HEADER.offsets["channel"]
AT_CHAIN_CRC = ENTRY_HEADER.offsets["chain_crc"]
AT_BODY_CRC = ENTRY_HEADER.offsets["entry_body_crc"]
AT_BODY_SIZE = ENTRY_HEADER.offsets["entry_body_size"]

RIGHT, BY_ITSELF, OUT_OF_ORDER, TERM_FELL = range(4)
"""A header: as it must be; wrong whatever is around it; wrong between its neighbours: its number, its term."""

UNKNOWN = -1
"""The number or term of an entry that is not known."""


@dataclass(frozen=True, slots=True)
class EntryHeader:
    """The fields of `ENTRY_HEADER`. `encode_header` and `decode_header` are each other's inverse."""

    entry_size: int
    entry_index: int
    term: int
    position: int
    entry_body_size: int
    magic: int = MAGIC_ENTRY
    channel: int = 0
    chain_crc: int = 0
    entry_body_crc: int = 0


def decode_header(buf: Buffer, at: int = 0) -> EntryHeader:
    """Raises TruncatedRecord where fewer than 48 bytes are left."""
    return EntryHeader(**ENTRY_HEADER.unpack(buf, at))


def encode_header(header: EntryHeader) -> bytes:
    return ENTRY_HEADER.pack(asdict(header))


def new_header(body_size: int, *, entry_index: int, position: int, term: int = 0) -> EntryHeader:
    """The header of an entry that wraps a message of `body_size` bytes."""
    return EntryHeader(HEADER_SIZE + body_size, entry_index, term, position, body_size)


def begins_with_entry(path: Path) -> bool:
    """Whether a file, wherever it lies, begins as a file of a DLedger log does: an entry, and in it a message."""
    try:
        start = read_at(path, 0, HEADER_SIZE + RECORD_START.size)
        magic = RECORD_START.unpack(start, HEADER_SIZE)["magic_code"]
        return decode_header(start).magic == MAGIC_ENTRY and magic in (MAGIC_V1, MAGIC_V2)
    except (OSError, TruncatedRecord):
        return False


def check_header(buf: Buffer, at: int, base_offset: int) -> EntryHeader:
    """The header at file position `at`, right by itself.

    Raises StoreFormatError, `field` naming what disagrees: magic, entry_size, entry_body_size, position, channel,
        chain_crc, entry_body_crc.
    """
    if (wrong_blank := check_blank(buf, at)) is not None:
        raise wrong_blank
    header = decode_header(buf, at)
    if header.magic in (MAGIC_NO_OP, MAGIC_CONFIG_CHANGE):
        raise UnsupportedVersion("an entry without a message", at=at, field="magic", actual=header.magic)
    if header.magic != MAGIC_ENTRY:
        raise NotThisFormat("no entry starts here", at=at, field="magic", expected=MAGIC_ENTRY, actual=header.magic)
    expected = {
        "entry_size": HEADER_SIZE + header.entry_body_size,
        "position": base_offset + at,
        "channel": 0,
        "chain_crc": 0,
        "entry_body_crc": 0,
    }
    for field, value in expected.items():
        actual = getattr(header, field)
        if actual != value:
            raise _wrong(field, at, expected=value, actual=actual)
    return header


def header_error(buf: Buffer, at: int, base_offset: int, message_size: int, judged: Judged) -> StoreFormatError:
    """Why the header in front of a whole message of `message_size` bytes was not `RIGHT`."""
    try:
        header = check_header(buf, at, base_offset)
    except StoreFormatError as error:
        return error
    if header.entry_body_size != message_size:
        return _wrong("entry_body_size", at, expected=message_size, actual=header.entry_body_size)
    if judged.verdict == TERM_FELL:
        return _wrong("term", at, expected=judged.term, actual=header.term)
    return _wrong("entry_index", at, expected=judged.entry_index, actual=header.entry_index)


def _wrong(field: str, at: int, *, expected: object, actual: object) -> CorruptRecord:
    problem = f"the entry header's {field} is another"
    return CorruptRecord(problem, at=at, field=field, expected=expected, actual=actual, length=HEADER_SIZE)


def check_blank(buf: Buffer, at: int) -> StoreFormatError | None:
    """What is wrong with the blank at `at`: its size is that of the rest of the file."""
    start = ENTRY_START.unpack(buf, at)
    left = len(buf) - at
    if start["magic"] != MAGIC_BLANK or start["entry_size"] == left:
        return None
    return CorruptRecord(
        "the blank does not reach the file's end",
        at=at,
        field="entry_size",
        expected=left,
        actual=start["entry_size"],
        length=BLANK_SIZE_MIN,
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of one header: a verdict, and the number and the least term that the chain gives it."""

    verdict: int
    entry_index: int
    term: int


@inline_kernel
def is_right_alone(data: Bytes, at: int, message_size: int, base_offset: int) -> bool:
    """The header at `at` is what it must be in front of a message of that size."""
    return (
        load_int(data, at) == MAGIC_ENTRY
        and load_int(data, at + AT_SIZE) == HEADER_SIZE + message_size
        and load_int(data, at + AT_BODY_SIZE) == message_size
        and load_long(data, at + AT_POSITION) == base_offset + at
        and load_int(data, at + AT_CHANNEL) == 0
        and load_int(data, at + AT_CHAIN_CRC) == 0
        and load_int(data, at + AT_BODY_CRC) == 0
    )


@kernel
def judge_headers(
    data: Bytes, places: Longs, message_sizes: npt.NDArray[np.int32], base_offset: int, chain: Longs, verdicts: LongRows
) -> None:
    """Judge the headers at these file positions, of entries that follow one another.

    `chain` holds the number and the term that the first of them must have (UNKNOWN: anything), and in the end those
    that the entry after them must have. Row i of `verdicts` gets verdict, number and least term. An entry whose number
    does not fit is wrong alone if the next one goes on as if it had fitted; so is one whose term is above the next
    one's, if that is not below the one before.
    """
    index, term = chain[0], chain[1]
    for row in range(len(places)):
        at = places[row]
        own_index, own_term = load_long(data, at + AT_INDEX), load_long(data, at + AT_TERM)
        following = at + HEADER_SIZE + message_sizes[row]
        more = len(data) - following >= HEADER_SIZE and load_int(data, following) == MAGIC_ENTRY
        next_index = load_long(data, following + AT_INDEX) if more else UNKNOWN
        next_term = load_long(data, following + AT_TERM) if more else own_term
        is_alone_above = term <= next_term < own_term
        verdict = RIGHT
        if not is_right_alone(data, at, message_sizes[row], base_offset):
            verdict = BY_ITSELF
        elif index != UNKNOWN and own_index != index:
            verdict = OUT_OF_ORDER
        elif own_term < term or is_alone_above:
            verdict = TERM_FELL
        verdicts[row, 0], verdicts[row, 1], verdicts[row, 2] = verdict, index, term
        if index == UNKNOWN:
            index = next_index if verdict == BY_ITSELF else own_index + 1
        elif own_index == index or next_index == index + 1:
            index += 1
        else:
            index = own_index + 1
        if not is_alone_above and (own_term >= term or next_term == own_term):
            term = own_term
    chain[0], chain[1] = index, term


class EntryChain:
    """Judges headers run by run, in log order, remembering the entry before. The first entry of a log has number 0."""

    def __init__(self, data: Bytes, base_offset: int, *, from_start: bool) -> None:
        self._data, self._base_offset = data, base_offset
        self._next = np.array([0 if from_start and base_offset == 0 else UNKNOWN, UNKNOWN], np.int64)

    def broken(self, places: Longs, message_sizes: npt.NDArray[np.int32]) -> Iterator[tuple[int, StoreFormatError]]:
        """The rows whose header is wrong, each with the reason, among entries at these file positions."""
        judged = np.empty((len(places), 3), np.int64)
        judge_headers(self._data, places, message_sizes, self._base_offset, self._next, judged)
        for row in np.flatnonzero(judged[:, 0] != RIGHT).tolist():
            verdict = Judged(*judged[row].tolist())
            yield (
                row,
                header_error(self._data.data, int(places[row]), self._base_offset, int(message_sizes[row]), verdict),
            )

    def forget(self) -> None:
        """Bytes that are no entry were passed: the next entry may have any number."""
        self._next[0] = UNKNOWN
