"""What the compiled decoder fills: the order of its rows of numbers and text, and the bits that ask for them.

The position of a column in its matrix of `Columns` is its place here.
"""

from __future__ import annotations

from typing import NamedTuple

from parsers.kernels.arrays import ByteRows, Bytes, IntRows, Ints, LongRows, Longs

INTS = ("total_size", "magic_code", "body_crc", "queue_id", "flag", "sys_flag", "reconsume_times", "body_size")
LONGS = (
    "physical_offset",
    "queue_offset",
    "born_timestamp",
    "store_timestamp",
    "prepared_transaction_offset",
    "tags_code",
)
TEXTS = (
    "topic",
    "keys",
    "tags",
    "unique_id",
    "names",
    "values",
    "body",
    "born_host",
    "store_host",
    "message_id",
    "transaction_type",
    "compression",
)
VERDICTS = ("born_timestamp", "store_timestamp", "crc_ok", "record_crc_ok", "keys", "tags", "unique_id", "compression")

TOPIC, KEYS, TAGS, UNIQUE_ID, NAMES, VALUES, BODY, BORN_HOST, STORE_HOST, MESSAGE_ID, TRANSACTION, COMPRESSION = range(
    len(TEXTS)
)
BORN_KNOWN, STORE_KNOWN, CRC_OK, RECORD_CRC_OK, HAS_KEYS, HAS_TAGS, HAS_UNIQUE_ID, HAS_COMPRESSION = range(
    len(VERDICTS)
)
NO, YES, UNKNOWN = range(3)
"""A verdict: bad or absent, good or present, not judged."""

WANTED = {
    name: 1 << bit
    for bit, name in enumerate(
        (
            "topic",
            "properties",
            "keys",
            "tags",
            "unique_id",
            "body",
            "born_host",
            "store_host",
            "message_id",
            "transaction_type",
            "compression",
            "crc_ok",
            "record_crc_ok",
            "tags_code",
        )
    )
}
"""Columns that cost something and are made only when asked for; the integers always are."""

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


class Columns(NamedTuple):
    """What the decoder fills, a column per record.

    Shape: row k of `ints` is INTS[k], and so on. Column k of text has the bytes text_at[k] to text_to[k] of `text`, and
        its row i ends at text_at[k] + text_ends[k, i + 1]. Pairs of properties are counted through all records: those
        of record i end before pair_counts[i + 1], and their names and values at pair_ends[0] and pair_ends[1].
        `found` is the decoder's own: where the last KEYS, TAGS and UNIQ_KEY of one record stand.
    """

    ints: IntRows
    longs: LongRows
    verdicts: ByteRows
    text: Bytes
    text_at: Longs
    text_to: Longs
    text_ends: IntRows
    pair_ends: IntRows
    pair_counts: Ints
    found: Longs


class LogBytes(NamedTuple):
    """A whole log file: its bytes, the physical offset of the first, and how many stand before each message."""

    data: Bytes
    base_offset: int
    header: int


class Asked(NamedTuple):
    """What is decoded: columns whose bits of WANTED are set; properties are parsed as up to 4.9.0 with `split_rule`."""

    wanted: int
    split_rule: bool


class Limits(NamedTuple):
    """Where a batch ends: at so many rows or bytes of log (one longer record is still taken), before a longer body."""

    rows: int
    batch_bytes: int
    body_bytes: int
