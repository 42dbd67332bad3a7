"""Kinds of findings about the checkpoint."""

from __future__ import annotations

from recovery.verify.findings.kind import BEFORE_A_CRASH_START, Kind

CHECKPOINT_KINDS: dict[str, Kind] = {
    "checkpoint_missing": Kind(
        "warning",
        "commitlog",
        "A broker that ran leaves a checkpoint.",
        "After an unclean exit everything is parsed and dispatched from the oldest file on, and all index "
        "files are deleted.",
        "None needed without an `abort` file: the next start writes one. With one, see what `forecast` brings back "
        "before the start: topics that were deleted may come back.",
    ),
    "checkpoint_unreadable": Kind(
        "error",
        "none",
        "A checkpoint has 4096 bytes.",
        "The file is mapped at its full size; what is missing reads as 0.",
        BEFORE_A_CRASH_START,
    ),
    "checkpoint_later_than_data": Kind(
        "error",
        "commitlog",
        "No message of this time is in the log.",
        "After an unclean exit recovery starts at too late a file; messages not yet in the queues are lost "
        "to consumers.",
        BEFORE_A_CRASH_START,
    ),
    "checkpoint_earlier_than_data": Kind(
        "info",
        "commitlog",
        "All messages are later although the broker stopped in order.",
        "After an unclean exit recovery parses more than it needs.",
        "None needed.",
    ),
    "checkpoint_rest_written": Kind(
        "info",
        "none",
        "No known version writes anything behind the fields of a checkpoint.",
        "It does not read these bytes, and keeps them.",
        "None needed for the checkpoint; look at the other files of the disk that wrote them.",
    ),
}
