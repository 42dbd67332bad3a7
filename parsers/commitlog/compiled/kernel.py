"""The compiled decoder: walks a run of records and fills columns, everything of a record while it is in the cache.

Nothing here raises, and nothing is believed: a record that has no shape, or does not stand where it says, stops the
walk, and `files/check.py` says why. Matrices are described in `columns.py`.
"""

from __future__ import annotations

import numpy as np

from parsers.commitlog.compiled.columns import (
    BODY,
    CRC_OK,
    I_BODY_CRC,
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
    Asked,
    Columns,
    Limits,
    LogBytes,
)
from parsers.commitlog.compiled.fields import put_flag_words, put_hosts, put_numbers, put_properties
from parsers.commitlog.compiled.property_scan import put_text
from parsers.commitlog.compiled.shape import is_blank, own_offset, shape_of
from parsers.commitlog.record.properties import DIGITS, NAME, RESERVED_SIZE
from parsers.kernels.arrays import Bytes
from parsers.kernels.bigendian import load_long
from parsers.kernels.blocks import copy, prefetch
from parsers.kernels.crc32 import crc32
from parsers.kernels.kernel import inline_kernel, kernel
from parsers.kernels.utf8 import is_valid

FULL, END, BLANK, BROKEN = range(4)
"""Why a run stopped: no room for the next record, the slice's end, an end-of-file record, bytes that are no record."""

CRC_NAME = int.from_bytes(NAME[:8], "big")
CRC_DIGITS_AT = len(NAME)
LINE, AHEAD = 64, 2048
"""Cache lines are asked for this many bytes before they are read, since a processor guesses records badly."""


@kernel
def decode_run(log: LogBytes, at: int, end: int, limits: Limits, asked: Asked, out: Columns) -> tuple[int, int, int]:
    """Decode records that start at file positions `at` up to before `end`.

    Returns: rows, file position of the first byte not decoded, and why the run stopped.
    """
    data, base_offset, header = log
    wanted = asked.wanted
    begin_run(out)
    start, row, pairs, stop = at, 0, 0, END
    at += header
    end += header
    while at < end:
        shape = shape_of(data, at)
        if shape[0] == 0 or own_offset(data, at) != base_offset + at:
            stop = BLANK if is_blank(data, at - header, header) else BROKEN
            break
        size = at - header + shape[0] - start
        if row >= limits.rows or (row > 0 and size > limits.batch_bytes) or shape[2] > limits.body_bytes:
            stop = FULL
            break
        ask_ahead(data, at, header + shape[0])
        _, body_at, body_size, topic_at, topic_size, properties_at, properties_size = shape
        put_numbers(data, at, body_at, row, out)
        if wanted & (W_CRC | W_RECORD_CRC):
            put_verdicts(data, at, shape, wanted, row, out)
        if wanted & W_TOPIC:
            valid = is_valid(data, topic_at, topic_size)
            out.text_to[TOPIC] = put_text(out.text, out.text_to[TOPIC], data, topic_at, topic_size, valid)
            out.text_ends[TOPIC, row + 1] = out.text_to[TOPIC] - out.text_at[TOPIC]
        if wanted & W_SCAN:
            pairs = put_properties(data, properties_at, properties_size, asked, row, out, pairs)
        if wanted & W_BODY:
            out.text_to[BODY] = copy(out.text, out.text_to[BODY], data, body_at, body_size)
            out.text_ends[BODY, row + 1] = out.text_to[BODY] - out.text_at[BODY]
        if wanted & W_HOSTS:
            put_hosts(data, at, body_at, wanted, row, out)
        if wanted & W_WORDS:
            put_flag_words(wanted, row, out)
        row += 1
        out.pair_counts[row] = pairs
        at += shape[0] + header
    return row, at - header, stop


@inline_kernel
def begin_run(out: Columns) -> None:
    """Every column of text empty."""
    for column in range(len(out.text_to)):
        out.text_to[column] = out.text_at[column]
        out.text_ends[column, 0] = 0
    out.pair_ends[0, 0] = out.pair_ends[1, 0] = out.pair_counts[0] = 0


@inline_kernel
def ask_ahead(data: Bytes, at: int, size: int) -> None:
    """Ask for as many bytes of what follows as the record at `at` has."""
    for line in range(0, size, LINE):
        prefetch(data, at + AHEAD + line)


@inline_kernel
def put_verdicts(
    data: Bytes, at: int, shape: tuple[int, int, int, int, int, int, int], wanted: int, row: int, out: Columns
) -> None:
    """Whether body and record are what their CRCs say."""
    total_size, body_at, body_size, _, _, _, properties_size = shape
    out.verdicts[CRC_OK, row] = UNKNOWN
    if wanted & W_CRC:
        out.verdicts[CRC_OK, row] = body_crc_ok(data, body_at, body_size, out.ints[I_BODY_CRC, row])
    out.verdicts[RECORD_CRC_OK, row] = UNKNOWN
    if wanted & W_RECORD_CRC and properties_size >= RESERVED_SIZE:
        out.verdicts[RECORD_CRC_OK, row] = record_crc_verdict(data, at, total_size)


@inline_kernel
def body_crc_ok(data: Bytes, body_at: int, body_size: int, body_crc: int) -> bool:
    return bool(np.int64(crc32(data, body_at, body_size) & np.uint32(0x7FFFFFFF)) == np.int64(body_crc))


@kernel
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
