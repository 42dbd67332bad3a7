"""Tables of messages that brokers hold back or clients trace: one row for each of them."""

from __future__ import annotations

from parsers.messages.trace_columns import CONSUME_RESULTS, MESSAGE_TYPES, RECORDS, TRANSACTION_STATES
from pipelines.lake.tables.table import Table, columns
from recovery.fates.delay_states import DelayState
from recovery.fates.states import PopSource, PopState, RetryState, TransactionState

DELAYED_MESSAGES = Table(
    "delayed_messages",
    "one record that waits, or waited, for its time: a message with a delay level, or a timer message",
    columns("""
broker                    text which broker
kind                      text what it waits for
level                     i32  delay level; null: a timer message
topic                     text topic that it is delivered to
unique_id                 text UNIQ_KEY; null without one
queue_offset              i64  its number in the queue in which it waits
physical_offset           i64  where it starts, byte in the CommitLog
stored_at                 time when it was stored there
due_at                    time when it is due; null: it does not say
state                     text what became of it; passed: the broker is past it, and the log has no delivery
late_ms                   i64  delivery minus due time; null: not delivered
deliveries                i32  copies of it in its topic
delivered_at              time when the first of them was stored
delivered_queue_id        i32  queue of that copy
delivered_queue_offset    i64  its message number
delivered_physical_offset i64  where it starts, byte in the CommitLog
expires_at                time of a pending one, when the cleaner deletes the log file that has it; null: not known
expires_first             flag whether that is before it is due
reason                    text why the state is what it is, where that needs a word
"""),
    ("broker",),
).holding(kind=("level", "timer"), state=tuple(DelayState))

RETRY_CHAINS = Table(
    "retry_chains",
    "one message that one group gave back, with its retries and its dead letter",
    columns("""
broker               text which broker
group                text consumer group
topic                text topic that the message was sent to
queue_id             i32  queue of the message itself; null: the log does not have it
queue_offset         i64  its number there
physical_offset      i64  where it starts, byte in the CommitLog
unique_id            text UNIQ_KEY; null without one
stored_at            time when the message itself was stored
state                text where it is now; consumed: the group's offset is past its last retry; unread: not past it
failures             i32  how often it was given back, as its last copy counts
retries              i32  copies in the retry topic
repeated             i32  copies of the same failure beyond the first
first_failed_at      time when the broker stored the copy of the first failure; null: the log does not have it
last_failed_at       time the same of the last failure
due_at               time of a waiting one, when its next retry is due
last_retry_at        time when its last copy was put into the retry topic
retry_queue_id       i32  queue of that copy
retry_queue_offset   i64  its number there
dead_at              time when its dead letter was stored; null without one
dead_queue_offset    i64  number of the dead letter in %DLQ% and the group
dead_physical_offset i64  where it starts, byte in the CommitLog
reason               text why something is not known
"""),
    ("broker",),
).holding(state=tuple(RetryState))

TRANSACTIONS = Table(
    "transactions",
    "one transaction whose half message the log has",
    columns("""
broker               text which broker
group                text producer group that is asked how it ended; null: the half message does not say
topic                text topic that it is committed to
unique_id            text UNIQ_KEY; null without one
state                text how it ended; given_up: checked too often; pending: not decided yet
half_queue_offset    i64  number of its first half message; 0 before 4.3.0, when they had none
half_physical_offset i64  where that starts, byte in the CommitLog
stored_at            time when it was stored
checks               i32  how often the producer was asked; null: rocksdbstore counted it and does not keep it any more
last_half_at         time when the last check wrote the half message again; without one, stored_at
commits              i32  commits of it: more than one is delivered more than once
committed_at         time when the first commit was stored; null without one
queue_id             i32  queue of that commit
queue_offset         i64  its number there
physical_offset      i64  where it starts, byte in the CommitLog
decided_at           time when the broker wrote that it was decided, up to some seconds after it was; null: it did not
given_up_at          time when it was put among those that were checked too often; null: it was not
reason               text what is odd about it, or why its end is not known
"""),
    ("broker",),
).holding(state=tuple(TransactionState))

POPPED_MESSAGES = Table(
    "popped_messages",
    "one message that one group popped or acknowledged (POP), with its last checkpoint",
    columns("""
broker                 text which broker
group                  text consumer group
topic                  text topic that it was popped from; a retry topic for one that was delivered again
queue_id               i32  queue that it was popped from
queue_offset           i64  its number there
source                 text what tells of it: the revive topic, consumerOrderInfo.json (orderly pops), or kvStore
physical_offset        i64  where it starts, byte in the CommitLog; null: the log does not have it
unique_id              text UNIQ_KEY; null without one
stored_at              time when it was stored
state                  text what became of it by its last checkpoint; passed: neither acknowledged nor in a retry topic
checkpoints            i32  of the revive topic, how often it was popped, or its invisible time changed
popped_at              time the last time
invisible_until        time when it is due to be delivered again, unless it is acknowledged
revive_queue_id        i32  queue of the revive topic that its last checkpoint is for
acked_at               time when its acknowledgement was stored; null without one
revived_at             time when it was put into the retry topic after its last checkpoint; null: it was not
retry_topic            text that retry topic
retry_queue_offset     i64  its number there, in queue 0
retry_physical_offset  i64  where that copy starts, byte in the CommitLog
reason                 text what is odd about it, or why something is not known
"""),
    ("broker",),
).holding(source=tuple(PopSource), state=tuple(PopState))

TRACE_EVENTS = Table(
    "trace_events",
    "one record that a client wrote about a message that it sent or consumed (message trace)",
    columns("""
broker                 text which broker keeps the record
trace_topic            text topic of the message that carries the record
queue_id               i32  its queue
queue_offset           i64  its number there
physical_offset        i64  where it starts, byte in the CommitLog
record_number          i64  number of the record in its body, from 0; null: the body cannot be read
stored_at              time when the broker stored the trace message, up to some seconds after what it tells
born_host              text host and port from which the client sent it
trace_type             text Pub: sent; SubBefore, SubAfter: around a call of a listener; null: no kind that is known
at                     time when it happened, by the client's clock; of a Pub when the send began (Go client: ended)
region                 text region that the broker named
group                  text group of the producer or consumer
topic                  text topic of the message; consumers do not say it
message_id             text unique id of the message; of a batch all of them, with commas
offset_message_id      text message id with host and place, of a Pub
tags                   text TAGS of the message
keys                   text KEYS of the message
store_host             text broker that it was sent to
client_host            text host of the client, which 4.8.0 and the Go client write
body_size              i64  bytes of the body as it was sent: compressed, if it was
cost_ms                i64  how long the send took; of SubAfter the call, divided by its messages (Go client: the whole)
message_type           text kind of message
success                flag whether it succeeded; false of a Pub: stored, but not confirmed as flushed or copied
request_id             text which call of a listener: one SubBefore and one SubAfter have the same for a message
retry_times            i64  how often the message was given back before
result                 text how the listener's call ended
transaction_id         text which transaction
transaction_state      text what its producer decided
from_transaction_check flag whether it decided when it was asked
problem                text why the record is not read as its client wrote it
"""),
    ("broker",),
).holding(
    trace_type=tuple(RECORDS),
    result=CONSUME_RESULTS,
    message_type=tuple(dict.fromkeys(name for names in MESSAGE_TYPES.values() for name in names if name is not None)),
    transaction_state=TRANSACTION_STATES,
)
