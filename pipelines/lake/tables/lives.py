"""Tables of the lives of topics and groups."""

from __future__ import annotations

from typing import get_args

from pipelines.lake.tables.table import Table, columns
from recovery.lives.config_states import Happening, Subject
from recovery.lives.group_life import GroupState
from recovery.lives.life import Ground
from recovery.lives.life import State as LifeState

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
first_physical_offset i64  messages of the life start at or after this byte of the CommitLog
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
state                   text where the broker's log or the heartbeats of proxies end; system: made by brokers and tools
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
unordered_topics        texts FIFO topics that it gets out of order over gRPC (consumeMessageOrderly); null: not known
"""),
    ("broker",),
).holding(state=tuple(GroupState))
