"""Keys and values of the databases: queues, and the second form of the broker's tables.

A key is the structures here with the bytes of a name between them. Source: RocksDBConsumeQueueTable,
RocksDBConsumeQueueOffsetTable, ConfigHelper (broker/config/v2) @5.3.3, unchanged in 5.4.0; MessageRocksDBStorage
@5.4.0, 5.5.0, 5.5.1.
"""

from __future__ import annotations

from parsers.layouts.layout import Field, Layout

UNITS_FAMILY, OFFSETS_FAMILY = "default", "offset"
SEPARATOR = 1
AFTER = 2
"""Stands after every key that goes on with a separator: where a queue's keys end (deletions of queues use it too)."""
MAX, MIN = b"max", b"min"
CHECKPOINT_TOPIC = b"CHECKPOINT_TOPIC"

KEY_TOPIC = Layout(
    "Key of the queues' database, before the topic",
    "store/queue/RocksDBConsumeQueueTable.java#buildCQKeyByteBuffer @5.3.3",
    Field("topic_size", "i", "bytes of the topic, which follows in UTF-8; keys sort by it first"),
    Field("separator", "b", "1"),
)
KEY_QUEUE = Layout(
    "Key of a unit, after the topic",
    "store/queue/RocksDBConsumeQueueTable.java#buildCQKeyByteBuffer @5.3.3",
    Field("separator", "b", "1"),
    Field("queue_id", "i", "queue of the topic"),
    Field("separator_2", "b", "1"),
)
KEY_UNIT = Layout(
    "Key of a unit, its end",
    "store/queue/RocksDBConsumeQueueTable.java#buildCQKeyByteBuffer @5.3.3",
    Field("queue_offset", "q", "message number in the queue"),
)
DATABASE_UNIT = Layout(
    "Unit in the queues' database",
    "store/queue/RocksDBConsumeQueueTable.java#buildCQValueByteBuffer @5.3.3",
    Field("physical_offset", "q", "where the message starts, byte in the CommitLog"),
    Field("msg_size", "i", "bytes of the whole message (TOTALSIZE)"),
    Field("tags_code", "q", "String.hashCode of TAGS, or delivery time (epoch ms)"),
    Field("store_timestamp_ms", "q", "when the broker stored the message"),
)
KEY_LIMIT = Layout(
    "Key of a queue's limit, after the topic, a separator, `max` or `min`",
    "store/queue/RocksDBConsumeQueueOffsetTable.java#buildOffsetKeyByteBuffer0 @5.3.3",
    Field("separator", "b", "1"),
    Field("queue_id", "i", "queue of the topic"),
)
QUEUE_LIMIT = Layout(
    "First or last message of a queue",
    "store/queue/RocksDBConsumeQueueOffsetTable.java#buildOffsetValueByteBuffer @5.3.3",
    Field("physical_offset", "q", "where that message starts, byte in the CommitLog"),
    Field("queue_offset", "q", "its number: of `max` the last message there is, not the next to come"),
)
DISPATCHED = Layout(
    "How far the queues were dispatched (topic CHECKPOINT_TOPIC, `max`, queue 0)",
    "store/queue/RocksDBConsumeQueueOffsetTable.java#putMaxPhyAndCqOffset @5.3.3",
    Field("max_physical_offset", "q", "CommitLog byte after the last message that was dispatched"),
)

