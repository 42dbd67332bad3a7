"""Kinds of findings about ConsumeQueues in files."""

from __future__ import annotations

from recovery.verify.findings.kind import AWAY, CUTS_QUEUE, KEEPS, LOG_IS_SOURCE, REBUILD, Kind

QUEUE_KINDS: dict[str, Kind] = {
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
    "light_queues_off": Kind(
        "warning",
        "unknown",
        "The store holds light queues (LMQ), and a broker with these settings gives none of them a message.",
        "Messages that it dispatches are in the light queues no more; without enableLmq it reads consumerOffset.json, "
        "and not the offsets in lmqConsumerOffset.json.",
        "Where clients still use light queues, set enableLmq=true and enableMultiDispatch=true in broker.conf before "
        "the next start; else leave them as they are.",
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
    "ext_unit_broken": Kind(
        "error",
        "commitlog",
        "The size of each ext unit leads to the next one, up to the end of what was written.",
        "A size that leads beyond the file's end stops the broker from loading; any other hides the units behind it.",
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
        f"If somebody deleted the topic, leave it as it is. Else: {REBUILD}",
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
        AWAY,
    ),
    "queue_order": Kind(
        "error",
        "commitlog",
        "A unit's place in the queue is not the record's queue offset.",
        "Appends go on at the queue's end: every later unit is off its place too.",
        REBUILD,
    ),
}
