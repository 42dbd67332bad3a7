"""The columns of one record, inside compiled code: each function fills its part of row `row`."""

from __future__ import annotations

import numpy as np

from parsers.commitlog.compiled.columns import (
    BORN_HOST,
    BORN_KNOWN,
    COMPRESSION,
    HAS_COMPRESSION,
    HAS_KEYS,
    HAS_TAGS,
    HAS_UNIQUE_ID,
    I_BODY_CRC,
    I_BODY_SIZE,
    I_FLAG,
    I_MAGIC,
    I_QUEUE_ID,
    I_RECONSUME_TIMES,
    I_SYS_FLAG,
    I_TOTAL_SIZE,
    KEYS,
    L_BORN,
    L_PHYSICAL_OFFSET,
    L_PREPARED,
    L_QUEUE_OFFSET,
    L_STORE,
    L_TAGS_CODE,
    MESSAGE_ID,
    STORE_HOST,
    STORE_KNOWN,
    TAGS,
    TRANSACTION,
    UNIQUE_ID,
    W_BORN_HOST,
    W_COMPRESSION,
    W_KEYS,
    W_MESSAGE_ID,
    W_PROPERTIES,
    W_STORE_HOST,
    W_TAGS,
    W_TAGS_CODE,
    W_TRANSACTION,
    W_UNIQUE_ID,
    Asked,
    Columns,
)
from parsers.commitlog.compiled.property_scan import EntryRule, Positions, put_text, scan_properties
from parsers.commitlog.compiled.shape import (
    AT_BODY_CRC,
    AT_BODY_SIZE,
    AT_BORN_HOST,
    AT_BORN_TIMESTAMP,
    AT_FLAG,
    AT_MAGIC,
    AT_PHYSICAL_OFFSET,
    AT_PREPARED,
    AT_QUEUE_ID,
    AT_QUEUE_OFFSET,
    AT_SYS_FLAG,
    TAIL_SIZE,
    V4_HOST_SIZE,
    V6_HOST_SIZE,
)
from parsers.commitlog.compiled.text import put_hex, put_host
from parsers.commitlog.record.layout import (
    COMPRESSION_TYPES,
    SYS_FLAG_BORN_HOST_V6,
    SYS_FLAG_COMPRESSED,
    SYS_FLAG_STORE_HOST_V6,
    TRANSACTION_TYPES,
    compression,
)
from parsers.kernels.arrays import COPIED, Bytes
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import copy
from parsers.kernels.java_hash import hash_utf8
from parsers.kernels.kernel import inline_kernel
from parsers.kernels.utf8 import is_valid
from parsers.values.utc import FIRST_MS, LAST_MS

OFFSET_SIZE = 8
WORD = 8


def _words(words: list[str]) -> tuple[Bytes, Positions]:
    """Short words in cells of eight bytes, and their sizes."""
    cells = b"".join(word.encode().ljust(WORD, b"\0") for word in words) + bytes(COPIED)
    return np.frombuffer(cells, np.uint8), np.array([len(word) for word in words], np.int64)


TRANSACTION_WORDS, TRANSACTION_SIZES = _words([TRANSACTION_TYPES[bits << 2] for bits in range(4)])
COMPRESSION_WORDS, COMPRESSION_SIZES = _words([compression(SYS_FLAG_COMPRESSED | kind << 8) or "" for kind in range(8)])
assert len(COMPRESSION_TYPES) == 4


@inline_kernel
def put_numbers(data: Bytes, at: int, body_at: int, row: int, out: Columns) -> None:
    """Every fixed field. Times become microseconds."""
    sys_flag = load_int(data, at + AT_SYS_FLAG)
    tail = body_at - TAIL_SIZE
    born_host_size = V6_HOST_SIZE if sys_flag & SYS_FLAG_BORN_HOST_V6 else V4_HOST_SIZE
    out.ints[I_TOTAL_SIZE, row] = load_int(data, at)
    out.ints[I_MAGIC, row] = load_int(data, at + AT_MAGIC)
    out.ints[I_BODY_CRC, row] = load_int(data, at + AT_BODY_CRC)
    out.ints[I_QUEUE_ID, row] = load_int(data, at + AT_QUEUE_ID)
    out.ints[I_FLAG, row] = load_int(data, at + AT_FLAG)
    out.ints[I_SYS_FLAG, row] = sys_flag
    out.ints[I_RECONSUME_TIMES, row] = load_int(data, tail)
    out.ints[I_BODY_SIZE, row] = load_int(data, tail + AT_BODY_SIZE)
    out.longs[L_QUEUE_OFFSET, row] = load_long(data, at + AT_QUEUE_OFFSET)
    out.longs[L_PHYSICAL_OFFSET, row] = load_long(data, at + AT_PHYSICAL_OFFSET)
    out.longs[L_PREPARED, row] = load_long(data, tail + AT_PREPARED)
    born_ms = load_long(data, at + AT_BORN_TIMESTAMP)
    store_ms = load_long(data, at + AT_BORN_HOST + born_host_size)
    out.longs[L_BORN, row], out.longs[L_STORE, row] = born_ms * 1000, store_ms * 1000
    out.verdicts[BORN_KNOWN, row] = FIRST_MS <= born_ms <= LAST_MS
    out.verdicts[STORE_KNOWN, row] = FIRST_MS <= store_ms <= LAST_MS


