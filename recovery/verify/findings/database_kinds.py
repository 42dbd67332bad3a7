"""The kinds of findings that only a database of queues can have."""

from __future__ import annotations

from recovery.verify.findings.kind import LOG_IS_SOURCE, REDISPATCH, Kind

KEEP_ROWS = (
    "Copy the store before any start. Do not remove rocksdbstore: timers and half messages that are in it only would "
    "never be delivered. Messages that its index does not lead to are found with `rocketlens find --scan`; those of "
    "timers and half messages can be read from the log (`rocketlens dump commitlog`)."
)
DATABASE_KINDS: dict[str, Kind] = {
    "queue_database_damaged": Kind(
        "error",
        "commitlog",
        "RocksDB refuses these bytes, or they are no unit and no limit of a queue. " + LOG_IS_SOURCE,
        "The broker does not start, or starts without what is in them and does not say so.",
        REDISPATCH,
    ),
    "message_row_unreadable": Kind(
        "error",
        "commitlog",
        "RocksDB refuses parts of rocksdbstore, or a row there is none of an index, a timer or a half message.",
        "The broker does not start, or goes on without what is in them.",
        KEEP_ROWS,
    ),
    "message_row_wrong": Kind(
        "error",
        "commitlog",
        "A row of rocksdbstore is of one message: its keys, its size and its unique key are that message's.",
        "A query finds another message or none; a timer or a half message is not delivered, or another one is.",
        KEEP_ROWS,
    ),
    "message_row_missing": Kind(
        "error",
        "commitlog",
        "The database notes that it has the keys of these messages, and later ones have theirs.",
        "Queries by key do not find these messages; a start does not add what is before the note.",
        KEEP_ROWS,
    ),
    "queue_limit_wrong": Kind(
        "error",
        "commitlog",
        "The unit of a queue's last message is written together with the note of which it is.",
        "The queue ends where the note says, whatever its units are.",
        REDISPATCH,
    ),
    "unit_wrong_store_time": Kind(
        "error",
        "commitlog",
        "A unit in a database repeats the store time of its record. " + LOG_IS_SOURCE,
        "Searches by time use the unit's; consumers that start at a time start at a wrong message.",
        REDISPATCH,
    ),
}
