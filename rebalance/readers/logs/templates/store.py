"""What brokers write into store.log and storeerror.log about files that are cleaned, repaired or doubted, and what it
means.

Source of the texts: DefaultMessageStore, CommitLog, ConsumeQueue, MappedFile (5.x: DefaultMappedFile), MappedFileQueue,
AllocateMappedFileService, DLedgerCommitLog, since 5.2.0 RocksDBMessageStore, since 5.3.4 ConsumeQueueStore and
RocksDBConsumeQueueStore @4.2.0 - 5.5.1; a text with an own bound was looked for in the classes of the releases between.
"""

from __future__ import annotations

from rebalance.readers.logs.templates.template import templates

STORE_TEMPLATES = templates(
    "store",
    """
queue_order_wrong | WARN | all
    [BUG]logic queue order maybe wrong, expectLogicOffset: {requested} currentLogicOffset: {stored} Topic: {topic} QID:
    {queue_id} Diff: {count}
queue_unit_not_written | WARN | all
    [BUG]put commit log position info to {queue} {physical_offset} failed, retry {count} times
queue_not_writable | ERROR | all
    [BUG]consume queue can not write, {topic} {queue_id}
dispatched_again | WARN | ≥4.5.0
    Maybe try to build consume queue repeatedly maxPhysicOffset={stored} phyOffset={requested}
dispatch_size_wrong | ERROR | all
    [BUG]read total count not equals msg total size. reputFromOffset={physical_offset}
dispatch_size_wrong | ERROR | ≥5.1.0
    [BUG]read total count not equals msg total size.
dispatch_size_wrong | ERROR | all
    [BUG]read total count not equals msg total size. totalSize={count}, readTotalCount={stored}, bodyLen={body_size},
    topicLen={topic_size}, propertiesLength={properties_size}
files_do_not_join | ERROR | all
    [BUG]The mappedFile queue's data is damaged, the adjacent mappedFile's offset don't match. pre file {file}, cur
    file {other_file}
dispatch_went_on | ERROR | ≤4.4.0
    [BUG]the master dispatch message to consume queue error, COMMITLOG OFFSET: {physical_offset}
dispatch_went_on | ERROR | ≥4.5.0
    [BUG]dispatch message to consume queue error, COMMITLOG OFFSET: {physical_offset}
place_without_file | WARN | all
    Offset not matched. Request offset: {requested}, firstOffset: {place}, lastOffset: {stored}, mappedFileSize:
    {file_size}, mappedFiles count: {count}
delay_offset_wrong | ERROR | ≥4.9.2
    schedule CQ offset invalid. offset={requested}, cqMinOffset={place}, cqMaxOffset={stored}, queueId={queue_id}
delay_offset_wrong | ERROR | all
    schedule CQ offset invalid. offset={requested}, cqMinOffset={place}, queueId={queue_id}
delay_offset_wrong | ERROR | ≥4.9.3
    schedule CQ offset invalid. offset={requested}, cqMaxOffset={stored}, queueId={queue_id}
delay_offset_corrected | ERROR | ≥4.9.2
    correct delay offset [ delayLevel {level} ] from {requested} to {queue_offset}
log_ends | WARN | all
    found a illegal magic code 0x0
illegal_magic_code | WARN | all
    found a illegal magic code 0x{code}
crc_wrong | WARN | all
    CRC check failed. bodyCRC={requested}, currentCRC={stored}
half_record | WARN | ≥5.0.0
    found a half message at {physical_offset}, it will be truncated.
wrong_log_offset | WARN | ≥5.5.0
    found illegal commitlog offset {physical_offset} in {file}, current pos={place}, it will be truncated.
queues_compared_with_log | WARN | ≥4.3.2
    maxPhyOffsetOfConsumeQueue({stored}) >= processOffset({requested}), truncate dirty logic files
queues_compared_with_log | WARN | ≥4.5.0
    [TruncateCQ]maxPhyOffsetOfConsumeQueue({stored}) >= processOffset({requested}), truncate dirty logic files
queues_compared_with_log | WARN | ≥5.2.0
    dledger maxPhyOffsetOfConsumeQueue({stored}) >= processOffset({requested}), truncate dirty logic files
no_log_at_start | WARN | ≥4.5.0
    The commitlog files are deleted, and delete the consume queue files
clean_exit | INFO | ≤4.9.8
    last shutdown normally
clean_exit | INFO | 5.0.0–5.0.0
    last shutdown normally, root dir: {text}
clean_exit | INFO | ≥5.1.0
    last shutdown normally, store path root dir: {text}
unclean_exit | INFO | ≤4.9.8
    last shutdown abnormally
unclean_exit | INFO | 5.0.0–5.0.0
    last shutdown abnormally, root dir: {text}
unclean_exit | INFO | ≥5.1.0
    last shutdown abnormally, store path root dir: {text}
cleaning | INFO | ≤4.9.8
    begin to delete before {hours} hours file. timeup: {time_up} spacefull: {is_full} manualDeleteFileSeveralTimes:
    {count} cleanAtOnce: {at_once}
cleaning | INFO | ≥5.0.0
    begin to delete before {hours} hours file. isTimeUp: {time_up} isUsageExceedsThreshold: {is_full}
    manualDeleteFileSeveralTimes: {count} cleanAtOnce: {at_once} deleteFileBatchMax: {most}
abort_kept | WARN | all
    the store may be wrong, so shutdown abnormally, and keep abort file.
stopped_behind | WARN | ≤4.9.8
    shutdown ReputMessageService, but commitlog have not finish to be dispatched, CL: {stored} reputFromOffset:
    {physical_offset}
stopped_behind | WARN | ≥5.0.0
    shutdown ReputMessageService, but CommitLog have not finish to be dispatched, CommitLog max offset={stored},
    reputFromOffset={physical_offset}
replica_elsewhere | ERROR | all
    master pushed offset not equal the max phy offset in slave, SLAVE: {requested} MASTER: {stored}
put_refused | WARN | ≤4.6.1
    message store is not writeable, so putMessage is forbidden {count}
put_refused | WARN | 4.8.0–4.9.8
    the message store is not writable. It may be caused by one of the following reasons: {text}
file_deleted | INFO | all
    delete file[REF:{count}] {file} {result}, W:{wrote} M:{flushed}, {took}
queue_dropped | INFO | ≤5.0.0
    cleanUnusedTopic: {topic} {queue_id} ConsumeQueue cleaned
queue_dropped | INFO | ≥5.1.0
    DeleteTopic: ConsumeQueue has been cleaned, topic={topic}, queueId={queue_id}
queue_expired | INFO | all
    cleanExpiredConsumerQueue: {topic} {queue_id} consumer queue destroyed, minCommitLogOffset: {physical_offset}
    maxCLOffsetInConsumeQueue: {stored}
nothing_to_delete | WARN | all
    disk space will be full soon, but delete file failed.
cleaning_hour | INFO | all
    it's time to reclaim disk space, {text}
disk_full | ERROR | ≤4.9.1
    physic disk maybe full soon {ratio}, so mark disk full
disk_full | ERROR | ≥4.9.2
    physic disk maybe full soon {ratio}, so mark disk full, storePathPhysic={text}
disk_full | ERROR | all
    logics disk maybe full soon {ratio}, so mark disk full
disk_ok | INFO | ≤4.9.1
    physic disk space OK {ratio}, so mark disk ok
disk_ok | INFO | ≥4.9.2
    physic disk space OK {ratio}, so mark disk ok, storePathPhysic={text}
disk_ok | INFO | all
    logics disk space OK {ratio}, so mark disk ok
disk_nearly_full | INFO | ≤4.9.1
    physic disk maybe full soon, so reclaim space, {ratio}
disk_nearly_full | INFO | 4.9.2–4.9.8
    physic disk maybe full soon, so reclaim space, {ratio}, storePathPhysic={text}
disk_nearly_full | INFO | ≤4.9.8
    logics disk maybe full soon, so reclaim space, {ratio}
disk_nearly_full | INFO | ≥5.2.0
    logics disk maybe full soon, so reclaim space, {ratio}
disk_nearly_full | INFO | ≥5.0.0
    commitLog disk maybe full soon, so reclaim space, {ratio}
disk_nearly_full | INFO | ≥5.0.0
    consumeQueue disk maybe full soon, so reclaim space, {ratio}
file_not_made_in_time | WARN | all
    create mmap timeout {file} {file_size}
file_not_made_in_time | WARN | all
    this mmap request expired, maybe cause timeout {file} {file_size}
no_new_log_file | ERROR | all
    create mapped file1 error, topic: {topic} clientAddr: {remote}
no_new_log_file | ERROR | all
    create mapped file2 error, topic: {topic} clientAddr: {remote}
no_new_log_file | ERROR | all
    Create mapped file1 error, topic: {topic} clientAddr: {remote}
no_new_log_file | ERROR | all
    Create mapped file2 error, topic: {topic} clientAddr: {remote}
slow_put | WARN | all
    [NOTIFYME]putMessage in lock cost time(ms)={took}, bodyLength={body_size} AppendMessageResult={text}
slow_put | WARN | all
    [NOTIFYME]putMessages in lock cost time(ms)={took}, bodyLength={body_size} AppendMessageResult={text}
""",
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
