"""Kinds of findings about the index."""

from __future__ import annotations

from recovery.verify.findings.kind import KEEPS, REBUILD_INDEX, Kind

INDEX_KINDS: dict[str, Kind] = {
    "index_entry_to_nothing": Kind(
        "warning", "commitlog", "No record starts where the entry points.", KEEPS, REBUILD_INDEX
    ),
    "index_entry_wrong": Kind(
        "error",
        "commitlog",
        "The record has no key of this hash, or the entry is out of the order of the log.",
        KEEPS,
        REBUILD_INDEX,
    ),
    "index_time_wrong": Kind(
        "warning",
        "commitlog",
        "The entry's seconds are not those of the record's store time.",
        "A query by key with a time window can miss the message.",
        REBUILD_INDEX,
    ),
    "index_chain_wrong": Kind(
        "error",
        "none",
        "Slots and entries do not form the chains that their hashes ask for.",
        "A query by key follows the chain and misses what is behind the break (apache/rocketmq issue 8041).",
        REBUILD_INDEX,
    ),
    "index_entries_lost": Kind(
        "error",
        "none",
        "The header counts entries that are zeros, and a slot or the log has the last of them.",
        "A query by key that comes to them finds neither them nor what is behind them in their chains.",
        REBUILD_INDEX,
    ),
    "index_keys_missing": Kind(
        "error",
        "commitlog",
        "The record has keys that no entry holds.",
        "A query by key misses the message (apache/rocketmq issue 8041); a start does not index it again "
        "unless it dispatches it.",
        REBUILD_INDEX,
    ),
    "index_header_wrong": Kind(
        "error",
        "none",
        "The header does not describe the entries in the file.",
        "Queries skip the file or a part of it by its header; after an unclean exit a file is deleted by its end time.",
        REBUILD_INDEX,
    ),
    "index_unreadable": Kind(
        "error",
        "none",
        "The file's layout cannot be told.",
        "It is opened with the configured numbers of slots and entries, whatever it holds.",
        REBUILD_INDEX,
    ),
}
