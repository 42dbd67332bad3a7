"""Finding records without a chain that leads to them, inside compiled code, in linear time.

A record proves itself by its shape (magic, and sizes inside that add up), its own offset, the CRC of its body and,
where it carries one, the CRC of itself. One that has everything but the offset is stale: written in another place or
another life of the file.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.columns import NO
from parsers.commitlog.compiled.kernel import body_crc_ok, record_crc_verdict
from parsers.commitlog.compiled.shape import (
    AT_BODY_CRC,
    AT_BORN_HOST,
    AT_MAGIC,
    AT_SYS_FLAG,
    HOST_V6_MORE,
    V4_HOST_SIZE,
    Shape,
    blank_size,
    is_blank,
    own_offset,
    shape_of,
)
from parsers.commitlog.record.layout import BLANK_SIZE_MIN, MAGIC_BLANK, MAGIC_V1, SYS_FLAG_BORN_HOST_V6
from parsers.commitlog.record.properties import RESERVED_SIZE
from parsers.kernels.arrays import BLOCK, Bytes
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import ALL, equal_mask, lowest_bit
from parsers.kernels.kernel import inline_kernel, kernel

NOTHING, PROVEN, STALE, BLANK_RECORD = range(4)
CRC_RIGHT, BODY_CRC_WRONG, RECORD_CRC_WRONG = range(3)
MAGIC_BYTE = np.uint8(MAGIC_V1 >> 24 & 0xFF)
BLANK_BYTE = np.uint8(MAGIC_BLANK >> 24 & 0xFF)
ENTRY_BLANK_BYTE = np.uint8(0xFF)

PROOF_BYTES_A_BYTE = 16
PROOF_BYTES_FREE = 64 << 20
"""The cap on bytes of candidates that turn out to be none: 64 MiB, and 16 for each byte of the file passed. Bytes
that would need more stay damage. Crafted bytes only: a real file has no such candidates."""

Budget = npt.NDArray[np.int64]


@kernel
def find_record(data: Bytes, at: int, limit: int, base_offset: int, header: int, budget: Budget) -> tuple[int, int]:
    """The first record at `at` or later, but before `limit`: its position and NOTHING (then `limit`), PROVEN, STALE or
    BLANK_RECORD (an end-of-file record that reaches the file's end). Each message stands after `header` bytes.

    `budget` holds one number, the bytes of failed proofs still allowed.
    """
    place, kind = find_candidate(data, at, limit, base_offset, header, budget)
    if header:
        blank = find_entry_blank(data, at, place)
        if blank < place:
            return blank, BLANK_RECORD
    return place, kind


@inline_kernel
def find_candidate(data: Bytes, at: int, limit: int, base_offset: int, header: int, budget: Budget) -> tuple[int, int]:
    """Find a record by the magic after its header, without the blanks of a DLedger log."""
    to_magic = header + AT_MAGIC
    first = at + to_magic
    last = min(limit + to_magic, len(data))
    while first < last:
        if first + BLOCK <= len(data):
            hits = equal_mask(data, first, MAGIC_BYTE) | equal_mask(data, first, BLANK_BYTE)
            if last - first < BLOCK:
                hits &= ALL >> np.uint64(BLOCK - (last - first))
            while hits != 0:
                place = first + lowest_bit(hits) - to_magic
                hits &= hits - np.uint64(1)
                kind = kind_at(data, place, base_offset, header, budget)
                if kind != NOTHING:
                    return place, kind
            first += BLOCK
        else:
            kind = kind_at(data, first - to_magic, base_offset, header, budget)
            if kind != NOTHING:
                return first - to_magic, kind
            first += 1
    return limit, NOTHING


@kernel
def find_entry_blank(data: Bytes, at: int, limit: int) -> int:
    """The first blank of a DLedger log that reaches the file's end, from `at` on but before `limit`; else `limit`."""
    last = min(limit, len(data) - BLANK_SIZE_MIN + 1)
    while at < last:
        if at + BLOCK <= len(data):
            hits = equal_mask(data, at, ENTRY_BLANK_BYTE)
            if hits == 0:
                at += BLOCK
                continue
            at += lowest_bit(hits)
        if at < last and is_blank(data, at, 1):
            return at
        at += 1
    return limit


@kernel
def kind_at(data: Bytes, at: int, base_offset: int, header: int, budget: Budget) -> int:
    """What stands at `at`, but for the blanks of a DLedger log."""
    left = len(data) - at
    if left < BLANK_SIZE_MIN:
        return NOTHING
    if header == 0 and is_blank(data, at, header):
        return BLANK_RECORD if blank_size(data, at, header) == left else NOTHING
    at += header
    shape = shape_of(data, at)
    if shape[0] == 0 or budget[0] < shape[0]:
        return NOTHING
    if crc_verdict(data, at, shape) != CRC_RIGHT:
        budget[0] -= shape[0]
        return NOTHING
    return PROVEN if own_offset(data, at) == base_offset + at else STALE


@inline_kernel
def crc_verdict(data: Bytes, at: int, shape: Shape) -> int:
    """Whether body and record of the record at `at`, which has this shape, are what their CRCs say, in the words
    above. A record without a body has 0 for its CRC."""
    total_size, body_at, body_size, _, _, _, properties_size = shape
    if not body_crc_ok(data, body_at, body_size, load_int(data, at + AT_BODY_CRC)):
        return BODY_CRC_WRONG
    if properties_size >= RESERVED_SIZE and record_crc_verdict(data, at, total_size) == NO:
        return RECORD_CRC_WRONG
    return CRC_RIGHT


@kernel
def walk_chain(
    data: Bytes, at: int, end: int, base_offset: int, header: int, in_place: bool
) -> tuple[int, int, int, int]:
    """Step over records that stand where they say (`in_place`), or that all stand elsewhere.

    Returns: where the chain breaks, or its first record at or after `end`; how many records were stepped over; the
        positions of the last of them and of the one before it (-1: none).
    """
    records, last, before = 0, -1, -1
    while at < end:
        total_size = shape_of(data, at + header)[0]
        if total_size == 0 or (own_offset(data, at + header) == base_offset + at + header) != in_place:
            break
        last, before = at, last
        at += header + total_size
        records += 1
    return at, records, last, before


@kernel
def store_timestamp_at(data: Bytes, at: int) -> int:
    """The store timestamp, in milliseconds, of the record at `at`, which has a shape."""
    host = V4_HOST_SIZE + (HOST_V6_MORE if load_int(data, at + AT_SYS_FLAG) & SYS_FLAG_BORN_HOST_V6 else 0)
    return load_long(data, at + AT_BORN_HOST + host)


@kernel
def written_from(data: Bytes, at: int, end: int) -> int:
    """Position of the first byte from `at` on that is not zero; `end` where all before it are."""
    zero = np.uint8(0)
    while at + BLOCK <= end and equal_mask(data, at, zero) == ALL:
        at += BLOCK
    while at < end and data[at] == 0:
        at += 1
    return at
