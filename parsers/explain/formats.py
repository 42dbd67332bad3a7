"""The pages of docs/formats, printed from the Layouts that read and write the files.

Run: python -m parsers.explain.formats docs/formats
"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

from parsers.checkpoints.checkpoint import CHECKPOINT
from parsers.checkpoints.epochs import EPOCH_FILE
from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, ENTRY_INDEX_UNIT
from parsers.commitlog.record.layout import LAYOUTS as COMMITLOG_LAYOUTS
from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.ext import CQ_EXT_UNIT
from parsers.consumequeue.layout import CQ_UNIT
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.layouts.layout import Layout
from parsers.layouts.text_layout import TextLayout
from parsers.messages.declared import BodyKind
from parsers.messages.kinds import KINDS
from parsers.messages.properties import PropertyKind
from parsers.rocksdb.layout import MESSAGE_LAYOUTS, QUEUE_LAYOUTS, TABLE_LAYOUTS
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT


@dataclass(frozen=True, slots=True)
class Page:
    """One file kind: where it lies, what a reader of the bytes must know besides the tables, and the tables."""

    title: str
    place: str
    facts: str
    layouts: tuple[Layout | TextLayout | BodyKind | PropertyKind, ...] = ()

    def markdown(self) -> str:
        has_integers = any(isinstance(layout, Layout) for layout in self.layouts)
        facts = self.facts + (BIG_ENDIAN if has_integers else "")
        tables = "\n\n".join(layout.markdown() for layout in self.layouts)
        return f"# {self.title}\n\n`{self.place}`\n\n{facts}\n{tables}".rstrip() + "\n"


BIG_ENDIAN = "- Every integer is signed and big-endian.\n"
PAGES = {
    "commitlog": Page(
        "CommitLog",
        "commitlog/<20 digits: byte of the file's start in the whole log>",
        """\
- A record is the structures below in this order: head, born host, store time, store host, tail, body, topic size,
  topic, properties size, properties. Bits 0x10 and 0x20 of sys_flag choose the width of the hosts; the magic code
  chooses the width of the topic size.
- A record never crosses files. What is left of a file is a blank: total_size, magic 0xCBD43194, then bytes that
  mean nothing.
- There is no header and no stored end: the log ends where no record follows.
""",
        COMMITLOG_LAYOUTS,
    ),
    "messages": Page(
        "Messages of brokers and clients",
        "records of the CommitLog, by their topic",
        """\
