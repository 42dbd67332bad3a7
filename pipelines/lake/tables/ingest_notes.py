"""Tables in which an ingest notes what it has read, how far the stores had come, and what it made of them."""

from __future__ import annotations

from pipelines.lake.tables.raw_table import ORIGIN
from pipelines.lake.tables.table import Table, columns

INGESTED_FILES = Table(
    "ingested_files",
    "one file of a store as it was just before its rows were last read: an ingest reads it again when it has changed",
    ORIGIN
    + columns("""
size          i64   bytes
modified_ns   i64   modification time, nanoseconds since 1970
inode         i64   the system's number of the file
written_until i64   bytes up to the end of its last written page
mark          i64   CRC-32 of its first page, its last written page and the page after it
read_at       time  when it was looked at
tables        texts tables whose rows were read from the file as it was then
made_with     texts tables that have rows of the file, each with a hash over the columns it had when they were read
"""),
    ("broker",),
)

WATERMARKS = Table(
    "watermarks",
    "one broker, and how far its store had come when it was last ingested: what lies beyond is in progress",
    columns("""
broker          text which broker
taken_at        time when it was taken: before any row of that ingest was read
physical_offset i64  messages that start before it had passed log, queues and index; the tables are cut here
log_end         i64  CommitLog byte after the last record of the log
dispatched_to   i64  CommitLog byte after the newest message that a queue had; 0 without any
"""),
    ("broker",),
)

MADE_FROM = Table(
    "made_from",
    "one table made of one broker's files, or of all brokers': an ingest makes it again when these have changed",
    columns("""
broker  text which broker; empty for a table made of all brokers, logs and captures together
made    text table
inputs  text hashes over the columns of the table, the states of the files, and what rocketlens.toml says
made_at time when
"""),
)
