"""The raw tables of messages: of the CommitLog, with the ranges of bytes that are none, and of compacted topics."""

from __future__ import annotations

from typing import get_args

from parsers.commitlog.batches.schema import ALL_COLUMNS
from parsers.commitlog.files.region import RegionKind
from parsers.commitlog.record.layout import COMPRESSION_TYPES, TRANSACTION_TYPES, UNKNOWN_COMPRESSION
from parsers.compaction.schema import COPY_SCHEMA
from pipelines.lake.tables.raw_table import ORIGIN, FileSet, FileTable
from pipelines.lake.tables.table import columns, described

COMMITLOG_FILES = FileSet(lambda store: store.commitlog, "commitlog", "commitlog_file")
COMPACTION_LOGS = FileSet(
    lambda store: [file for files in store.compaction_logs.values() for file in files], "compaction", "compaction_file"
)
_OF_A_RECORD = """\
magic_code record version: V1 or V2 (two-byte topic length)
body_crc stored CRC-32 of the stored body, 31 bits
queue_id queue of its topic
flag the producer's flag, not interpreted by the broker
sys_flag bits: compression, tags, transaction type, address widths, batch
born_timestamp when the producer made it, by the producer's clock
born_host producer's address
store_host broker's address
reconsume_times deliveries that failed before this record
prepared_transaction_offset physical offset of the half message it resolves, else 0
body_size bytes of the stored body
properties names and values in stored order, duplicates kept
tags property TAGS
unique_id property UNIQ_KEY: the id the producer gave it
crc_ok does the stored body have the stored CRC; null when not verified
transaction_type what sys_flag says of its transaction
compression how the body is compressed, null for not at all
"""
_WORDS = {
    "transaction_type": TRANSACTION_TYPES.values(),
    "compression": (*COMPRESSION_TYPES.values(), UNKNOWN_COMPRESSION),
}

COMMITLOG_MESSAGES = FileTable(
    "commitlog_messages",
    "one message of the CommitLog, in physical order",
    described(
        ALL_COLUMNS,
        f"""
physical_offset byte in the whole CommitLog where the message starts
total_size bytes of the whole message (TOTALSIZE)
queue_offset message number in its queue; 0 for prepared and rolled-back transaction records
store_timestamp when the broker stored it
topic topic of the record (retry, schedule and half topics included)
keys property KEYS
message_id offset message id: store host and physical offset
record_crc_ok does the record have the CRC it carries of itself (__CRC32#); null where it carries none
tags_code hash of TAGS as its queue unit has it, 0 without tags
body stored body; only where the lake keeps bodies
body_decompressed body as the producer handed it over; only where the lake keeps bodies
{_OF_A_RECORD}""",
        leading=ORIGIN,
    ),
    files=COMMITLOG_FILES,
).holding(**_WORDS)

COMMITLOG_REGIONS = FileTable(
    "commitlog_regions",
    "one byte range of a CommitLog file; the ranges of a file add up to its size",
    ORIGIN
    + columns("""
physical_offset i64  first byte in the whole CommitLog
file_pos        i64  first byte in the file
length          i64  bytes
kind            text blank is the end of a file, stale are records of an earlier life of the file
records         i64  messages in the range
file_size       i64  bytes of the whole file when it was read
reason          text why it is not messages
"""),
    files=COMMITLOG_FILES,
).holding(kind=get_args(RegionKind))

COMPACTED_MESSAGES = FileTable(
    "compacted_messages",
    "one message in the copies of a compacted topic, at its place in the log of its queue",
    described(
        COPY_SCHEMA,
        f"""
position byte in the log of its queue where the copy starts
total_size bytes of the whole copy (TOTALSIZE)
queue_offset message number in its queue, that of the original
store_timestamp when the broker stored the original
topic topic of the record
keys property KEYS: of messages with the same, a pass keeps the newest
{_OF_A_RECORD}""",
        leading=ORIGIN,
    ),
    files=COMPACTION_LOGS,
).holding(**_WORDS)