TABLE_KEY = Layout(
    "Key of the tables' database config/rdb, its start",
    "broker/config/v2/ConfigHelper.java @5.3.3",
    Field("prefix", "b", "1"),
    Field("table_id", "h", "1 consumer offsets, 2 pull offsets, 3 topics, 4 subscription groups"),
    Field("record_type", "b", "1 version of the table (then `data_version`), 2 row"),
)
NAME_SIZE = Layout(
    "Size of a name in such a key",
    "broker/config/v2/ConfigHelper.java#keyBufOf @5.3.3",
    Field("name_size", "h", "bytes of the name, which follows in UTF-8"),
)
OFFSET_KEY_END = Layout(
    "Key of an offset in config/rdb, its end",
    "broker/config/v2/ConsumerOffsetManagerV2.java#keyOfConsumerOffset @5.3.3",
    Field("separator", "b", "1"),
    Field("queue_id", "i", "queue of the topic"),
)
TABLE_OFFSET = Layout(
    "Offset in config/rdb",
    "broker/config/v2/ConsumerOffsetManagerV2.java#commitOffset @5.3.3",
    Field("consumer_offset", "q", "next message that the group will consume"),
)
TABLE_VERSION = Layout(
    "Version of a table in config/rdb",
    "broker/config/v2/ConfigHelper.java#stampDataVersion @5.3.3",
    Field("state_version", "q", "version of the broker's state machine"),
    Field("timestamp", "q", "when the table last changed, epoch ms"),
    Field("counter", "q", "how often it changed"),
)
SERIALIZED = Layout(
    "Topic or group in config/rdb, before its JSON",
    "broker/config/v2/SerializationType.java @5.3.3",
    Field("serialization", "b", "1 JSON"),
)
INDEX_FAMILY, TIMER_FAMILY, HALF_FAMILY = "default", "timer", "trans"
KEY_PART = b"@"
INDEX_KEY = Layout(
    "Key of an index entry in rocksdbstore, its start",
    "store/index/rocksdb/IndexRocksDBRecord.java#getKeyBytes @5.4.0 - 5.5.1",
    Field("hour_ms", "q", "the full hour in which the message was stored, epoch ms"),
)
INDEX_KEY_END = Layout(
    "Key of an index entry, behind `@topic@K@key@unique key@`; `T` and a tag, or `U` and nothing, for `K` and the key",
    "store/index/rocksdb/IndexRocksDBRecord.java#getKeyBytes @5.4.0 - 5.5.1",
    Field("physical_offset", "q", "where the message starts, byte in the CommitLog"),
)
INDEX_VALUE = Layout(
    "Index entry in rocksdbstore",
    "store/index/rocksdb/IndexRocksDBRecord.java#getValueBytes @5.4.0 - 5.5.1",
    Field("store_timestamp_ms", "q", "when the broker stored the message"),
)
TIMER_KEY = Layout(
    "Key of a timer in rocksdbstore, before the message's unique key",
    "store/timer/rocksdb/TimerRocksDBRecord.java#getKeyBytes @5.4.0 - 5.5.1",
    Field("due_ms", "q", "when it is due, epoch ms"),
)
TIMER_VALUE = Layout(
    "Timer in rocksdbstore",
    "store/timer/rocksdb/TimerRocksDBRecord.java#getValueBytes @5.4.0 - 5.5.1",
    Field("msg_size", "i", "bytes of the timer message"),
    Field("physical_offset", "q", "where the timer message starts, byte in the CommitLog"),
)
HALF_KEY = Layout(
    "Key of a half message in rocksdbstore, before `@topic@unique key`",
    "store/transaction/TransRocksDBRecord.java#getKeyBytes @5.4.0 - 5.5.1",
    Field("physical_offset", "q", "where the half message starts, byte in the CommitLog"),
)
HALF_VALUE = Layout(
    "Half message in rocksdbstore",
    "store/transaction/TransRocksDBRecord.java#getValueBytes @5.4.0 - 5.5.1",
    Field("check_times", "i", "how often its producer was asked"),
    Field("msg_size", "i", "bytes of the half message"),
)
NOTED = Layout(
    "How far a column family of rocksdbstore is, under the names that a page lists",
    "store/rocksdb/MessageRocksDBStorage.java @5.4.0 - 5.5.1",
    Field("value", "q", "a physical offset, a queue offset or epoch ms"),
)
INDEXED_TO, INDEXED_AT = (INDEX_FAMILY, b"lastOffsetPy"), (INDEX_FAMILY, b"lastStoreTimeStamp")
TIMERS_TAKEN, TIMERS_READ = (TIMER_FAMILY, b"sys_topic_scan_offset_checkpoint"), (TIMER_FAMILY, b"timeline_checkpoint")
HALVES_TO = (HALF_FAMILY, b"lastOffsetPy")
NOTES = (INDEXED_TO, INDEXED_AT, TIMERS_TAKEN, TIMERS_READ, HALVES_TO)
"""What is noted of a column family: it, and the key."""
QUEUE_LAYOUTS = (KEY_TOPIC, KEY_QUEUE, KEY_UNIT, DATABASE_UNIT, KEY_LIMIT, QUEUE_LIMIT, DISPATCHED)
TABLE_LAYOUTS = (TABLE_KEY, NAME_SIZE, OFFSET_KEY_END, TABLE_OFFSET, TABLE_VERSION, SERIALIZED)
MESSAGE_LAYOUTS = (INDEX_KEY, INDEX_KEY_END, INDEX_VALUE, TIMER_KEY, TIMER_VALUE, HALF_KEY, HALF_VALUE, NOTED)
