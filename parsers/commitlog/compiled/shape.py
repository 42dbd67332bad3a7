"""Where the parts of a record are, inside compiled code: every length compared with the bytes left before it is used.

The compiled twin of `message.decode_message`: a record has a shape exactly when the scalar decoder reads it.
"""

from __future__ import annotations

from parsers.commitlog.dledger_headers.layout import ENTRY_START
from parsers.commitlog.dledger_headers.layout import MAGIC_BLANK as ENTRY_BLANK
from parsers.commitlog.record.layout import (
    BLANK_SIZE_MIN,
    HEAD,
    HOST_V4,
    HOST_V6,
    MAGIC_BLANK,
    MAGIC_V1,
    MAGIC_V2,
    PROPERTIES_SIZE,
    SMALLEST_MESSAGE,
    SYS_FLAG_BORN_HOST_V6,
    SYS_FLAG_STORE_HOST_V6,
    TAIL,
    TOPIC_SIZE_V1,
    TOPIC_SIZE_V2,
    parts,
)
from parsers.kernels.arrays import Bytes
from parsers.kernels.bigendian import load_int, load_long, load_short
from parsers.kernels.kernel import inline_kernel

AT_MAGIC = HEAD.offsets["magic_code"]
AT_ENTRY_SIZE = ENTRY_START.offsets["entry_size"]
AT_BODY_CRC = HEAD.offsets["body_crc"]
AT_QUEUE_ID = HEAD.offsets["queue_id"]
AT_FLAG = HEAD.offsets["flag"]
AT_QUEUE_OFFSET = HEAD.offsets["queue_offset"]
AT_PHYSICAL_OFFSET = HEAD.offsets["physical_offset"]
AT_SYS_FLAG = HEAD.offsets["sys_flag"]
AT_BORN_TIMESTAMP = HEAD.offsets["born_timestamp_ms"]
AT_BORN_HOST = HEAD.size
TAIL_SIZE = TAIL.size
AT_PREPARED = TAIL.offsets["prepared_transaction_offset"]
AT_BODY_SIZE = TAIL.offsets["body_size"]
V4_HOST_SIZE, V6_HOST_SIZE = HOST_V4.size, HOST_V6.size
HOST_V6_MORE = V6_HOST_SIZE - V4_HOST_SIZE
BODY_AT_V4 = parts(MAGIC_V1, 0).body_at
V1_WIDTH, V2_WIDTH, PROPERTIES_WIDTH = TOPIC_SIZE_V1.size, TOPIC_SIZE_V2.size, PROPERTIES_SIZE.size

Shape = tuple[int, int, int, int, int, int, int]
"""total_size (0: no record), and where body, topic and properties start and how many bytes each has, from byte 0."""


@inline_kernel
def shape_of(data: Bytes, at: int) -> Shape:
    """The shape of the record at byte `at`, with total_size 0 where no record of the format is."""
    none = (0, 0, 0, 0, 0, 0, 0)
    left = len(data) - at
    if left < SMALLEST_MESSAGE:
        return none
    total_size = wide(load_int(data, at))
    magic = load_int(data, at + AT_MAGIC)
    if (magic != MAGIC_V1 and magic != MAGIC_V2) or total_size < SMALLEST_MESSAGE or total_size > left:
        return none
    sys_flag = load_int(data, at + AT_SYS_FLAG)
    body_at = at + BODY_AT_V4
    if sys_flag & SYS_FLAG_BORN_HOST_V6:
        body_at += HOST_V6_MORE
    if sys_flag & SYS_FLAG_STORE_HOST_V6:
        body_at += HOST_V6_MORE
    end = at + total_size
    topic_width = V2_WIDTH if magic == MAGIC_V2 else V1_WIDTH
    if body_at + topic_width + PROPERTIES_WIDTH > end:
        return none
    body_size = max(0, wide(load_int(data, body_at - TAIL_SIZE + AT_BODY_SIZE)))
    topic_at = body_at + body_size + topic_width
    if topic_at + PROPERTIES_WIDTH > end:
        return none
    topic_size = (
        wide(load_short(data, topic_at - V2_WIDTH)) if magic == MAGIC_V2 else signed_byte(data[topic_at - V1_WIDTH])
    )
    properties_at = topic_at + topic_size + PROPERTIES_WIDTH
    if topic_size < 0 or properties_at > end:
        return none
    properties_size = max(0, wide(load_short(data, properties_at - PROPERTIES_WIDTH)))
    if properties_at + properties_size != end:
        return none
    return total_size, body_at, body_size, topic_at, topic_size, properties_at, properties_size


@inline_kernel
def wide(value: int) -> int:
    """Widened to 64 bits, so that no sum of sizes wraps."""
    return int(value)


@inline_kernel
def signed_byte(value: int) -> int:
    """Java's byte."""
    return int(value) - 256 if value >= 128 else int(value)


@inline_kernel
def own_offset(data: Bytes, at: int) -> int:
    """The physical offset that the record at `at` gives itself."""
    return load_long(data, at + AT_PHYSICAL_OFFSET)


@inline_kernel
def blank_size(data: Bytes, at: int, header: int) -> int:
    """The size that the end-of-file record at `at` gives itself."""
    return wide(load_int(data, at + AT_ENTRY_SIZE if header else at))


@inline_kernel
def is_blank(data: Bytes, at: int, header: int) -> bool:
    """An end-of-file record starts here, of a log with `header` bytes before each message.

    Whatever its size says; but in a DLedger log, whose magic is -1, the size has to be right.
    """
    left = len(data) - at
    if left < BLANK_SIZE_MIN:
        return False
    if header:
        return bool(load_int(data, at) == ENTRY_BLANK and blank_size(data, at, header) == left)
    return bool(load_int(data, at + AT_MAGIC) == MAGIC_BLANK)
