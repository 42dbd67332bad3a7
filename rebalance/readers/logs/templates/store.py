"""What brokers write into store.log and storeerror.log about files that are cleaned, repaired or doubted, and what it
means.

Source of the texts: DefaultMessageStore, CommitLog, ConsumeQueue, MappedFile (5.x: DefaultMappedFile), MappedFileQueue,
AllocateMappedFileService, DLedgerCommitLog, since 5.2.0 RocksDBMessageStore, since 5.3.4 ConsumeQueueStore and
RocksDBConsumeQueueStore @4.2.0 - 5.5.1; a text with an own bound was looked for in the classes of the releases between.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import Template

_DELETED = "delete file[REF:{count}] {file} {result}, W:{wrote} M:{flushed}, {took}"
_COMPARED = "maxPhyOffsetOfConsumeQueue({stored}) >= processOffset({requested}), truncate dirty logic files"
_DELAYS = "schedule CQ offset invalid. offset={requested}, "
_OF_DELAYS = ", queueId={queue_id}"
_IN_LOCK = " in lock cost time(ms)={took}, bodyLength={body_size} AppendMessageResult={text}"


def _store(name: str, levels: str, versions: str, text: str) -> Template:
    return Template(name, "store", levels, versions, text, "")


def _started(name: str, exit_was: str) -> tuple[Template, ...]:
    return (
        _store(name, "INFO", "≤4.9.8", f"last shutdown {exit_was}"),
        _store(name, "INFO", "5.0.0–5.0.0", f"last shutdown {exit_was}, root dir: {{text}}"),
        _store(name, "INFO", "≥5.1.0", f"last shutdown {exit_was}, store path root dir: {{text}}"),
    )


STORE_TEMPLATES = (
    _store(
        "queue_order_wrong",
        "WARN",
        "all",
        "[BUG]logic queue order maybe wrong, expectLogicOffset: {requested} currentLogicOffset: {stored} "
        "Topic: {topic} QID: {queue_id} Diff: {count}",
    ),
    _store(
        "queue_unit_not_written",
        "WARN",
        "all",
        "[BUG]put commit log position info to {queue} {physical_offset} failed, retry {count} times",
    ),
    _store("queue_not_writable", "ERROR", "all", "[BUG]consume queue can not write, {topic} {queue_id}"),
    _store(
        "dispatched_again",
        "WARN",
        "≥4.5.0",
        "Maybe try to build consume queue repeatedly maxPhysicOffset={stored} phyOffset={requested}",
    ),
    _store(
        "dispatch_size_wrong",
        "ERROR",
        "all",
        "[BUG]read total count not equals msg total size. reputFromOffset={physical_offset}",
    ),
    _store("dispatch_size_wrong", "ERROR", "≥5.1.0", "[BUG]read total count not equals msg total size."),
    _store(
        "dispatch_size_wrong",
        "ERROR",
        "all",
        "[BUG]read total count not equals msg total size. totalSize={count}, readTotalCount={stored}, "
        "bodyLen={body_size}, topicLen={topic_size}, propertiesLength={properties_size}",
    ),
    _store(
        "files_do_not_join",
        "ERROR",
        "all",
        "[BUG]The mappedFile queue's data is damaged, the adjacent mappedFile's offset don't match. pre file {file}, "
        "cur file {other_file}",
    ),
    _store(
        "dispatch_went_on",
        "ERROR",
        "≤4.4.0",
        "[BUG]the master dispatch message to consume queue error, COMMITLOG OFFSET: {physical_offset}",
    ),
    _store(
        "dispatch_went_on",
        "ERROR",
        "≥4.5.0",
        "[BUG]dispatch message to consume queue error, COMMITLOG OFFSET: {physical_offset}",
    ),
    _store(
        "place_without_file",
        "WARN",
        "all",
        "Offset not matched. Request offset: {requested}, firstOffset: {place}, lastOffset: {stored}, "
        "mappedFileSize: {file_size}, mappedFiles count: {count}",
    ),
    _store("delay_offset_wrong", "ERROR", "≥4.9.2", _DELAYS + "cqMinOffset={place}, cqMaxOffset={stored}" + _OF_DELAYS),
    _store("delay_offset_wrong", "ERROR", "all", _DELAYS + "cqMinOffset={place}" + _OF_DELAYS),
    _store("delay_offset_wrong", "ERROR", "≥4.9.3", _DELAYS + "cqMaxOffset={stored}" + _OF_DELAYS),
    _store(
        "delay_offset_corrected",
        "ERROR",
        "≥4.9.2",
        "correct delay offset [ delayLevel {level} ] from {requested} to {queue_offset}",
    ),
    _store("log_ends", "WARN", "all", "found a illegal magic code 0x0"),
    _store("illegal_magic_code", "WARN", "all", "found a illegal magic code 0x{code}"),
    _store("crc_wrong", "WARN", "all", "CRC check failed. bodyCRC={requested}, currentCRC={stored}"),
    _store("half_record", "WARN", "≥5.0.0", "found a half message at {physical_offset}, it will be truncated."),
    _store(
        "wrong_log_offset",
        "WARN",
        "≥5.5.0",
        "found illegal commitlog offset {physical_offset} in {file}, current pos={place}, it will be truncated.",
    ),
    _store("queues_compared_with_log", "WARN", "≥4.3.2", _COMPARED),
    _store("queues_compared_with_log", "WARN", "≥4.5.0", "[TruncateCQ]" + _COMPARED),
    _store("queues_compared_with_log", "WARN", "≥5.2.0", "dledger " + _COMPARED),
    _store(
        "no_log_at_start",
        "WARN",
        "≥4.5.0",
        "The commitlog files are deleted, and delete the consume queue files",
    ),
    *_started("clean_exit", "normally"),
    *_started("unclean_exit", "abnormally"),
    _store(
        "cleaning",
        "INFO",
        "≤4.9.8",
        "begin to delete before {hours} hours file. timeup: {time_up} spacefull: {is_full} "
        "manualDeleteFileSeveralTimes: {count} cleanAtOnce: {at_once}",
    ),
    _store(
        "cleaning",
        "INFO",
        "≥5.0.0",
        "begin to delete before {hours} hours file. isTimeUp: {time_up} isUsageExceedsThreshold: {is_full} "
        "manualDeleteFileSeveralTimes: {count} cleanAtOnce: {at_once} deleteFileBatchMax: {most}",
    ),
    _store("abort_kept", "WARN", "all", "the store may be wrong, so shutdown abnormally, and keep abort file."),
    _store(
        "stopped_behind",
        "WARN",
        "≤4.9.8",
        "shutdown ReputMessageService, but commitlog have not finish to be dispatched, CL: {stored} reputFromOffset: "
        "{physical_offset}",
    ),
    _store(
        "stopped_behind",
        "WARN",
        "≥5.0.0",
        "shutdown ReputMessageService, but CommitLog have not finish to be dispatched, CommitLog max offset={stored}, "
        "reputFromOffset={physical_offset}",
    ),
    _store(
        "replica_elsewhere",
        "ERROR",
        "all",
        "master pushed offset not equal the max phy offset in slave, SLAVE: {requested} MASTER: {stored}",
    ),
    _store("put_refused", "WARN", "≤4.6.1", "message store is not writeable, so putMessage is forbidden {count}"),
    _store(
        "put_refused",
        "WARN",
        "4.8.0–4.9.8",
        "the message store is not writable. It may be caused by one of the following reasons: {text}",
    ),
    _store("file_deleted", "INFO", "all", _DELETED),
    _store("queue_dropped", "INFO", "≤5.0.0", "cleanUnusedTopic: {topic} {queue_id} ConsumeQueue cleaned"),
    _store(
        "queue_dropped",
        "INFO",
        "≥5.1.0",
        "DeleteTopic: ConsumeQueue has been cleaned, topic={topic}, queueId={queue_id}",
    ),
    _store(
        "queue_expired",
        "INFO",
        "all",
        "cleanExpiredConsumerQueue: {topic} {queue_id} consumer queue destroyed, minCommitLogOffset: {physical_offset} "
        "maxCLOffsetInConsumeQueue: {stored}",
    ),
    _store("nothing_to_delete", "WARN", "all", "disk space will be full soon, but delete file failed."),
    _store("cleaning_hour", "INFO", "all", "it's time to reclaim disk space, {text}"),
    _store("disk_full", "ERROR", "≤4.9.1", "physic disk maybe full soon {ratio}, so mark disk full"),
    _store(
        "disk_full",
        "ERROR",
        "≥4.9.2",
        "physic disk maybe full soon {ratio}, so mark disk full, storePathPhysic={text}",
    ),
    _store("disk_full", "ERROR", "all", "logics disk maybe full soon {ratio}, so mark disk full"),
    _store("disk_ok", "INFO", "≤4.9.1", "physic disk space OK {ratio}, so mark disk ok"),
    _store("disk_ok", "INFO", "≥4.9.2", "physic disk space OK {ratio}, so mark disk ok, storePathPhysic={text}"),
    _store("disk_ok", "INFO", "all", "logics disk space OK {ratio}, so mark disk ok"),
    _store("disk_nearly_full", "INFO", "≤4.9.1", "physic disk maybe full soon, so reclaim space, {ratio}"),
    _store(
        "disk_nearly_full",
        "INFO",
        "4.9.2–4.9.8",
        "physic disk maybe full soon, so reclaim space, {ratio}, storePathPhysic={text}",
    ),
    _store("disk_nearly_full", "INFO", "≤4.9.8", "logics disk maybe full soon, so reclaim space, {ratio}"),
    _store("disk_nearly_full", "INFO", "≥5.2.0", "logics disk maybe full soon, so reclaim space, {ratio}"),
    _store("disk_nearly_full", "INFO", "≥5.0.0", "commitLog disk maybe full soon, so reclaim space, {ratio}"),
    _store("disk_nearly_full", "INFO", "≥5.0.0", "consumeQueue disk maybe full soon, so reclaim space, {ratio}"),
    _store("file_not_made_in_time", "WARN", "all", "create mmap timeout {file} {file_size}"),
    _store("file_not_made_in_time", "WARN", "all", "this mmap request expired, maybe cause timeout {file} {file_size}"),
    _store("no_new_log_file", "ERROR", "all", "create mapped file1 error, topic: {topic} clientAddr: {remote}"),
    _store("no_new_log_file", "ERROR", "all", "create mapped file2 error, topic: {topic} clientAddr: {remote}"),
    _store("no_new_log_file", "ERROR", "all", "Create mapped file1 error, topic: {topic} clientAddr: {remote}"),
    _store("no_new_log_file", "ERROR", "all", "Create mapped file2 error, topic: {topic} clientAddr: {remote}"),
    _store("slow_put", "WARN", "all", "[NOTIFYME]putMessage" + _IN_LOCK),
    _store("slow_put", "WARN", "all", "[NOTIFYME]putMessages" + _IN_LOCK),
)

STORE_MEANINGS = {
    "queue_order_wrong": "a unit is not the one that follows in its queue: Diff bytes, 20 a unit, are missing before "
    "it, and from there on numbers and messages may not fit; `verify` tells what holds now",
    "queue_unit_not_written": "a queue file could not be made or written; the broker tries 30 times",
    "queue_not_writable": "after 30 tries the broker marks its queues as not writable and refuses messages until it is "
    "started again: see to the disk, then `verify` and `forecast`",
    "dispatched_again": "dispatch came to a record that the queue had: after a start that is as it should be",
    "dispatch_size_wrong": "a record's size contradicts its parts; `explain` shows the bytes, `verify` what is damaged",
    "dispatch_went_on": "dispatch met bytes that are no record and went on after them: messages between have no unit",
    "files_do_not_join": "between two files of the log or of a queue bytes are missing: a file was deleted, or one of "
    "another store lies there; `verify` names where",
    "abort_kept": "a stop that could not write all, or left messages without units: abort stays, and the next start "
    "recovers as after a crash; `forecast` plays it",
    "stopped_behind": "the broker stopped before dispatch had reached the end of the log: the next start dispatches "
    "the rest; `forecast` tells how much",
    "replica_elsewhere": "a replica's log ends elsewhere than where the master goes on, so that it takes nothing more; "
    "`compare` tells from where they differ",
    "put_refused": "the broker refused messages: its disk was full, or a queue or the index could not be written",
    "queue_dropped": "the queue went with its topic: somebody deleted it, or cleanUnusedTopic ran and topics.json did "
    "not name it, as after it was lost; the messages are in the log until that expires (`dump commitlog`)",
    "queue_expired": "cleanExpiredConsumeQueue, or its round, dropped a queue whose messages had all expired",
    "place_without_file": "a thread asked for a byte of the log, or of a queue (20 a unit), that no file holds. Of a "
    "flush, at lastOffset, that is as it should be: the next file is not made yet. Of ScheduleMessage threads a delay "
    "offset leads nowhere: `delays` and `verify` tell of which level",
    "delay_offset_wrong": "the delay offset of the level (queueId + 1) names a message that its queue does not have: "
    "below the minimum, messages expired before they were delivered; beyond the maximum, the queue or the log lost its "
    "end; `delays` counts what was passed over, `verify` tells what to do",
    "delay_offset_corrected": "a start moved the level to the nearer end of its queue and delivers what comes after; "
    "delayOffset.json has the old number until it is saved",
    "log_ends": "recovery came to zeros and took them for the end of the log: as it should be, unless zeros lie before "
    "messages; `verify` names what comes after",
    "illegal_magic_code": "recovery, or a slave, came to bytes that begin no record and are not unwritten: a start "
    "takes that for the end of the log; `verify` names what comes after, `compare` where replicas differ",
    "crc_wrong": "a body is not what its CRC was made of: the record is damaged; `verify` names it",
    "half_record": "recovery found the beginning of a record alone and cut it off: it was being written at the exit",
    "wrong_log_offset": "recovery came to a record that is not where it says that it is, took it for the end of the "
    "log and cut there; `verify` names what comes after, `explain` shows the bytes",
    "queues_compared_with_log": "a start compares how far the queues and the log go: where the first number is larger, "
    "units pointed beyond the end of the log and were cut off; equal ones are as they should be",
    "no_log_at_start": "a start found no log: of a new store that is as it should be; else the log was lost or lies "
    "elsewhere, and the broker deleted its queues",
    "clean_exit": "a start after a stop in order",
    "unclean_exit": "a start that found an abort file: the broker was killed before, or the machine stopped; it "
    "recovers from its checkpoint on",
    "cleaning": "the cleaner deletes log files that are older than the hours: by the hour of deleteWhen (timeup), by "
    "the fullness of the disk (spacefull), and at once, whatever their age, with cleanAtOnce; `retention` plays it",
    "file_deleted": "the broker deleted a file, or failed to: expired, or beyond the end that a start found",
    "nothing_to_delete": "the disk is nearly full and no file could be deleted: none is old enough, or all that is "
    "left is in use; `retention` tells which file goes when",
    "cleaning_hour": "the hour of deleteWhen: expired files are deleted",
    "disk_full": "beyond diskSpaceWarningLevelRatio the broker refuses messages, and deletes files of any age, "
    "with cleanFileForciblyEnable",
    "disk_ok": "the disk has room again, and the broker takes messages",
    "disk_nearly_full": "beyond diskMaxUsedSpaceRatio expired files are deleted without waiting for their hour, beyond "
    "diskSpaceCleanForciblyRatio, with cleanFileForciblyEnable, files of any age; unread messages may be among them: "
    "`retention` lists whose",
    "file_not_made_in_time": "the next file was not made within 5 s: the disk stalls; sends fail meanwhile",
    "no_new_log_file": "a message was refused, as no log file could be made for it",
    "slow_put": "a put held its lock for more than 500 ms: others waited, and clients may have been told that the page "
    "cache is busy",
}
"""What each text means, and which command tells more."""
