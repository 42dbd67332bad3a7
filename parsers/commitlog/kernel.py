"""The compiled decoder: walks a run of records and fills columns, everything of a record while it is in the cache.

Nothing here raises, and nothing is believed: a record that has no shape, or does not stand where it says, stops the
walk, and `check.py` says why. Matrices are described in `columns.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.commitlog.columns import (
    BODY,
    BORN_HOST,
    BORN_KNOWN,
    COMPRESSION,
    CRC_OK,
    HAS_COMPRESSION,
    HAS_KEYS,
    HAS_TAGS,
    HAS_UNIQUE_ID,
    INTS,
    KEYS,
    LONGS,
    MESSAGE_ID,
    NO,
    RECORD_CRC_OK,
    STORE_HOST,
    STORE_KNOWN,
    TAGS,
    TOPIC,
    TRANSACTION,
    UNIQUE_ID,
    UNKNOWN,
    WANTED,
    YES,
)
from parsers.commitlog.layout import (
    COMPRESSION_TYPES,
    SYS_FLAG_BORN_HOST_V6,
    SYS_FLAG_COMPRESSED,
    SYS_FLAG_STORE_HOST_V6,
    TRANSACTION_TYPES,
    compression,
)
from parsers.commitlog.propcrc import DIGITS, NAME, RESERVED_SIZE
from parsers.commitlog.property_scan import Ends, Positions, put_text, scan_properties
from parsers.commitlog.shape import (
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
    is_blank,
    own_offset,
    shape_of,
)
from parsers.commitlog.text import HOST_TEXT_SIZE, MESSAGE_ID_SIZE, put_hex, put_host
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import COPIED, Bytes, copy
from parsers.kernels.crc32 import crc32
from parsers.kernels.java_hash import hash_utf8
from parsers.kernels.utf8 import GROWTH, is_valid
from parsers.numba_cache import cached_njit

FULL, END, BLANK, BROKEN = range(4)
"""Why a run stopped: no room for the next record, the slice's end, an end-of-file record, bytes that are no record."""

(I_TOTAL_SIZE, I_MAGIC, I_BODY_CRC, I_QUEUE_ID, I_FLAG, I_SYS_FLAG, I_RECONSUME_TIMES, I_BODY_SIZE) = range(len(INTS))
(L_PHYSICAL_OFFSET, L_QUEUE_OFFSET, L_BORN, L_STORE, L_PREPARED, L_TAGS_CODE) = range(len(LONGS))
W_TOPIC, W_PROPERTIES, W_KEYS, W_TAGS, W_UNIQUE_ID, W_BODY = (
    WANTED[name] for name in ("topic", "properties", "keys", "tags", "unique_id", "body")
)
W_BORN_HOST, W_STORE_HOST, W_MESSAGE_ID, W_TRANSACTION, W_COMPRESSION = (
    WANTED[name] for name in ("born_host", "store_host", "message_id", "transaction_type", "compression")
)
W_CRC, W_RECORD_CRC, W_TAGS_CODE = (WANTED[name] for name in ("crc_ok", "record_crc_ok", "tags_code"))
W_HOSTS, W_WORDS = W_BORN_HOST | W_STORE_HOST | W_MESSAGE_ID, W_TRANSACTION | W_COMPRESSION
W_SCAN = W_PROPERTIES | W_KEYS | W_TAGS | W_UNIQUE_ID | W_TAGS_CODE

FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999: what a timestamp column can show; any other time is null."""

FEWEST_BYTES_A_PAIR = 3
CRC_NAME = int.from_bytes(NAME[:8], "big")
CRC_DIGITS_AT = len(NAME)
OFFSET_SIZE = 8
LONGEST_TEXT = 2**15 - 1
WORD = 8

Matrix32 = npt.NDArray[np.int32]
Matrix64 = npt.NDArray[np.int64]


def _words(words: list[str]) -> tuple[Bytes, Positions]:
    """Short words in cells of eight bytes, and their sizes."""
    cells = b"".join(word.encode().ljust(WORD, b"\0") for word in words) + bytes(COPIED)
    return np.frombuffer(cells, np.uint8), np.array([len(word) for word in words], np.int64)


TRANSACTION_WORDS, TRANSACTION_SIZES = _words([TRANSACTION_TYPES[bits << 2] for bits in range(4)])
COMPRESSION_WORDS, COMPRESSION_SIZES = _words([compression(SYS_FLAG_COMPRESSED | kind << 8) or "" for kind in range(8)])
assert len(COMPRESSION_TYPES) == 4


@cached_njit(nogil=True, _nrt=False)
def decode_run(
    data: Bytes,
    at: int,
    end: int,
    base_offset: int,
    most_rows: int,
    batch_bytes: int,
    body_bytes: int,
    wanted: int,
    split_rule: bool,
    ints: Matrix32,
    longs: Matrix64,
    verdicts: npt.NDArray[np.uint8],
    text: Bytes,
    text_at: Positions,
    text_to: Positions,
    text_ends: Ends,
    pair_ends: Ends,
    pair_counts: Matrix32,
    found: Positions,
) -> tuple[int, int, int]:
    """Decode records that start at file positions `at` up to before `end`.

    Shape: `data` is the whole file. Column k of text has the bytes text_at[k] to text_at[k + 1] of `text`, and its
        row i ends at text_at[k] + text_ends[k, i + 1]. Pairs are counted through all rows: those of row i end before
        pair_counts[i + 1].
        A run ends before it has taken `batch_bytes` of log (but for one longer record), or a body over `body_bytes`.
    Returns: rows, file position of the first byte not decoded, and why the run stopped.
    """
    for column in range(len(text_to)):
        text_to[column] = text_at[column]
        text_ends[column, 0] = 0
    pair_ends[0, 0] = pair_ends[1, 0] = pair_counts[0] = 0
    start, row, pairs, stop = at, 0, 0, END
    while at < end:
        shape = shape_of(data, at)
        if shape[0] == 0 or own_offset(data, at) != base_offset + at:
            stop = BLANK if is_blank(data, at) else BROKEN
            break
        if row >= most_rows or (row > 0 and at + shape[0] - start > batch_bytes) or shape[2] > body_bytes:
            stop = FULL
            break
        _, body_at, body_size, topic_at, topic_size, properties_at, properties_size = shape
        put_numbers(data, at, body_at, row, ints, longs, verdicts)
        if wanted & (W_CRC | W_RECORD_CRC):
            put_verdicts(data, at, shape, wanted, row, ints, verdicts)
        if wanted & W_TOPIC:
            valid = is_valid(data, topic_at, topic_size)
            text_to[TOPIC] = put_text(text, text_to[TOPIC], data, topic_at, topic_size, valid)
            text_ends[TOPIC, row + 1] = text_to[TOPIC] - text_at[TOPIC]
        if wanted & W_SCAN:
            valid = is_valid(data, properties_at, properties_size)
            for cell in range(len(found)):
                found[cell] = 0
            pairs = scan_properties(
                data, properties_at, properties_at + properties_size, valid, split_rule,
                wanted & W_PROPERTIES != 0, found, text, text_at, text_to, pair_ends, pairs,
            )  # fmt: skip
            put_found(data, found, valid, wanted, row, text, text_at, text_to, text_ends, verdicts)
            if wanted & W_TAGS_CODE:
                tags_at = text_at[TAGS] + text_ends[TAGS, row]
                longs[L_TAGS_CODE, row] = np.int32(hash_utf8(text, tags_at, text_to[TAGS], 0))
        if wanted & W_BODY:
            text_to[BODY] = copy(text, text_to[BODY], data, body_at, body_size)
            text_ends[BODY, row + 1] = text_to[BODY] - text_at[BODY]
        if wanted & W_HOSTS:
            put_hosts(data, at, body_at, wanted, ints[I_SYS_FLAG, row], row, text, text_at, text_to, text_ends)
        if wanted & W_WORDS:
            put_flag_words(ints[I_SYS_FLAG, row], wanted, row, text, text_at, text_to, text_ends, verdicts)
        row += 1
        pair_counts[row] = pairs
        at += shape[0]
    return row, at, stop


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_numbers(
    data: Bytes,
    at: int,
    body_at: int,
    row: int,
    ints: Matrix32,
    longs: Matrix64,
    verdicts: npt.NDArray[np.uint8],
) -> None:
    """Every fixed field. Times become microseconds."""
    sys_flag = load_int(data, at + AT_SYS_FLAG)
    tail = body_at - TAIL_SIZE
    born_host_size = V6_HOST_SIZE if sys_flag & SYS_FLAG_BORN_HOST_V6 else V4_HOST_SIZE
    ints[I_TOTAL_SIZE, row] = load_int(data, at)
    ints[I_MAGIC, row] = load_int(data, at + AT_MAGIC)
    ints[I_BODY_CRC, row] = load_int(data, at + AT_BODY_CRC)
    ints[I_QUEUE_ID, row] = load_int(data, at + AT_QUEUE_ID)
    ints[I_FLAG, row] = load_int(data, at + AT_FLAG)
    ints[I_SYS_FLAG, row] = sys_flag
    ints[I_RECONSUME_TIMES, row] = load_int(data, tail)
    ints[I_BODY_SIZE, row] = load_int(data, tail + AT_BODY_SIZE)
    longs[L_QUEUE_OFFSET, row] = load_long(data, at + AT_QUEUE_OFFSET)
    longs[L_PHYSICAL_OFFSET, row] = load_long(data, at + AT_PHYSICAL_OFFSET)
    longs[L_PREPARED, row] = load_long(data, tail + AT_PREPARED)
    born_ms = load_long(data, at + AT_BORN_TIMESTAMP)
    store_ms = load_long(data, at + AT_BORN_HOST + born_host_size)
    longs[L_BORN, row], longs[L_STORE, row] = born_ms * 1000, store_ms * 1000
    verdicts[BORN_KNOWN, row] = FIRST_MS <= born_ms <= LAST_MS
    verdicts[STORE_KNOWN, row] = FIRST_MS <= store_ms <= LAST_MS


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


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_found(
    data: Bytes,
    found: Positions,
    valid: bool,
    wanted: int,
    row: int,
    text: Bytes,
    text_at: Positions,
    text_to: Positions,
    text_ends: Ends,
    verdicts: npt.NDArray[np.uint8],
) -> None:
    """KEYS, TAGS and UNIQ_KEY, where the record has them."""
    for column, verdict, bit in (
        (KEYS, HAS_KEYS, W_KEYS),
        (TAGS, HAS_TAGS, W_TAGS | W_TAGS_CODE),
        (UNIQUE_ID, HAS_UNIQUE_ID, W_UNIQUE_ID),
    ):
        at, size = found[2 * column], found[2 * column + 1]
        verdicts[verdict, row] = size > 0
        if wanted & bit:
            if size > 0:
                text_to[column] = put_text(text, text_to[column], data, at, size, valid)
            text_ends[column, row + 1] = text_to[column] - text_at[column]


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_hosts(
    data: Bytes,
    at: int,
    body_at: int,
    wanted: int,
    sys_flag: int,
    row: int,
    text: Bytes,
    text_at: Positions,
    text_to: Positions,
    text_ends: Ends,
) -> None:
    """Both hosts as text, and the message id that the store host is part of."""
    born_v6, store_v6 = sys_flag & SYS_FLAG_BORN_HOST_V6 != 0, sys_flag & SYS_FLAG_STORE_HOST_V6 != 0
    store_size = V6_HOST_SIZE if store_v6 else V4_HOST_SIZE
    store_at = body_at - TAIL_SIZE - store_size
    if wanted & W_BORN_HOST:
        text_to[BORN_HOST] = put_host(text, text_to[BORN_HOST], data, at + AT_BORN_HOST, born_v6)
        text_ends[BORN_HOST, row + 1] = text_to[BORN_HOST] - text_at[BORN_HOST]
    if wanted & W_STORE_HOST:
        text_to[STORE_HOST] = put_host(text, text_to[STORE_HOST], data, store_at, store_v6)
        text_ends[STORE_HOST, row + 1] = text_to[STORE_HOST] - text_at[STORE_HOST]
    if wanted & W_MESSAGE_ID:
        to = put_hex(text, text_to[MESSAGE_ID], data, store_at, store_size)
        text_to[MESSAGE_ID] = put_hex(text, to, data, at + AT_PHYSICAL_OFFSET, OFFSET_SIZE)
        text_ends[MESSAGE_ID, row + 1] = text_to[MESSAGE_ID] - text_at[MESSAGE_ID]


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def put_flag_words(
    sys_flag: int,
    wanted: int,
    row: int,
    text: Bytes,
    text_at: Positions,
    text_to: Positions,
    text_ends: Ends,
    verdicts: npt.NDArray[np.uint8],
) -> None:
    """What sysFlag says of the transaction and the compression, in words."""
    if wanted & W_TRANSACTION:
        kind = sys_flag >> 2 & 3
        copy(text, text_to[TRANSACTION], TRANSACTION_WORDS, kind * WORD, WORD)
        text_to[TRANSACTION] += TRANSACTION_SIZES[kind]
        text_ends[TRANSACTION, row + 1] = text_to[TRANSACTION] - text_at[TRANSACTION]
    verdicts[HAS_COMPRESSION, row] = sys_flag & SYS_FLAG_COMPRESSED
    if wanted & W_COMPRESSION:
        if sys_flag & SYS_FLAG_COMPRESSED:
            kind = sys_flag >> 8 & 7
            copy(text, text_to[COMPRESSION], COMPRESSION_WORDS, kind * WORD, WORD)
            text_to[COMPRESSION] += COMPRESSION_SIZES[kind]
        text_ends[COMPRESSION, row + 1] = text_to[COMPRESSION] - text_at[COMPRESSION]


def text_capacity(column: int, rows: int, input_bytes: int) -> int:
    """Bytes that column `column` of text can need for `rows` rows out of `input_bytes` of log, repairs included."""
    bounded = {
        BORN_HOST: HOST_TEXT_SIZE,
        STORE_HOST: HOST_TEXT_SIZE,
        MESSAGE_ID: MESSAGE_ID_SIZE,
        TRANSACTION: WORD,
        COMPRESSION: WORD,
    }
    if column in bounded:
        return rows * bounded[column] + COPIED
    return GROWTH * (input_bytes + 2 * LONGEST_TEXT) + COPIED
