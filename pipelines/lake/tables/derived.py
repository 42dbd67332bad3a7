"""The tables that follow from others: lag, and what the files of a store prove together."""

from __future__ import annotations

from typing import get_args

from parsers.messages.trace_columns import CONSUME_RESULTS, MESSAGE_TYPES, RECORDS, TRANSACTION_STATES
from pipelines.lake.tables.table import Table, columns
from recovery.broker.abort_file import EXITS
from recovery.compare.rows import Nature, What
from recovery.fates.delays import DelayState
from recovery.fates.pops import PopState
from recovery.fates.retries import RetryState
from recovery.fates.stated_pops import POP_SOURCES
from recovery.fates.transactions import TransactionState
from recovery.lives.config_states import Happening, Subject
from recovery.lives.group_life import GroupState
from recovery.lives.life import Ground
from recovery.lives.life import State as LifeState
from recovery.query.lag import Status
from recovery.query.lag_cause import LagCause
from recovery.query.ledger import State
from recovery.query.move_kind import MoveKind
from recovery.verify.findings.kind import Severity

LAG = Table(
    "lag",
    "one (group, topic, queue) at one instant",
    columns("""
broker          text which broker
group           text consumer group
topic           text topic
queue_id        i32  queue
at              time instant the row holds for
broker_offset   i64  next message number of the queue
consumer_offset i64  next message number to consume; 0 where none is stored, as consumerProgress counts it
messages_behind i64  broker_offset - consumer_offset; negative when the offset is ahead of the queue
seconds_behind  real age of the oldest unread message at that instant
status          text whether the figure is known; zero is proven
reason          text why a figure is unknown, or what it counts
"""),
    ("broker",),
).holding(status=get_args(Status))

LAG_HISTORY = Table(
    "lag_history",
    "one (group, topic, queue) with a stored offset, at one instant at which its offsets were kept",
    LAG.columns,
    LAG.partition_by,
)

LAG_EPISODES = Table(
    "lag_episodes",
    "one stretch of time in which one group was behind on one topic, and what share each cause has in it",
    columns("""
broker          text which broker
group           text consumer group
topic           text topic
begin           time from when on its lag rose; null: behind when the record begins
peak_at         time when it was furthest behind
end             time first instant at which it was not behind any more; null: still behind
peak_messages   i64  messages behind then, over all queues
message_seconds real area under the curve of its lag
cause           text the cause with the largest share
offset_moved    real share of messages that came again because the offset went back; all shares add up to 1
ownership_gap   real that came in while nobody had the queue
lock_wait       real that came in while an ordered consumer waited for the queue's lock
dispatch_delay  real that came in while the broker's dispatch was behind its log
hot_queue       real beyond the usual traffic, most of them in one queue
burst           real beyond the usual traffic, in all queues
slow_client     real that the owner read less than usually come in
unexplained     real the rest
worst_queue_id  i32  queue with the largest area
reason          text which record is lacking to tell more
"""),
    ("broker",),
).holding(cause=tuple(LagCause))

CONSISTENCY_FINDINGS = Table(
    "consistency_findings",
    "one proven disagreement of CommitLog, ConsumeQueue, index, checkpoint and configuration",
    columns("""
broker   text which broker
kind     text what disagrees
severity text how bad it is for readers of the store
place    text file or queue
begin    i64  first byte or message number of the range
end      i64  end of the range, exclusive
evidence text what each side says
repair   text what would put it right
document text every further fact as JSON
watermark i64 the broker's in `watermarks`: of a store that is written to, nothing behind it is judged
"""),
    ("broker",),
).holding(severity=get_args(Severity))

RECOVERY_FORECAST = Table(
    "recovery_forecast",
    "what a start of one broker would do with its store",
    columns("""
broker                text which broker
version               text RocketMQ version the answer holds for
exit                  text how the last run ended
load_ok               flag would load() succeed; null when not decided
min_physical_offset   i64  CommitLog minimum after recovery
max_physical_offset   i64  CommitLog end after recovery
files_deleted         i64  CommitLog files that would be deleted
dispatch_from         i64  CommitLog position where dispatch restarts
redispatched_messages i64  messages dispatched again
lost_messages         i64  messages lost for good; null when not decided
unknown               i64  questions the files do not answer
document              text the whole forecast as JSON
"""),
    ("broker",),
).holding(exit=EXITS)