- A body is JSON (POP's, offset_moved, proxy_heartbeat), offsets separated by commas (transaction_op), or values
  separated by 0x01 in records that end with 0x02 (trace). A timer or delayed message has the body of the message that
  it will be.
- What a message waits for, or was given back for, stands in its properties; the others keep theirs as well.
- `rocketlens explain` shows each value in its bytes, `rocketlens dump commitlog --decode` a row for each record. A
  compressed body is decompressed first. A trace in a topic of a client's own is known by how its body begins.
- A value that is not stored is null. A body in another form than its topic asks for is named and has no row.
""",
        KINDS,
    ),
    "dledger": Page(
        "DLedger log and its index",
        "dledger-<selfId>/data/<20 digits>, dledger-<selfId>/index/<20 digits>, dledger-<selfId>/currterm, checkpoint",
        """\
- The log of a broker with enableDLegerCommitLog (since 4.5.0): an entry is a header and one message of the CommitLog.
  The message's physical_offset, that of its ConsumeQueue unit and of its index entries is position + 48; msg_size
  is entry_body_size.
- What is left of a file, 8 bytes at least, is a blank: magic -1, the size of the rest, zeros.
- Index: the unit of entry n lies at 32 n, in files of 5 242 880 units.
- Files of commitlog/ may lie before the first file of the log: the broker was switched. They have no headers.
- currterm (currTerm, voteLeader) and checkpoint (endIndex, committedIndex; with a .bak one write older) are lines
  name=value. Consumers are given what lies before the committed entry's end.
""",
        (ENTRY_HEADER, ENTRY_INDEX_UNIT),
    ),
    "consumequeue": Page(
        "ConsumeQueue, BatchConsumeQueue, ConsumeQueueExt",
        "consumequeue/<topic>/<queue id>/<20 digits>, batchconsumequeue/…, consumequeue_ext/…",
        """\
- ConsumeQueue: the unit at byte p of a file named b is message number (b + p) / 20 of its queue.
- BatchConsumeQueue (since 5.0.0, topics with queue.type=BatchCQ): a unit's place says nothing; it holds its queue
  offset itself.
- A unit counts when physical_offset >= 0 and msg_size > 0 (batch: and queue_offset >= 0 and message_count > 0). A
  queue ends at the first unit of its last three files that does not.
- A queue that starts above 0 has its first file filled up to there with pre-blanks: physical_offset 0, msg_size
  2147483647, tags_code 0.
- tags_code is the hash of TAGS; on SCHEDULE_TOPIC_XXXX, beyond the ints, the delivery time in epoch ms; below the
  ints, -9223372036854775808 + a byte in consumequeue_ext.
""",
        (CQ_UNIT, BATCH_UNIT, CQ_EXT_UNIT),
    ),
    "compaction": Page(
        "Copies of compacted topics (since 5.1.0)",
        "compaction/compactionLog/<topic>/<queue id>/<20 digits>, compaction/compactionCq/…, "
        "compaction/position-checkpoint",
        """\
- Each queue of a topic with cleanup.policy=COMPACTION has a log of its own, with copies of its messages that have
  KEYS. Pulls are answered from it; the ordinary queue stays beside it, whole.
- compactionLog: records as in the CommitLog, with the same blank at a file's end. PHYSICALOFFSET is the record's own
  position here; the place of the original is not kept, so a `__CRC32#` does not fit the copy.
- compactionCq: the units of a BatchConsumeQueue; physical_offset is the position in compactionLog. Queue offsets go up
  and have holes. A unit of physical_offset -1 and msg_size 0 ends a file that another follows.
- A file of compactionCq has the name of the file of compactionLog that it leads into; its size has nothing to do with
  that number. A start fails unless both folders have the same names.
- A pass reads all files but the last one, writes what it keeps anew from file 0 on, below compacting/, and puts that in
  their place. So files need not join, and the last one of those that it wrote ends in zeros, without a blank.
- position-checkpoint: queueOffsetMap {topic_queue: the last queue offset that a pass took in}.
""",
        (BATCH_UNIT,),
    ),
    "rocksdb": Page(
        "Queues and tables in RocksDB",
        "consumequeue/, consumequeue_rocksdb/, config/topics/, config/subscriptionGroups/, config/consumerOffsets/, "
        "config/metadata/, config/rdb/, kvStore/, rocksdbstore/",
        """\
- With storeType=defaultRocksDB (since 5.2.0) the folder consumequeue/ is one database, and there are no queue files;
  useSeparateStorePathForRocksdbCQ (since 5.5.0) puts it into consumequeue_rocksdb/, and a broker does not start where
  the folder that it is not to use holds one. With rocksdbCQDoubleWriteEnable it is beside the queue files. Where a
  store has both, those count that storeType and combineCQPreferCQType say; where neither is said, those that come
  further in the CommitLog.
- Column family `default` holds the units. A key is topic size and separator, the topic, then queue and queue offset.
- Column family `offset` holds limits: topic size and separator, the topic, a separator, `max` or `min`, then the
  queue. The queue's next message is `max` + 1. `min` is put right when a broker is asked for it: it is the first unit
  from there on whose record still exists. CHECKPOINT_TOPIC, `max`, queue 0 says how far dispatch had come.
- A truncation moves `max` back and leaves the units after it in place: they are stale and count for nothing. Units of
  deleted messages go when RocksDB compacts. Offsets that a light queue leaves out stay out.
- Consumer records of POP (popConsumerKVServiceEnable, since 5.3.2): kvStore/, column family `popState`. A key is the
  instant until which the message is invisible (int64), group, @, topic, @, queue (int32), @ and queue offset (int64);
  the value is JSON. A row goes when it is acknowledged, or delivered again.
- rocksdbstore/ is made by every broker since 5.4.0. With indexRocksDBEnable column family `default` has, by the hour,
  a row for each key, tag and unique key of a message; with timerRocksDBEnable `timer` has the timers that are due
  within hours, and with transRocksDBEnable `trans` the half messages that are not decided. What is noted of a family:
  lastOffsetPy, the last message it has, and lastStoreTimeStamp, when that was stored; of timers
  sys_topic_scan_offset_checkpoint, the next queue offset of rmq_sys_wheel_timer to take in, and timeline_checkpoint,
  until when those due were delivered. indexFileReadEnable says whether the broker answers from index files all the
  same. `dump rocksdbstore` prints the rows.
- Tables, first form (since 5.1.4): one database for each, in `default` the name (of offsets topic@group) and the JSON
  of the row, in `kvDataVersion` the table's version under kvDataVersionKey. With useSingleRocksDBForAllConfigs (since
  5.4.0) config/metadata has `topic`, `subscriptionGroup` and `consumerOffset` instead, and the versions in
  `topicVersion`, `subscriptionGroupVersion` and `consumerOffsetVersion`. A JSON file of the same table counts if its
  dataVersion.counter is larger.
