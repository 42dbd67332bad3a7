"""What the compiled decoder fills: the order of its rows of numbers and text, and the bits that ask for them.

The decoder gets one matrix of 32-bit integers, one of 64-bit integers, one of text ends, one of verdicts; the position
of a column in its matrix is its place here.
"""

from __future__ import annotations

INTS = (
    "total_size",
    "magic_code",
    "body_crc",
    "queue_id",
    "flag",
    "sys_flag",
    "reconsume_times",
    "body_size",
)
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
VERDICTS = (
    "born_timestamp",
    "store_timestamp",
    "crc_ok",
    "record_crc_ok",
    "keys",
    "tags",
    "unique_id",
    "compression",
)

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
