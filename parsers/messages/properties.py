"""Properties that clients and brokers set, and the kinds of messages that are recognised by theirs.

A message that a broker holds back (a timer message, a delayed one, a half) keeps the body of the message it will be;
what it waits for stands in its properties. Source: MessageConst @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.damage.errors import CorruptRecord
from parsers.messages.declared import Form, Named, Record, Value, markdown, text_value

_DECLARED: tuple[tuple[str, str, Form, str], ...] = (
    ("KEYS", "keys", "text", "keys of the message, separated by spaces"),
    ("TAGS", "tags", "text", "tag of the message"),
    ("WAIT", "waits_for_store", "flag", "the producer waited until the message was stored as the broker promises"),
    ("DELAY", "delay_level", "int32", "delay level, from 1; 0 and absent: none"),
    ("RETRY_TOPIC", "retry_topic", "text", "topic that the message was first consumed from"),
    ("REAL_TOPIC", "real_topic", "text", "topic that the message is for"),
    ("REAL_QID", "real_queue_id", "int32", "queue that the message is for"),
    ("TRAN_MSG", "is_transaction", "flag", "a message of a transaction"),
    ("PGROUP", "producer_group", "text", "group whose producers are asked to decide"),
    ("MIN_OFFSET", "min_queue_offset", "int64", "smallest offset of the queue when the message was pulled"),
    ("MAX_OFFSET", "max_queue_offset", "int64", "end of the queue when the message was pulled"),
    ("ORIGIN_MESSAGE_ID", "origin_message_id", "text", "id of the message that this is a copy of"),
    ("RECONSUME_TIME", "reconsume_times", "int32", "how often it had been consumed, set by the client"),
    ("MSG_REGION", "region", "text", "region of the broker"),
    ("TRACE_ON", "trace_on", "flag", "clients trace the message"),
    ("UNIQ_KEY", "unique_id", "text", "id that the producer gave the message"),
    ("EXTEND_UNIQ_INFO", "batch_unique_info", "text", "unique ids in a batch"),
    ("MAX_RECONSUME_TIMES", "max_reconsume_times", "int32", "after how many times it goes to the dead letters"),
    ("CONSUME_START_TIME", "consume_start_time_ms", "time_ms", "when a client began to consume it"),
    ("INNER_NUM", "inner_message_count", "int32", "messages in the body of this inner batch"),
    ("INNER_BASE", "inner_base_queue_offset", "int64", "queue offset of the first message in the body"),
    ("CHECK_IMMUNITY_TIME_IN_SECONDS", "check_immunity_s", "int64", "seconds before the first check of a half"),
    ("TRAN_PREPARED_QUEUE_OFFSET", "first_half_queue_offset", "int64", "queue offset of the half that this repeats"),
    ("__transactionId__", "transaction_id", "text", "id of the transaction"),
    ("TRANSACTION_CHECK_TIMES", "check_times", "int32", "how often the broker had asked the producer"),
    ("INSTANCE_ID", "instance_id", "text", "namespace of the client"),
    ("CORRELATION_ID", "correlation_id", "text", "joins a request and its reply"),
    ("REPLY_TO_CLIENT", "reply_to_client", "text", "client that the reply is for"),
    ("TTL", "ttl_ms", "int64", "milliseconds the requester waits for a reply"),
    ("ARRIVE_TIME", "reply_arrived_ms", "time_ms", "when the broker got the reply"),
    ("CLUSTER", "cluster", "text", "cluster of the broker"),
    ("MSG_TYPE", "message_type", "text", "type of a message of a request and reply"),
    ("POP_CK", "pop_handle", "text", "receipt handle of a pop"),
    ("1ST_POP_TIME", "first_pop_time_ms", "time_ms", "when it was popped the first time"),
    ("__SHARDINGKEY", "sharding_key", "text", "messages of one key go to one queue"),
    ("INNER_MULTI_DISPATCH", "light_queues", "text", "lightweight queues that also get the message"),
    ("INNER_MULTI_QUEUE_OFFSET", "light_queue_offsets", "text", "its queue offset in each of them"),
    ("TIMER_DELAY_SEC", "delay_s", "int64", "the producer asked for so many seconds"),
    ("TIMER_DELIVER_MS", "deliver_time_ms", "time_ms", "the producer asked for this instant"),
    ("TIMER_DELAY_MS", "delay_ms", "int64", "the producer asked for so many milliseconds"),
    ("TIMER_DELAY_LEVEL", "timer_delay_level", "int32", "delay level that the timer stands for"),
    ("TIMER_OUT_MS", "due_time_ms", "time_ms", "when the timer is due, cut to timerPrecisionMs"),
    ("TIMER_ENQUEUE_MS", "enqueued_ms", "time_ms", "when the timer was put on the wheel"),
    ("TIMER_DEQUEUE_MS", "dequeued_ms", "time_ms", "when it was taken off it"),
    ("TIMER_ROLL_TIMES", "roll_times", "int32", "how often it was put off because it is due beyond the wheel"),
    ("TIMER_DEL_UNIQKEY", "deletes_unique_id", "text", "deletes the timer message of this unique id"),
    ("DLQ_ORIGIN_TOPIC", "origin_topic", "text", "topic that the dead letter was in"),
    ("DLQ_ORIGIN_MESSAGE_ID", "origin_id", "text", "id of the message there"),
    ("__CRC32#", "record_crc", "int64", "CRC of the record, without these bytes"),
)
PROPERTIES = {stored: Named(name, stored, form, meaning) for stored, name, form, meaning in _DECLARED}
"""What is known of each property by the name it is stored under."""


@dataclass(frozen=True, slots=True)
class PropertyKind:
    """A kind of message that its properties explain; `title` and `source` as in `BodyKind`."""

    name: str
    title: str
    source: str
    stored: tuple[str, ...]

    @property
    def fields(self) -> tuple[Named, ...]:
        return tuple(PROPERTIES[stored] for stored in self.stored)

    def markdown(self) -> str:
        """The table printed into docs/formats."""
        return markdown(self.name, self.title, self.source, self.fields)

    def record(self, properties: Mapping[str, str]) -> Record:
        """What the properties say; null where there is none. Raises CorruptRecord for a value of another form."""
        return Record(self.name, 0, {field.name: _value(field, properties.get(field.stored)) for field in self.fields})


def _value(field: Named, stored: str | None) -> Value:
    return None if stored is None else text_value(field, stored)


TIMER = PropertyKind(
    "timer",
    "a message that waits for its time (rmq_sys_wheel_timer)",
    "HookUtils#transformTimerMessage, TimerMessageStore @5.0.0 - 5.3.3",
    (
        *("TIMER_OUT_MS", "REAL_TOPIC", "REAL_QID", "TIMER_DELIVER_MS", "TIMER_DELAY_MS", "TIMER_DELAY_SEC"),
        *("TIMER_DELAY_LEVEL", "TIMER_ROLL_TIMES", "TIMER_DEL_UNIQKEY", "TIMER_ENQUEUE_MS", "UNIQ_KEY"),
    ),
)
DELAYED = PropertyKind(
    "delayed",
    "a message that waits for its level's delay (SCHEDULE_TOPIC_XXXX)",
    "CommitLog#asyncPutMessage @4.9.7, HookUtils#transformDelayLevelMessage @5.0.0 - 5.3.3",
    ("DELAY", "REAL_TOPIC", "REAL_QID", "RETRY_TOPIC", "UNIQ_KEY"),
)
HALF = PropertyKind(
    "transaction_half",
    "a message whose producer has not decided (RMQ_SYS_TRANS_HALF_TOPIC)",
    "TransactionalMessageBridge#parseHalfMessageInner @4.3.0 - 5.3.3",
    (
        *("REAL_TOPIC", "REAL_QID", "PGROUP", "UNIQ_KEY", "TRANSACTION_CHECK_TIMES"),
        *("TRAN_PREPARED_QUEUE_OFFSET", "CHECK_IMMUNITY_TIME_IN_SECONDS"),
    ),
)
GIVEN_UP = PropertyKind(
    "transaction_given_up",
    "a half message that was checked too often (TRANS_CHECK_MAX_TIME_TOPIC)",
    "DefaultTransactionalMessageCheckListener#resolveDiscardMsg @4.5.2 - 5.3.3",
    ("REAL_TOPIC", "REAL_QID", "PGROUP", "UNIQ_KEY", "TRANSACTION_CHECK_TIMES"),
)
RETRY = PropertyKind(
    "retry",
    "a message that a group gave back (%RETRY%group)",
    "SendMessageProcessor#consumerSendMsgBack, PopReviveService#reviveRetry @4.9.7, 5.3.3",
    (
        *("RETRY_TOPIC", "ORIGIN_MESSAGE_ID", "DELAY", "RECONSUME_TIME", "MAX_RECONSUME_TIMES"),
        *("1ST_POP_TIME", "UNIQ_KEY"),
    ),
)
DEAD_LETTER = PropertyKind(
    "dead_letter",
    "a message that a group gave up (%DLQ%group)",
    "AbstractSendMessageProcessor#consumerSendMsgBack @4.9.7, 5.3.3",
    (
        *("RETRY_TOPIC", "ORIGIN_MESSAGE_ID", "DLQ_ORIGIN_TOPIC", "DLQ_ORIGIN_MESSAGE_ID", "RECONSUME_TIME"),
        *("MAX_RECONSUME_TIMES", "UNIQ_KEY"),
    ),
)


def meaning_of(stored: str, value: str) -> str:
    """What a property of this name means, and where its value has another form than it should; empty if not known."""
    field = PROPERTIES.get(stored)
    if field is None:
        return ""
    try:
        text_value(field, value)
    except CorruptRecord:
        return f"{field.meaning}; not a value that its reader takes"
    return field.meaning