- Tables, second form (since 5.3.2, configManagerVersion=v2): config/rdb. A row's key goes on with the size of the name
  and the name; that of an offset with size and group, a separator, size and topic, then the queue; that of the version
  with `data_version`. Topics and groups that the broker makes by itself are not written.
- Deletions, compression and checksums are RocksDB's own.
""",
        (*QUEUE_LAYOUTS, *TABLE_LAYOUTS, *MESSAGE_LAYOUTS),
    ),
    "index": Page(
        "IndexFile",
        "index/<17 digits: local time of creation, yyyyMMddHHmmssSSS>",
        """\
- 40 bytes of header, S slots, N entries: 40 + 4 S + 20 N bytes. S and N (5 000 000 and 20 000 000 by default) are
  not in the file; they are proven by the chains, or stay unknown.
- Slot of a key: key_hash mod S. Entry i lies at 40 + 4 S + 20 i; entry 0 is never used.
- The hash is abs(String.hashCode of topic#key), 0 for -2**31. Neither topic nor key is stored: equal hashes
  cannot be told apart without the CommitLog.
- The time of an entry is begin_timestamp_ms + 1000 time_diff_s, except for the first entry of a file that follows
  another: its time_diff_s counts from the end of that one.
""",
        (INDEX_HEADER, INDEX_SLOT, INDEX_ENTRY),
    ),
    "checkpoint": Page(
        "Checkpoint",
        "checkpoint",
        """\
- 4096 bytes, zero after the fields. A field that the broker's version does not have is zero on disk and null in
  the tables.
- Recovery uses max(0, min(physic, logics) - 3000), and for the index the smaller of that and index_msg_timestamp.
""",
        (CHECKPOINT,),
    ),
    "epochs": Page(
        "Epochs of a broker in controller mode (since 5.0.0)",
        "epochFileCheckpoint, epochFileCheckpoint.bak",
        """\
- An entry says from which byte of the CommitLog on an epoch's master wrote it; it ends where the next one begins, the
  last at the log's end. Where the file cannot be read, or has no entry, the backup counts, which is one write older.
- A slave cuts its log to the consistent point before it copies: of the newest epoch that it and its master have with
  the same start, the smaller of the two ends. With no such epoch it copies nothing, and says so in its log.
- A broker without entries takes itself for a new replica. It cuts nothing, and goes on at the end of its log.
- storePathEpochFile may put the file elsewhere: say so, and every command reads it there. Before 5.1.1 it lies in
  ~/store of the broker's user unless that says otherwise, wherever the root is.
""",
        (EPOCH_FILE,),
    ),
    "timer": Page(
        "Timers (since 5.0.0)",
        "timerlog/<20 digits>, timerwheel, config/timercheck",
        """\
- timerlog: units of 52 bytes; when fewer than 68 bytes are left in a file, a blank ends it.
- A timer is due at write_time_ms + delay_ms; the unit before it in the same wheel slot is at prev_position.
- timerwheel: 1 209 600 slots; the slot of an instant is (ms / precision) mod 1 209 600. A slot whose time is
  another one is of an earlier round.
- timercheck: 4096 bytes, zero after the fields.
""",
        (TIMER_UNIT, TIMER_BLANK, TIMER_SLOT, TIMER_CHECK),
    ),
    "tiered": Page(
        "Segments of a tiered store on disk (PosixFileSegment, since 5.3.0)",
        "<tieredStoreFilePath>/<hash>_<cluster>/<broker>/<topic>/<queue>/<kind>/<hash><20 digits: base offset>",
        """\
- COMMIT_LOG: the messages of one queue, byte for byte as the CommitLog has them but for physical_offset, which is the
  place in this queue's own log. That log starts at 0, and goes on over the segments.
- CONSUME_QUEUE: units as below, whose physical_offset is that place too; the unit at byte p of all segments together
  is message p / 20 of the queue. INDEX: by name only.
- Names begin with eight hex digits of an MD5, of the cluster's name and of the base offset.
- How far a queue was handed over: config/tieredStoreMetadata.json, and the size of its last segment.
""",
        (CQ_UNIT,),
    ),
    "config": Page(
        "Configuration",
        "config/*.json, config/*.json.bak",
        """\
- UTF-8 text (up to 4.x: the platform's charset) as fastjson 1.2 writes it. Maps with integer keys have them
  without quotes, so strict JSON readers refuse the files; integers beyond 2**53 may be strings.
- Read when the main file is missing, empty or no JSON: the same name with .bak, one write older. Since 5.1.0 the
  main file is rewritten in place, so a crash can cut it short.
- topics.json: topicConfigTable {topic: {readQueueNums, writeQueueNums, perm, topicFilterType, topicSysFlag,
  order, attributes (since 5.0.0)}}.
- subscriptionGroup.json: subscriptionGroupTable {group: {consumeEnable, consumeFromMinEnable,
  consumeBroadcastEnable, retryQueueNums, retryMaxTimes, brokerId, …}}.
- consumerOffset.json: offsetTable {topic@group: {queue: next offset}}, split at the first @; a group may be
  group@broadcast. 5.5.0 adds pullOffsetTable of the same form.
- lmqConsumerOffset.json: takes the place of consumerOffset.json with enableLmq, and adds lmqOffsetTable
  {topic@group: next offset}.
- delayOffset.json: offsetTable {delay level: next offset in queue level - 1}.
- tieredStoreMetadata.json (tiered storage, this form since 5.3.0): queueMetadataTable {topic: {queue: {minOffset,
  maxOffset}}}, commitLogFileSegmentTable, consumeQueueFileSegmentTable, indexFileSegmentTable {broker/topic/queue:
  {base offset: {status, size, beginTimestamp, endTimestamp, …}}}. A queue's offsets there are as old as the last time
  files expired; how far it was handed over follows from its last segment.
- consumerFilter.json: filterDataByTopic {topic: {groupFilterData: {group: {expressionType, expression, bornTime,
  deadTime, clientVersion}}}}.
""",
    ),
}


def write_pages(folder: Path) -> None:
    """Write every page, as `<name>.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page.markdown(), "utf-8")


if __name__ == "__main__":
    asked = ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path, help="where the pages go")
    write_pages(asked.parse_args().folder)