@inline_kernel
def put_properties(data: Bytes, at: int, size: int, asked: Asked, row: int, out: Columns, pairs: int) -> int:
    """All that is made of the properties; returns the number of pairs made so far."""
    for cell in range(len(out.found)):
        out.found[cell] = 0
    wanted, valid = asked.wanted, is_valid(data, at, size)
    rule = EntryRule(valid, asked.split_rule, wanted & W_PROPERTIES != 0)
    pairs = scan_properties(data, at, at + size, rule, out, pairs)
    put_found(data, valid, wanted, row, out)
    if wanted & W_TAGS_CODE:
        tags_at = out.text_at[TAGS] + out.text_ends[TAGS, row]
        out.longs[L_TAGS_CODE, row] = np.int32(hash_utf8(out.text, tags_at, out.text_to[TAGS], 0))
    return pairs


@inline_kernel
def put_found(data: Bytes, valid: bool, wanted: int, row: int, out: Columns) -> None:
    """KEYS, TAGS and UNIQ_KEY, where the record has them."""
    for column, verdict, bit in (
        (KEYS, HAS_KEYS, W_KEYS),
        (TAGS, HAS_TAGS, W_TAGS | W_TAGS_CODE),
        (UNIQUE_ID, HAS_UNIQUE_ID, W_UNIQUE_ID),
    ):
        at, size = out.found[2 * column], out.found[2 * column + 1]
        out.verdicts[verdict, row] = size > 0
        if wanted & bit:
            if size > 0:
                out.text_to[column] = put_text(out.text, out.text_to[column], data, at, size, valid)
            out.text_ends[column, row + 1] = out.text_to[column] - out.text_at[column]


@inline_kernel
def put_hosts(data: Bytes, at: int, body_at: int, wanted: int, row: int, out: Columns) -> None:
    """Both hosts as text, and the message id that the store host is part of."""
    sys_flag = out.ints[I_SYS_FLAG, row]
    born_v6, store_v6 = sys_flag & SYS_FLAG_BORN_HOST_V6 != 0, sys_flag & SYS_FLAG_STORE_HOST_V6 != 0
    store_size = V6_HOST_SIZE if store_v6 else V4_HOST_SIZE
    store_at = body_at - TAIL_SIZE - store_size
    if wanted & W_BORN_HOST:
        out.text_to[BORN_HOST] = put_host(out.text, out.text_to[BORN_HOST], data, at + AT_BORN_HOST, born_v6)
        out.text_ends[BORN_HOST, row + 1] = out.text_to[BORN_HOST] - out.text_at[BORN_HOST]
    if wanted & W_STORE_HOST:
        out.text_to[STORE_HOST] = put_host(out.text, out.text_to[STORE_HOST], data, store_at, store_v6)
        out.text_ends[STORE_HOST, row + 1] = out.text_to[STORE_HOST] - out.text_at[STORE_HOST]
    if wanted & W_MESSAGE_ID:
        to = put_hex(out.text, out.text_to[MESSAGE_ID], data, store_at, store_size)
        out.text_to[MESSAGE_ID] = put_hex(out.text, to, data, at + AT_PHYSICAL_OFFSET, OFFSET_SIZE)
        out.text_ends[MESSAGE_ID, row + 1] = out.text_to[MESSAGE_ID] - out.text_at[MESSAGE_ID]


@inline_kernel
def put_flag_words(wanted: int, row: int, out: Columns) -> None:
    """What sysFlag says of the transaction and the compression, in words."""
    sys_flag = out.ints[I_SYS_FLAG, row]
    if wanted & W_TRANSACTION:
        kind = sys_flag >> 2 & 3
        copy(out.text, out.text_to[TRANSACTION], TRANSACTION_WORDS, kind * WORD, WORD)
        out.text_to[TRANSACTION] += TRANSACTION_SIZES[kind]
        out.text_ends[TRANSACTION, row + 1] = out.text_to[TRANSACTION] - out.text_at[TRANSACTION]
    out.verdicts[HAS_COMPRESSION, row] = sys_flag & SYS_FLAG_COMPRESSED
    if wanted & W_COMPRESSION:
        if sys_flag & SYS_FLAG_COMPRESSED:
            kind = sys_flag >> 8 & 7
            copy(out.text, out.text_to[COMPRESSION], COMPRESSION_WORDS, kind * WORD, WORD)
            out.text_to[COMPRESSION] += COMPRESSION_SIZES[kind]
        out.text_ends[COMPRESSION, row + 1] = out.text_to[COMPRESSION] - out.text_at[COMPRESSION]
