"""Kinds of findings about the log."""

from __future__ import annotations

from recovery.verify.findings.kind import AWAY, ENDS_LOG, KEEPS, RESTORE_LOG, Kind

LOG_KINDS: dict[str, Kind] = {
    "log_damaged": Kind(
        "critical",
        "none",
        "No record stands here, and the bytes are neither blank nor unwritten.",
        ENDS_LOG,
        RESTORE_LOG,
    ),
    "record_of_newer_version": Kind(
        "critical",
        "commitlog",
        "The records are sound, and this version does not know their form.",
        ENDS_LOG,
        "Do not start this version on the store. Start the version that wrote it, or a later one.",
    ),
    "queues_of_newer_version": Kind(
        "critical",
        "commitlog",
        "The queues are of a kind that this version does not have.",
        "This version does not look at them: their messages are in no queue, and consumers do not get them.",
        "Do not start this version on the store. Start the version that wrote it, or a later one.",
    ),
    "body_crc_wrong": Kind(
        "critical",
        "none",
        "The stored body is not what its CRC says; sizes and place are right.",
        ENDS_LOG,
        RESTORE_LOG,
    ),
    "record_crc_wrong": Kind(
        "critical",
        "none",
        "The record is not what its __CRC32# says.",
        "Only forceVerifyPropCRC looks at it; then the log ends here.",
        RESTORE_LOG,
    ),
    "stale_tail": Kind(
        "warning",
        "commitlog",
        "Records of another place in the log lie behind its end (apache/rocketmq issue 10017).",
        "A version that does not compare a record's own offset may take them for new ones when it parses this file.",
        "Set the bytes behind the log's end to zero in a copy of the file.",
    ),
    "log_file_missing": Kind(
        "critical",
        "none",
        "The numbers in the file names leave a gap (apache/rocketmq issue 2140).",
        "Load only logs the gap; parsing goes on at the next file, reads into the gap find nothing.",
        RESTORE_LOG,
    ),
    "log_file_out_of_place": Kind(
        "warning",
        "none",
        "A file without a record follows a gap.",
        "Load only logs the gap; truncation to the log's end deletes the file.",
        AWAY,
    ),
    "log_head_missing": Kind(
        "error",
        "consumequeue",
        "Whole queue or index files lead below the log's first file: a broker's cleaner deletes them in the rounds "
        "after the log's, unless it was stopped in between or a reader kept it from it.",
        "The queues' minimum moves up to the first message that is left.",
        RESTORE_LOG,
    ),
    "log_begins_late": Kind(
        "info",
        "unknown",
        "A cleaner leaves a log that begins later than its queues and index, and so does the loss of its first files; "
        "these files are too small to tell which.",
        "The queues' minimum moves up to the first message that is left.",
        "None needed if the messages were consumed or have expired; whoever misses them compares with a replica.",
    ),
    "log_tail_missing": Kind(
        "critical",
        "consumequeue",
        "Queues or index go on where the log ends: it was longer.",
        "Recovery cuts the queues back to the log's end; these messages are gone.",
        RESTORE_LOG,
    ),
    "file_size_wrong": Kind(
        "error",
        "none",
        "Every file of a kind has the configured size.",
        "Load fails and the broker does not start (4.9.2 ignores this and all later files; since 5.1.3 an "
        "empty last file is deleted).",
        "Restore the file. Without a copy of it do what `rocketlens forecast` advises before the start.",
    ),
    "unexpected_file": Kind(
        "warning",
        "none",
        "No file of this name belongs here.",
        "A name that is no number fails the load of a log or queue; in index/ it is skipped.",
        "Find out what it is before any start: `rocketlens forecast` tells whether it keeps the broker from starting, "
        "and whether it is a log file that was renamed and gets its name back. Else move it out of the store, and keep "
        "it.",
    ),
    "record_contradicts_itself": Kind(
        "error",
        "none",
        "Prepared and rolled back records take no place in a queue and have queue offset 0; what is not there has "
        "the length 0, and properties are text. One of the record's own fields is wrong.",
        KEEPS,
        "Compare with a replica; a record has no CRC over its own header unless __CRC32# is there.",
    ),
    "store_timestamp_disorder": Kind(
        "warning",
        "none",
        "Store times only grow within a log; this one leaves its neighbours and the index.",
        "Recovery compares the first record's store time of each file with the checkpoint; searches by time "
        "go wrong here.",
        "Restore the record from a replica.",
    ),
}
