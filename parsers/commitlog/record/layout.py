"""The fixed structures of a CommitLog record and the order in which a record joins them.

Source: MessageDecoder, MessageVersion, MessageSysFlag, MessageExtEncoder#calMsgLength @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from parsers.layouts.layout import Field, Layout

MAGIC_V1 = -626843481  # 0xDAA320A7
MAGIC_V2 = -626843477  # 0xDAA320AB, since 5.1.0
MAGIC_BLANK = -875286124  # 0xCBD43194

SYS_FLAG_COMPRESSED = 0x001
SYS_FLAG_MULTI_TAGS = 0x002
SYS_FLAG_TRANSACTION = 0x00C
SYS_FLAG_BORN_HOST_V6 = 0x010
SYS_FLAG_STORE_HOST_V6 = 0x020
SYS_FLAG_NEED_UNWRAP = 0x040
SYS_FLAG_INNER_BATCH = 0x080
SYS_FLAG_COMPRESSION = 0x700

TRANSACTION_TYPES = {0x0: "none", 0x4: "prepared", 0x8: "commit", 0xC: "rollback"}
COMPRESSION_TYPES = {0x000: "zlib", 0x100: "lz4", 0x200: "zstd", 0x300: "zlib"}
UNKNOWN_COMPRESSION = "unknown"

RECORD_START = Layout(
    "Record start",
    "store/CommitLog.java#checkMessageAndReturnSize",
    Field("total_size", "i", "bytes of the whole record; of a blank: bytes to the end of the file"),
    Field("magic_code", "i", "0xDAA320A7 message V1, 0xDAA320AB message V2, 0xCBD43194 blank"),
)
HEAD = Layout(
    "Message head",
    "store/MessageExtEncoder.java#encode",
    *RECORD_START.fields,
    Field("body_crc", "i", "CRC-32 of the stored body with the sign bit cleared; 0 without a body"),
    Field("queue_id", "i", "queue of the topic"),
    Field("flag", "i", "the application's own"),
    Field("queue_offset", "q", "message number in the queue; 0 for prepared and rollback"),
    Field("physical_offset", "q", "byte of this record in the whole log"),
    Field("sys_flag", "i", "compression, transaction, host and batch bits"),
    Field("born_timestamp_ms", "q", "the producer's clock, epoch milliseconds"),
)
HOST_V4 = Layout(
    "Host, IPv4",
    "common/message/MessageDecoder.java#createMessageId",
    Field("address", "i", "the four bytes of the address"),
    Field("port", "i", "port"),
)
HOST_V6 = Layout(
    "Host, IPv6 (sysFlag 0x10 born, 0x20 store)",
    "common/message/MessageDecoder.java#createMessageId",
    Field("address_high", "q", "first eight bytes of the address"),
    Field("address_low", "q", "last eight bytes of the address"),
    Field("port", "i", "port"),
)
STORE_TIME = Layout(
    "Store time",
    "store/MessageExtEncoder.java#encode",
    Field("store_timestamp_ms", "q", "the broker's clock, epoch milliseconds"),
)
TAIL = Layout(
    "Message tail",
    "store/MessageExtEncoder.java#encode",
    Field("reconsume_times", "i", "how often it was consumed again"),
    Field("prepared_transaction_offset", "q", "of a commit: physical offset of the half message"),
    Field("body_size", "i", "bytes of the stored body that follow; 0 or less: none"),
)
TOPIC_SIZE_V1 = Layout(
    "Topic size, V1", "common/message/MessageVersion.java", Field("topic_size", "b", "bytes of topic")
)
TOPIC_SIZE_V2 = Layout(
    "Topic size, V2", "common/message/MessageVersion.java", Field("topic_size", "h", "bytes of topic")
)
PROPERTIES_SIZE = Layout(
    "Properties size",
    "common/message/MessageDecoder.java#decode",
    Field("properties_size", "h", "bytes of properties that follow; 0 or less: none"),
)
LAYOUTS = (HEAD, HOST_V4, HOST_V6, STORE_TIME, TAIL, TOPIC_SIZE_V1, TOPIC_SIZE_V2, PROPERTIES_SIZE)


@dataclass(frozen=True, slots=True)
class Parts:
    """The fixed structures of one form of record, with what is counted by them.

    In file order: head, born_host, store_time, store_host, tail, body, topic_size, topic, properties_size, properties.
    """

    born_host: Layout
    store_host: Layout
    topic_size: Layout
    head: Layout = HEAD
    store_time: Layout = STORE_TIME
    tail: Layout = TAIL
    properties_size: Layout = PROPERTIES_SIZE

    def before_body(self) -> Iterator[tuple[str, Layout]]:
        """The structures up to the body, by role."""
        for role in ("head", "born_host", "store_time", "store_host", "tail"):
            yield role, getattr(self, role)

    @property
    def body_at(self) -> int:
        """Byte of the record where the body starts: 88, and 12 more for each IPv6 host."""
        return self.head.size + self.born_host.size + self.store_time.size + self.store_host.size + self.tail.size

    def total_size(self, body_size: int, topic_size: int, properties_size: int) -> int:
        """Bytes of the whole record: `MessageExtEncoder#calMsgLength` (a negative size counts as none)."""
        counted = max(body_size, 0) + max(topic_size, 0) + max(properties_size, 0)
        return self.body_at + self.topic_size.size + self.properties_size.size + counted


@cache
def _parts(v2: bool, born_v6: bool, store_v6: bool) -> Parts:
    return Parts(
        born_host=HOST_V6 if born_v6 else HOST_V4,
        store_host=HOST_V6 if store_v6 else HOST_V4,
        topic_size=TOPIC_SIZE_V2 if v2 else TOPIC_SIZE_V1,
    )


def parts(magic_code: int, sys_flag: int) -> Parts:
    """Which structures a record is made of. Raises ValueError for a magic that is no message's."""
    if magic_code not in (MAGIC_V1, MAGIC_V2):
        raise ValueError(f"not the magic of a message: {magic_code & 0xFFFFFFFF:#010x}")
    return _parts(
        magic_code == MAGIC_V2, bool(sys_flag & SYS_FLAG_BORN_HOST_V6), bool(sys_flag & SYS_FLAG_STORE_HOST_V6)
    )


SMALLEST_MESSAGE = parts(MAGIC_V1, 0).total_size(0, 0, 0)
BLANK_SIZE_MIN = RECORD_START.size  # END_FILE_MIN_BLANK_LENGTH: a message never touches a file's last 8 bytes
assert SMALLEST_MESSAGE == 91


def transaction_type(sys_flag: int) -> str:
    """`MessageSysFlag#getTransactionValue` in words: none, prepared, commit, rollback."""
    return TRANSACTION_TYPES[sys_flag & SYS_FLAG_TRANSACTION]


def compression(sys_flag: int) -> str | None:
    """zlib, lz4 or zstd; None when the body is not compressed, `unknown` for a type that no version writes."""
    if not sys_flag & SYS_FLAG_COMPRESSED:
        return None
    return COMPRESSION_TYPES.get(sys_flag & SYS_FLAG_COMPRESSION, UNKNOWN_COMPRESSION)