TOPIC_LIVES = Table(
    "topic_lives",
    "one queue in one life of a topic: a topic that was deleted and created again has several, each counting from 0",
    columns("""
broker                text which broker
topic                 text topic
life                  i32  1 is the first that the log knows of
state                 text alive; recreated, alive after a deletion; deleted; vanished, without proof of a deletion
queue_id              i32  queue; null for a life that got no message yet
first_queue_offset    i64  number of the queue's first message in this life
last_queue_offset     i64  number of its last one
messages              i64  the queue's messages of this life that the log has
queue_begins_at       i64  where the queue's first message starts, byte in the CommitLog
first_physical_offset i64  messages of the life start at or behind this byte of the CommitLog
end_physical_offset   i64  and end before this one
begins_at             time when its first message was stored; without one, when a log says that it was created
is_certain            flag nothing else explains what is there
ground                text by what the state is known
evidence              text the same as a sentence
"""),
    ("broker",),
).holding(state=get_args(LifeState), ground=tuple(ground.name.lower() for ground in Ground))

LIFE_EVENTS = Table(
    "life_events",
    "one thing that happened to a topic or a consumer group: created, changed, deleted, created again, vanished",
    columns("""
broker   text which broker
subject  text what it happened to
name     text the topic or the group
life     i32  which life of the topic begins, ends or goes on with it; null: the log has no message of that life
happened text what happened
earliest time begin of the window in which it happened; null: not known
latest   time end of that window; null: not known
before   text its settings before it, by RocketMQ's names; of a change those that differ
after    text its settings after it
by       text address that asked for it, or producer whose message made the topic; null: no line tells
certain  flag whether nothing else explains the sources
reason   text why it is not certain, or not known
evidence text lines, files or messages that tell it
"""),
    ("broker",),
).holding(subject=get_args(Subject), happened=tuple(Happening))

GROUP_LIVES = Table(
    "group_lives",
    "one consumer group that any file of a store names: whether it is alive, and what would be lost with it",
    columns("""
broker                  text which broker
group                   text consumer group
state                   text by the broker's log where it ends; system: made by brokers and tools
named                   flag whether subscriptionGroup.json names it; null: there is none
topics                  i32  topics that it has offsets of
former_topics           i32  those of them that were deleted
unread                  i64  messages that only wait for it, retries included; null: not known, or it has no offset
dead_letters            i64  messages of its dead-letter topic; null: not known
doubtful_offsets        i64  queues whose offset may count messages of a former life, or is beyond the end
absent_since            time since when no consumer was connected; null: not known
seen_until              time where the broker's log ends, or the broker stopped; null: no log
offsets_unchanged_since time since when all saved tables have the same offsets of it
loses_nothing           flag whether deleting it here loses no message and stops no consumer; null: not decided
advice                  text what is safe to do
reason                  text why something is not known
"""),
    ("broker",),
).holding(state=tuple(GroupState))

RETENTION_RISK = Table(
    "retention_risk",
    "when one queue's unread messages are due to be deleted",
    columns("""
broker          text which broker
group           text consumer group
topic           text topic
queue_id        i32  queue
due_at          time when the oldest unread message's file is due
unread_messages i64  messages stored and not consumed
deleted_unread  i64  messages that were deleted before they were consumed
status          text whether the figure is known; zero is proven
reason          text why a figure is unknown
"""),
    ("broker",),
).holding(status=get_args(Status))

