"""Kinds of findings about the copies of compacted topics, in compaction/."""

from __future__ import annotations

from recovery.verify.findings.kind import Kind

NOTHING_SAFE = (
    "Copy the store before any start, and compare compaction/ with a replica's. Do not remove it: a start makes no "
    "copy again of what is dispatched already, and messages that expired from the CommitLog are nowhere else. "
)
AS_LONG_AS = "What the CommitLog still has can be read with `rocketlens dump commitlog --topic`."

COMPACTION_KINDS: dict[str, Kind] = {
    "compaction_files_apart": Kind(
        "critical",
        "none",
        "Files of compactionLog/ and of compactionCq/ have the same names, and the sizes that the settings say.",
        "Load fails, so the broker does not start; since 5.1.1 it goes on without the queue's copy where only a size "
        "is wrong, and consumers of the queue are told that there is none.",
        NOTHING_SAFE + AS_LONG_AS,
    ),
    "compaction_positions_wrong": Kind(
        "warning",
        "none",
        "A broker writes how far its passes have come as JSON, at each and when it stops, and none is ahead of its "
        "queue.",
        "Passes of a queue whose position is lost begin anew, and keep what they kept before; one ahead of its queue "
        "takes no file in until the queue has come there, and drops nothing.",
        "None needed for messages. Where another topic's position is lost with it put a copy of the backup in its "
        "place while the broker is stopped.",
    ),
    "compaction_log_damaged": Kind(
        "error",
        "none",
        "No record stands here, or its body is not what its CRC says.",
        "Pulls give these bytes to consumers as they are. A pass stops reading the file here and drops what is behind.",
        NOTHING_SAFE + AS_LONG_AS,
    ),
    "compaction_unit_wrong": Kind(
        "error",
        "unknown",
        "A unit is made from the record it leads to, and there is another one or none; either may have been altered.",
        "Recovery cuts a queue of copies at the first unit that is not valid, and keeps every other. Pulls go by the "
        "unit: they give other bytes, or go on behind it.",
        NOTHING_SAFE + AS_LONG_AS,
    ),
    "compaction_copy_differs": Kind(
        "error",
        "unknown",
        "A copy is its original byte for byte, but for PHYSICALOFFSET; one of the two was altered.",
        "Consumers of the topic are given the copy, all others the original.",
        NOTHING_SAFE + "Whose CRC fits is in the evidence.",
    ),
    "compaction_message_missing": Kind(
        "warning",
        "commitlog",
        "Messages with KEYS are copied when they are dispatched, and no pass has come so far.",
        "Consumers of the topic do not get them. They are missing rightly only if the topic was not compacted then.",
        "The messages are in the CommitLog (`rocketlens dump commitlog --topic`). Send again only those whose key has "
        "no newer message in the queue: what is sent again becomes the newest of its key. Send none where the topic "
        "became a compacted one after them.",
    ),
}
