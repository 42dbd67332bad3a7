"""The compiled decoder: walks a run of records and fills columns, everything of a record while it is in the cache.

Nothing here raises, and nothing is believed: a record that has no shape, or does not stand where it says, stops the
walk, and `check.py` says why. Matrices are described in `columns.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.commitlog.columns import (
    BODY,
    CRC_OK,
    I_BODY_CRC,
    I_SYS_FLAG,
    NO,
    RECORD_CRC_OK,
    TOPIC,
    UNKNOWN,
    W_BODY,
    W_CRC,
    W_HOSTS,
    W_RECORD_CRC,
    W_SCAN,
    W_TOPIC,
    W_WORDS,
    YES,
)
from parsers.commitlog.fields import Matrix32, Matrix64, put_flag_words, put_hosts, put_numbers, put_properties
from parsers.commitlog.propcrc import DIGITS, NAME, RESERVED_SIZE
from parsers.commitlog.property_scan import Ends, Positions, put_text
from parsers.commitlog.shape import is_blank, own_offset, shape_of
from parsers.kernels.bigendian import load_long
from parsers.kernels.blocks import Bytes, copy, prefetch
from parsers.kernels.crc32 import crc32
from parsers.kernels.utf8 import is_valid
from parsers.numba_cache import cached_njit

FULL, END, BLANK, BROKEN = range(4)
"""Why a run stopped: no room for the next record, the slice's end, an end-of-file record, bytes that are no record."""

CRC_NAME = int.from_bytes(NAME[:8], "big")
CRC_DIGITS_AT = len(NAME)
LINE, AHEAD = 64, 2048
"""Cache lines are asked for this many bytes before they are read, since a processor guesses records badly."""


@cached_njit(nogil=True, _nrt=False)
def decode_run(
    data: Bytes, at: int, end: int, base_offset: int, header: int,
    most_rows: int, batch_bytes: int, body_bytes: int, wanted: int, split_rule: bool,
    ints: Matrix32, longs: Matrix64, verdicts: npt.NDArray[np.uint8],
    text: Bytes, text_at: Positions, text_to: Positions, text_ends: Ends,
    pair_ends: Ends, pair_counts: Matrix32, found: Positions,
) -> tuple[int, int, int]:  # fmt: skip
    """Decode records that start at file positions `at` up to before `end`, each a message behind `header` bytes.

    Shape: `data` is the whole file. Column k of text has the bytes text_at[k] to text_at[k + 1] of `text`, and its
        row i ends at text_at[k] + text_ends[k, i + 1]. Pairs are counted through all rows: those of row i end before
        pair_counts[i + 1].
        A run ends before it has taken `batch_bytes` of log (but for one longer record), or a body over `body_bytes`.
    Returns: rows, file position of the first byte not decoded, and why the run stopped.
    """
    begin_run(text_at, text_to, text_ends, pair_ends, pair_counts)
    start, row, pairs, stop = at, 0, 0, END
    at += header
    end += header
    while at < end:
        shape = shape_of(data, at)
        if shape[0] == 0 or own_offset(data, at) != base_offset + at:
            stop = BLANK if is_blank(data, at - header, header) else BROKEN
            break
        if row >= most_rows or (row > 0 and at - header + shape[0] - start > batch_bytes) or shape[2] > body_bytes:
            stop = FULL
            break
        ask_ahead(data, at, header + shape[0])
        _, body_at, body_size, topic_at, topic_size, properties_at, properties_size = shape
        put_numbers(data, at, body_at, row, ints, longs, verdicts)
        if wanted & (W_CRC | W_RECORD_CRC):
            put_verdicts(data, at, shape, wanted, row, ints, verdicts)
        if wanted & W_TOPIC:
            valid = is_valid(data, topic_at, topic_size)
            text_to[TOPIC] = put_text(text, text_to[TOPIC], data, topic_at, topic_size, valid)
            text_ends[TOPIC, row + 1] = text_to[TOPIC] - text_at[TOPIC]
        if wanted & W_SCAN:
            pairs = put_properties(
                data, properties_at, properties_size, wanted, split_rule, row, longs, verdicts, found,
                text, text_at, text_to, text_ends, pair_ends, pairs,
            )  # fmt: skip
        if wanted & W_BODY:
            text_to[BODY] = copy(text, text_to[BODY], data, body_at, body_size)
            text_ends[BODY, row + 1] = text_to[BODY] - text_at[BODY]
        if wanted & W_HOSTS:
            put_hosts(data, at, body_at, wanted, ints[I_SYS_FLAG, row], row, text, text_at, text_to, text_ends)
        if wanted & W_WORDS:
            put_flag_words(ints[I_SYS_FLAG, row], wanted, row, text, text_at, text_to, text_ends, verdicts)
        row += 1
        pair_counts[row] = pairs
        at += shape[0] + header
    return row, at - header, stop


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def begin_run(text_at: Positions, text_to: Positions, text_ends: Ends, pair_ends: Ends, pair_counts: Matrix32) -> None:
    """Every column of text empty."""
    for column in range(len(text_to)):
        text_to[column] = text_at[column]
        text_ends[column, 0] = 0
    pair_ends[0, 0] = pair_ends[1, 0] = pair_counts[0] = 0


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def ask_ahead(data: Bytes, at: int, size: int) -> None:
    """Ask for as many bytes of what follows as the record at `at` has."""
    for line in range(0, size, LINE):
        prefetch(data, at + AHEAD + line)


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_verdicts(
    data: Bytes,
    at: int,
    shape: tuple[int, int, int, int, int, int, int],
    wanted: int,
    row: int,
    ints: Matrix32,
    verdicts: npt.NDArray[np.uint8],
) -> None:
    """Whether body and record are what their CRCs say."""
    total_size, body_at, body_size, _, _, _, properties_size = shape
    verdicts[CRC_OK, row] = UNKNOWN
    if wanted & W_CRC:
        verdicts[CRC_OK, row] = body_crc_ok(data, body_at, body_size, ints[I_BODY_CRC, row])
    verdicts[RECORD_CRC_OK, row] = UNKNOWN
    if wanted & W_RECORD_CRC and properties_size >= RESERVED_SIZE:
        verdicts[RECORD_CRC_OK, row] = record_crc_verdict(data, at, total_size)


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def body_crc_ok(data: Bytes, body_at: int, body_size: int, body_crc: int) -> bool:
    return bool(np.int64(crc32(data, body_at, body_size) & np.uint32(0x7FFFFFFF)) == np.int64(body_crc))


@cached_njit(nogil=True, _nrt=False)
def record_crc_verdict(data: Bytes, at: int, total_size: int) -> int:
    """The twin of `propcrc.record_crc_ok`."""
    covered = total_size - RESERVED_SIZE
    stored_at = at + covered
    if load_long(data, stored_at) != CRC_NAME or data[stored_at + CRC_DIGITS_AT - 1] != 1:
        return UNKNOWN
    stored = 0
    for i in range(DIGITS - 1, -1, -1):
        digit = int(data[stored_at + CRC_DIGITS_AT + i]) - 48
        if digit < 0 or digit > 9:
            return NO
        stored = stored * 10 + digit
    return YES if np.int64(crc32(data, at, covered) & np.uint32(0x7FFFFFFF)) == stored else NO
