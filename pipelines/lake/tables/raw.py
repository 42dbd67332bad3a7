"""The raw tables, and all tables of the lake by name.

A table is declared once: from here come the Arrow, Delta and Spark schemas, the comments of the DuckDB views and
docs/tables.md. Where a reader of `parsers` makes the rows, its schema is the declaration of the types.
"""

from __future__ import annotations

from typing import get_args

from parsers.checkpoints.checkpoint import CHECKPOINT_SCHEMA
from parsers.checkpoints.epochs import EPOCH_SCHEMA
from parsers.consumequeue.layout import TAGS_CODE_KINDS, UNIT_KINDS
from parsers.consumequeue.schema import EXT_UNIT_SCHEMA
from parsers.index.schema import INDEX_ENTRY_SCHEMA, INDEX_FILE_SCHEMA
from parsers.rocksdb.schema import DATABASE_UNIT_KINDS, DATABASE_UNIT_SCHEMA
from parsers.store.places import FileKind
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from parsers.timer.schema import TIMER_RECORD_SCHEMA
from pipelines.lake.tables.derived import DERIVED_TABLES
from pipelines.lake.tables.ingest_notes import INGESTED_FILES, MADE_FROM, WATERMARKS
from pipelines.lake.tables.ownership import OWNERSHIP_TABLES
from pipelines.lake.tables.raw_messages import COMMITLOG_MESSAGES, COMMITLOG_REGIONS, COMPACTED_MESSAGES
from pipelines.lake.tables.raw_table import ORIGIN, PACKED, FileSet, FileTable, SnapshotTable
from pipelines.lake.tables.saved_config import GROUP_CONFIGS, OFFSET_SNAPSHOTS, QUEUE_MAPPINGS, TOPIC_CONFIGS
from pipelines.lake.tables.table import Table, columns, described


def _unit_files(store: Store) -> list[StoreFile]:
    from parsers.queues.store_queues import unit_files

    return unit_files(store)


ALL_FILES = FileSet(lambda store: sorted(store.files(), key=lambda file: file.path))
CONSUMEQUEUE_FILES = FileSet(_unit_files, "consumequeue", "consumequeue_file")
INDEX_FOLDER = FileSet(lambda store: store.index, "index", "index_file")
TIMERLOG_FILES = FileSet(
    lambda store: [file for file in store.timer if file.kind == "timerlog"], "timerlog", "timer_file"
)
EXT_FILES = FileSet(
    lambda store: [file for files in store.ext_queues.values() for file in files], "consumequeue_ext", "ext_file"
)
EPOCH_FILES = FileSet(lambda store: store.epochs, "epochs")
CHECKPOINT_FILE = FileSet(lambda store: [store.checkpoint] if store.checkpoint is not None else [], "checkpoint")

STORE_FILES = FileTable(
    "store_files",
    "one file of a store as last read; it keeps its row when the broker has deleted it, see gone_at",
    ORIGIN
    + columns("""
kind           text from its place and name; not_understood names files that are not read
base_offset    i64  number in the name: first byte (CommitLog) or first byte of the queue; null for others
topic          text topic of a queue file
queue_id       i32  queue of a queue file
size           i64  bytes
modified_at    time modification time
used_bytes     i64  bytes up to the last one that is not zero
sha256         text hash of those bytes
why            text why a file is not understood, or why it could not be read
parser_version text rocketlens version that read it
gone_at        time when an ingest first missed it: the broker has deleted it, its rows in other tables stay; else null
"""),
    files=ALL_FILES,
    partition_by=PACKED,
).holding(kind=get_args(FileKind))

CONSUMEQUEUE_UNITS = FileTable(
    "consumequeue_units",
    "one unit of a ConsumeQueue, in a file or in a database",
    described(
        DATABASE_UNIT_SCHEMA,
        """
topic topic of the queue
queue_id queue of the topic
queue_offset message number in the queue: (number in the file name + position) / 20, or in a database's key
physical_offset where the message starts, byte in the CommitLog
msg_size bytes of the whole message
tags_code hash of TAGS, or delivery time, or address of an extension unit: see tags_code_kind
kind pre_blank only pads a queue's front, stale and expired are in a database and not within the queue; null for batches
tags_code_kind what tags_code stands for
store_timestamp_ms when the broker stored the message, epoch milliseconds; null where units do not say it
""",
        leading=ORIGIN,
    ),
    files=CONSUMEQUEUE_FILES,
    partition_by=PACKED,
).holding(kind=(*UNIT_KINDS, *DATABASE_UNIT_KINDS), tags_code_kind=TAGS_CODE_KINDS)

EXT_UNITS = FileTable(
    "ext_units",
    "one unit of a ConsumeQueueExt file (enableConsumeQueueExt)",
    described(
        EXT_UNIT_SCHEMA,
        """
topic topic of the queue
queue_id queue of the topic
file_pos byte in the file where the unit starts
ext_address the tags_code of the ConsumeQueue unit that leads here: byte in the queue's ext files, less 2^63
tags_code hash of TAGS, or delivery time, which the ConsumeQueue unit gave up for the address
store_timestamp_ms when the broker stored the message, epoch milliseconds
bit_map filters that the message passed when it was stored, a bit for each that a Bloom filter sets; empty without
""",
        leading=ORIGIN,
    ),
    files=EXT_FILES,
    partition_by=PACKED,
)

