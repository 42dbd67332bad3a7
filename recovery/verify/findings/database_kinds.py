"""The kinds of findings that only a database of queues can have."""

from __future__ import annotations

from recovery.verify.findings.kind import LOG_IS_SOURCE, REDISPATCH, Kind

DATABASE_KINDS: dict[str, Kind] = {
    "queue_database_damaged": Kind(
        "error",
        "commitlog",
        "RocksDB refuses these bytes, or they are no unit and no limit of a queue. " + LOG_IS_SOURCE,
        "The broker does not start, or starts without what is in them and does not say so.",
        REDISPATCH,
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