LOSS_LEDGER = Table(
    "loss_ledger",
    "one range of queue offsets in one state; the ranges of a (group, topic, queue, life) follow one another from 0 to "
    "the maximum",
    columns("""
broker             text which broker
group              text consumer group whose view it is; null: the store's own
topic              text topic
queue_id           i32  queue
life               i32  life of the topic; a queue that lost its files and started again has one more
state              text what became of the range
first_queue_offset i64  first message number of the range
end_queue_offset   i64  end of the range, exclusive
messages           i64  message numbers in the range
max_queue_offset   i64  the queue's maximum in this life, which the ranges add up to
certain            flag whether nothing else explains the files
reason             text what shows the state, or why it is open
"""),
    ("broker",),
).holding(state=tuple(State))

BACKLOG = Table(
    "backlog",
    "one (group, topic, queue) with a stored offset on the topic: what of it is unread, and matches the subscription",
    columns("""
broker               text which broker
group                text consumer group
topic                text topic
queue_id             i32  queue
subscription         text tags or SQL92 filter of the group; null: not known
unread               i64  messages in the queue that the group has not read; null: the files do not tell
matching             i64  those of them that the broker hands out by the subscription; null: not known
reason               text why a figure is unknown, or what is odd about the subscription
head_queue_offset    i64  the first unread message that matches, or the first unread one where that is not known
head_physical_offset i64  where it starts in the CommitLog
head_unique_id       text its UNIQ_KEY
head_keys            text its KEYS
head_tags            text its TAGS
head_stored_at       time when the broker stored it: since then the group has something to read
"""),
    ("broker",),
)

REPLICA_DIFFERENCES = Table(
    "replica_differences",
    "one difference between two replicas of one broker",
    columns("""
left            text the first replica
right           text the other replica
what            text what differs
nature          text what the difference means
replica         text whose fact it is; of a cost the replica that is kept; null: it is one of both
topic           text topic
queue_id        i32  queue
group           text consumer group
field           text field of a record, setting, figure, term, or how the logs stand to each other
physical_offset i64  first byte in the whole log
length          i64  bytes
messages        i64  how many messages it is about; of offsets right minus left; null: not known
left_value      text what the first replica holds
right_value     text what the other replica holds
reason          text what it means, or why a figure is not known
"""),
    ("left",),
).holding(what=get_args(What), nature=get_args(Nature))

OFFSET_EVENTS = Table(
    "offset_events",
    "one movement of one group's offset on one queue: reset, corrected, set, committed late, stalled, or what the next "
    "pull will do",
    columns("""
broker            text which broker
group             text consumer group
topic             text topic
queue_id          i32  queue; null where no line names it
kind              text what happened
from_queue_offset i64  the offset before
to_queue_offset   i64  the offset after
skipped           i64  messages that the move passes over
repeated          i64  messages that it makes come again
earliest          time begin of the window in which it happened; null: not known, or still to come
latest            time end of that window; null: still to come
by                text client id or address that moved it
cause             text why, as the lines or the saved tables tell
certain           flag whether nothing else explains the sources
reason            text why it is not certain, or why a figure is unknown
evidence          text lines, tables and messages that tell it
"""),
    ("broker",),
).holding(kind=tuple(MoveKind))

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
checks               i32  how often the producer was asked
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
revived_at             time when it was put into the retry topic behind its last checkpoint; null: it was not
retry_topic            text that retry topic
retry_queue_offset     i64  its number there, in queue 0
retry_physical_offset  i64  where that copy starts, byte in the CommitLog
reason                 text what is odd about it, or why something is not known
"""),
    ("broker",),
).holding(source=POP_SOURCES, state=tuple(PopState))

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

DERIVED_TABLES = (
    LAG,
    LAG_HISTORY,
    LAG_EPISODES,
    CONSISTENCY_FINDINGS,
    RECOVERY_FORECAST,
    RETENTION_RISK,
    LOSS_LEDGER,
    BACKLOG,
    OFFSET_EVENTS,
    DELAYED_MESSAGES,
    RETRY_CHAINS,
    TRANSACTIONS,
    POPPED_MESSAGES,
    TRACE_EVENTS,
    REPLICA_DIFFERENCES,
    TOPIC_LIVES,
    LIFE_EVENTS,
    GROUP_LIVES,
)