EPOCHS = FileTable(
    "epochs",
    "one epoch in an epoch file of controller mode; a broker goes by the .bak only where the file itself is of no use",
    described(
        EPOCH_SCHEMA,
        """
epoch number of the epoch: each new master starts one
start_physical_offset byte of the CommitLog at which its master began
end_physical_offset where the next epoch begins; null for the last, which is still open
""",
        leading=ORIGIN,
    ),
    files=EPOCH_FILES,
)

QUEUES = Table(
    "queues",
    "one queue, as a broker would sum it up from its files",
    columns("""
broker              text which broker's store, as named in rocketlens.toml
topic               text topic
queue_id            i32  queue of the topic
min_queue_offset    i64  what the broker answers once it is started: the first message, or 0 where its version has it so
max_queue_offset    i64  next message to come
messages            i64  those that a consumer can still read, up to the next one to come
max_physical_offset i64  CommitLog byte after the last message; null without any
watermark           i64  the broker's in `watermarks`: messages from this physical offset on are not counted
units               i64  messages in the files, or within the queue's limits in a database
pre_blanks          i64  units that only pad the front of the queue
files               i32  ConsumeQueue files; 0 where a database keeps the queue
"""),
    ("broker",),
)

INDEX_FILES = FileTable(
    "index_files",
    "one index file",
    described(
        INDEX_FILE_SCHEMA,
        """
file_size bytes of the file
begin_timestamp_ms store time of the first message in it, epoch milliseconds
end_timestamp_ms store time of the last message in it, epoch milliseconds
begin_physical_offset CommitLog position of the first message
end_physical_offset CommitLog position of the last message
hash_slot_count slots in use, as the header counts them
index_count number of the next entry, as the header counts them (entries are numbered from 1)
entries entries that can be read; null when the geometry is unknown
hash_slots slots the file has room for; null when unknown
max_entries entries the file has room for; null when unknown
geometry_known how the two were found out, or why not
""",
        leading=ORIGIN,
    ),
    files=INDEX_FOLDER,
)

INDEX_ENTRIES = FileTable(
    "index_entries",
    "one entry of an index file",
    described(
        INDEX_ENTRY_SCHEMA,
        """
entry_no number of the entry in its file, from 1
key_hash non-negative hash of topic#key
physical_offset where the message starts, byte in the CommitLog
time_diff_s seconds after the file's begin_timestamp
prev_index_no entry before it in the same slot's chain, 0 ends the chain
slot hash slot whose chain it is in
""",
        leading=ORIGIN,
    ),
    files=INDEX_FOLDER,
)

TIMER_RECORDS = FileTable(
    "timer_records",
    "one unit of a timerlog file: a timer taken in, rolled on or deleted",
    described(
        TIMER_RECORD_SCHEMA,
        """
position byte in the whole timerlog where the unit starts
prev_position timerlog byte of the unit before it in the same slot of the timer wheel; -1 ends the chain
is_rolled due later than due_time says: it is taken in again then
is_deletion deletes a timer instead of setting one
write_time when the unit was written, rounded to the timer's precision
delay_ms due this long after write_time
due_time when the message is delivered to its topic
physical_offset where the timer message starts, byte in the CommitLog
msg_size bytes of the timer message
real_topic_hash String.hashCode of the topic it will be delivered to, 0 for none
""",
        leading=ORIGIN,
    ),
    files=TIMERLOG_FILES,
)

CHECKPOINTS = FileTable(
    "checkpoints",
    "one checkpoint file",
    described(
        CHECKPOINT_SCHEMA,
        """
physic_msg_timestamp store time of the last message known flushed to the CommitLog
logics_msg_timestamp store time of the last message known dispatched to its queue (since 5.5.0: flushed)
index_msg_timestamp store time of the last entry of the last full index file
master_flushed_offset CommitLog position the master has flushed; null for versions without it
confirm_physical_offset start of the last valid message at the last recovery; null for versions without it
logics_physical_offset last message dispatched at the last thorough flush; null for versions without it
min_timestamp where recovery starts to look: three seconds before the older of log and queues
min_timestamp_index the same with the index taken in
""",
        leading=ORIGIN,
    ),
    files=CHECKPOINT_FILE,
)

RAW_TABLES: tuple[Table, ...] = (
    STORE_FILES,
    INGESTED_FILES,
    WATERMARKS,
    MADE_FROM,
    COMMITLOG_MESSAGES,
    COMMITLOG_REGIONS,
    CONSUMEQUEUE_UNITS,
    EXT_UNITS,
    COMPACTED_MESSAGES,
    QUEUES,
    INDEX_FILES,
    INDEX_ENTRIES,
    TIMER_RECORDS,
    CHECKPOINTS,
    EPOCHS,
    TOPIC_CONFIGS,
    GROUP_CONFIGS,
    QUEUE_MAPPINGS,
    OFFSET_SNAPSHOTS,
)
FILE_TABLES = tuple(table for table in RAW_TABLES if isinstance(table, FileTable))
SNAPSHOT_TABLES = tuple(table for table in RAW_TABLES if isinstance(table, SnapshotTable))
TABLES: dict[str, Table] = {table.name: table for table in (*RAW_TABLES, *DERIVED_TABLES, *OWNERSHIP_TABLES)}
