"""Every kind of finding, declared once: how bad it is, which side is right and why, what a start does, the repair."""

from __future__ import annotations

from recovery.verify.findings.compaction_kinds import COMPACTION_KINDS
from recovery.verify.findings.config_kinds import CONFIG_KINDS
from recovery.verify.findings.database_kinds import DATABASE_KINDS
from recovery.verify.findings.kind import (
    CUTS_QUEUE,
    ENDS_LOG,
    KEEPS,
    LOG_IS_SOURCE,
    REBUILD,
    REBUILD_INDEX,
    RESTORE_LOG,
    Kind,
)
from recovery.verify.findings.timer_kinds import TIMER_KINDS

KINDS: dict[str, Kind] = {
    # -- the log
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
        "Remove the file.",
    ),
    "log_head_missing": Kind(
        "error",
        "consumequeue",
        "Whole queue or index files lead below the log's first file: a broker's cleaner deletes them together with "
        "the log's, unless it was stopped in between.",
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
        "Restore the file; if nothing is missing, give it its size with zeros at the end.",
    ),
    "unexpected_file": Kind(
        "warning",
        "none",
        "No file of this name belongs here.",
        "A name that is no number fails the load of a log or queue; in index/ it is skipped.",
        "Move the file away.",
    ),
    "record_contradicts_itself": Kind(
        "error",
        "none",
        "Prepared and rolled back records take no place in a queue and have queue offset 0; one of the two "
        "fields is wrong.",
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
    # -- queues
    "unit_points_to_nothing": Kind(
        "error", "commitlog", LOG_IS_SOURCE, "A pull at this offset finds no message and moves on.", REBUILD
    ),
    "unit_of_other_message": Kind(
        "error",
        "commitlog",
        LOG_IS_SOURCE,
        "Consumers of this queue get a message that is not theirs, and miss their own.",
        REBUILD,
    ),
    "unit_beyond_log": Kind(
        "error",
        "commitlog",
        LOG_IS_SOURCE,
        "Recovery cuts the queue before this unit; until then reads past it fail.",
        REBUILD,
    ),
    "unit_into_deleted_log": Kind(
        "warning",
        "commitlog",
        "The record is not in any file that is left.",
        "The queue's minimum moves past it.",
        REBUILD,
    ),
    "unit_wrong_size": Kind("error", "commitlog", LOG_IS_SOURCE, "Reads return too few or too many bytes.", REBUILD),
    "unit_wrong_tags_code": Kind(
        "error",
        "commitlog",
        LOG_IS_SOURCE,
        "Filtering by tag passes over the message, or delivers it at another time.",
        REBUILD,
    ),
    "ext_unit_missing": Kind(
        "error",
        "commitlog",
        "The unit holds an address in consumequeue_ext, and no ext unit begins there.",
        "The broker does not filter this message: every consumer that pulls it gets it, and its client filters by tag.",
        REBUILD,
    ),
    "ext_unit_wrong": Kind(
        "error",
        "commitlog",
        LOG_IS_SOURCE,
        "Filtering by tag or by SQL passes over the message, or gives it to those who did not ask for it.",
        REBUILD,
    ),
    "unit_invalid": Kind("error", "commitlog", LOG_IS_SOURCE, CUTS_QUEUE, REBUILD),
    "unit_unexpected": Kind(
        "error",
        "commitlog",
        "The record takes no part in this queue: prepared and rolled back messages have no unit.",
        KEEPS,
        REBUILD,
    ),
    "not_dispatched": Kind(
        "error",
        "commitlog",
        LOG_IS_SOURCE,
        "Nothing: dispatch has passed this message, consumers will never see it. After an unclean exit "
        "recovery may dispatch it again.",
        REBUILD,
    ),
    "queue_offset_taken": Kind(
        "error",
        "commitlog",
        "The log holds two messages of one queue offset: the broker gave the number again because no unit held it, or "
        "the record's sysFlag or queue offset was changed.",
        "Nothing: consumers never see the message named here. Queues made anew from the log would serve it and hide "
        "the other one, or move it.",
        "Put no queue in place that is made from the whole log: it would hide a message that consumers see. Read the "
        "message from the log (`rocketlens dump commitlog`) and send it again if it is wanted.",
    ),
    "not_dispatched_yet": Kind(
        "warning",
        "commitlog",
        "The record lies behind the last unit of all queues.",
        "4.5.1 to 4.9.8 dispatch it; 5.0.0 to 5.3.1 do so after an unclean exit only; 5.3.2 and later do, "
        "all but the first such record.",
        REBUILD,
    ),
    "queue_missing": Kind(
        "error",
        "commitlog",
        LOG_IS_SOURCE,
        "The queue starts again at offset 0 unless all queues are missing and the version dispatches again.",
        "If nobody deleted the topic, stop the broker and put rebuilt consumequeue/ and index/ in place "
        "(`rocketlens rebuild`). If somebody did, leave it as it is.",
    ),
    "queue_numbers_restarted": Kind(
        "error",
        "commitlog",
        "The queue counts from 0 again, and not every queue of its topic does: it lost its files, or its topic was "
        "deleted and a start gave another queue its messages of before back (the evidence says if that is open).",
        "Nothing: consumers never see the messages before; their numbers are taken by later ones.",
        "Put no queue in place that holds the former messages: it would hide living ones. Read them from the log "
        "(`rocketlens dump commitlog`) and send those again that are wanted and that nobody deleted.",
    ),
    "queue_file_missing": Kind(
        "error",
        "commitlog",
        "The numbers in the file names leave a gap, or units end before the queue's do.",
        "Load does not notice; reads into the gap find nothing, and new units go where the last file is.",
        REBUILD,
    ),
    "queue_file_superfluous": Kind(
        "warning",
        "none",
        "An empty file follows one that is not full.",
        "Since 5.0.0 an empty last queue file can make load fail; otherwise it is kept.",
        "Remove the file.",
    ),
    "queue_order": Kind(
        "error",
        "commitlog",
        "A unit's place in the queue is not the record's queue offset.",
        "Appends go on at the queue's end: every later unit is off its place too.",
        REBUILD,
    ),
    # -- DLedger
    "entry_header_wrong": Kind(
        "critical",
        "commitlog",
        "The header before a whole message is not what the entry's place, size and neighbours ask for.",
        "Recovery reads the last three files; where it reads sizes, number or term that do not fit, the node's log is "
        "cut there and comes again from the leader.",
        RESTORE_LOG,
    ),
    "entry_index_wrong": Kind(
        "error",
        "commitlog",
        "The unit at an entry's number is not that entry's: the index is made from the log.",
        "Recovery compares the entries of the last three files and writes the index anew from the first difference; "
        "an earlier entry cannot be sent to a replica.",
        "Restore dledger-<selfId>/index from a copy.",
    ),
    "dledger_state_wrong": Kind(
        "error",
        "unknown",
        "The node's term or checkpoint speaks of what its log does not have, or the log of what they do not know.",
        "The node starts with the log as it is: a term may be voted in twice, or entries are missing until the leader "
        "sends them.",
        "Compare with the other replicas before any start.",
    ),
    # -- index
    "index_entry_to_nothing": Kind(
        "warning", "commitlog", "No record starts where the entry points.", KEEPS, REBUILD_INDEX
    ),
    "index_entry_wrong": Kind("error", "commitlog", "The record has no key of this hash.", KEEPS, REBUILD_INDEX),
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
    **DATABASE_KINDS,
    # -- checkpoint and configuration
    "checkpoint_missing": Kind(
        "warning",
        "commitlog",
        "A broker that ran leaves a checkpoint.",
        "After an unclean exit everything is parsed and dispatched from the oldest file on, and all index "
        "files are deleted.",
        "None needed: the next start writes one. Recovery takes longer.",
    ),
    "checkpoint_unreadable": Kind(
        "error",
        "none",
        "A checkpoint has 4096 bytes.",
        "The file is mapped at its full size; what is missing reads as 0.",
        "Restore it, or remove it for a full recovery.",
    ),
    "checkpoint_later_than_data": Kind(
        "error",
        "commitlog",
        "No message of this time is in the log.",
        "After an unclean exit recovery starts at too late a file; messages not yet in the queues are lost "
        "to consumers.",
        "Remove the checkpoint and create `abort`: recovery then starts at the oldest file.",
    ),
    "checkpoint_earlier_than_data": Kind(
        "info",
        "commitlog",
        "All messages are later although the broker stopped in order.",
        "After an unclean exit recovery parses more than it needs.",
        "None needed.",
    ),
    **TIMER_KINDS,
    **COMPACTION_KINDS,
    **CONFIG_KINDS,
    "queue_without_topic_config": Kind(
        "warning",
        "commitlog",
        "The queue has messages in the log, and topics.json does not know its topic.",
        "The queue is loaded, but clients get no route to it.",
        "If the topic is wanted, create it with as many queues. If it was deleted on purpose, delete it again "
        "(`mqadmin deleteTopic`).",
    ),
    "queue_beyond_read_queues": Kind(
        "warning",
        "config",
        "Groups have unread messages in queues at or above the topic's readQueueNums: consumers are assigned none of "
        "them, and consumerProgress leaves them out.",
        "A start changes nothing about it; the messages are deleted with their files.",
        "Raise the topic's readQueueNums again (`mqadmin updateTopic -r`, writeQueueNums as it is) until the groups "
        "have consumed these queues, then lower it.",
    ),
    "topic_config_without_queue": Kind(
        "warning",
        "commitlog",
        "topics.json names the topic and the log has its messages, but it has no queue.",
        "The queue starts again at offset 0.",
        REBUILD,
    ),
    "consumer_offset_below_min": Kind(
        "warning",
        "consumequeue",
        "The messages between are expired.",
        "The consumer goes on at the minimum.",
        "None needed: the group lost these messages unread.",
    ),
    "consumer_offset_above_max": Kind(
        "error",
        "consumequeue",
        "The queue is shorter than what was consumed of it.",
        "A pull answers OFFSET_OVERFLOW; the client corrects its offset and may skip or repeat messages.",
        "Set the group's offset to the queue's minimum: it repeats messages and skips none. The queue's maximum skips "
        "what was stored since the queue became shorter.",
    ),
    "consumer_offset_of_former_life": Kind(
        "warning",
        "consumequeue",
        "The topic was deleted and created again, and counts from 0; the offset counts messages of a former life.",
        "The next pull of the group goes on at the queue's end (before 4.9.4 at 0, where the queue starts there): what "
        "the queue has is skipped.",
        "Before the group comes back, set its offset to the living queue's minimum: it repeats messages and skips "
        "none.",
    ),
    "consumer_offset_of_unknown_life": Kind(
        "warning",
        "unknown",
        "The topic was deleted and created again, and counts from 0. Both lives have messages up to this offset.",
        "The group goes on at the offset. If it is of the former life, living messages before it are never delivered.",
        "Find out whether the group has consumed since the topic was created again. If it has not, set its offset to "
        "the living queue's minimum, which repeats messages and skips none; if it has, leave it.",
    ),
    "delay_offset_above_max": Kind(
        "error",
        "consumequeue",
        "The schedule queue is shorter than what was delivered of it.",
        "Delivery of this level corrects its offset to the queue's end.",
        "With the broker stopped, set the offset in delayOffset.json to the queue's minimum: it delivers messages "
        "again and skips none. The queue's maximum skips what is still to be delivered.",
    ),
    "delay_offset_below_min": Kind(
        "warning",
        "consumequeue",
        "The delayed messages between are expired undelivered.",
        "Delivery of this level goes on at the minimum.",
        "None needed: these messages are lost.",
    ),
}
