"""Tables of how far behind groups are, when and why, and of what moved their offsets."""

from __future__ import annotations

from typing import get_args

from pipelines.lake.tables.table import Table, columns
from recovery.query.group_start import Policy
from recovery.query.lag import Status
from recovery.query.lag_cause import LagCause
from recovery.query.move_kind import MoveKind

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
seconds_behind  real age of the oldest unread message at that instant; null: not known, as of an offset ahead
status          text whether the figure is known; zero is proven
reason          text why a figure is unknown, or what it counts
"""),
    ("broker",),
).holding(status=get_args(Status))

LAG_HISTORY = Table(
    "lag_history",
    "one (group, topic, queue), with a stored offset or without, at one instant at which the group's were kept",
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
store_log       text kinds of lines of store.log, storeerror.log of that time, counted; empty: none; null: not known
reason          text which record is lacking to tell more
"""),
    ("broker",),
).holding(cause=tuple(LagCause))

BACKLOG = Table(
    "backlog",
    "one (group, topic, queue) with a stored offset on the topic: what of it is unread, and matches the subscription",
    columns("""
broker               text which broker
group                text consumer group
topic                text topic
queue_id             i32  queue
subscription         text tags or SQL92 filter of the group; null: not known
subscription_from    text what says so: consumerFilter.json, a line or a heartbeat of a recording, or the user
unread               i64  messages in the queue that the group has not read; null: the files do not tell
matching             i64  those of them that the broker hands out by the subscription; null: not known
reason               text why a figure is unknown, or what is odd about the subscription
head_queue_offset    i64  the first unread message that matches, or the first unread one where that is not known
head_physical_offset i64  where it starts in the CommitLog
head_unique_id       text its UNIQ_KEY
head_keys            text its KEYS
head_tags            text its TAGS
head_stored_at       time when the broker stored it: since then the group has something to read
owners               texts clients that have the queue where recordings end, or had it last; null: no recording tells
owner_certain        flag whether it is they; else they are all that it may be
owned_since          time since when at the latest they have it
owned_until          time until when at the latest they had it; null: they have it still, or it is not certain
stands_since         time the group's offset did not move at least since then; null: nothing older than the offset tells
"""),
    ("broker",),
)

GROUP_STARTS = Table(
    "group_starts",
    "where a push consumer of a group without an offset begins on one queue, by its client's policy",
    columns("""
broker           text which broker
topic            text topic
queue_id         i32  queue
policy           text the client's ConsumeFromWhere
min_queue_offset i64  the queue's first message, as the broker answers it
max_queue_offset i64  next message to come
earliest         i64  the least offset at which it may begin; null: not known
latest           i64  the greatest; the same where the files decide it
never_delivered  i64  messages before the latest: as many are skipped at most
certain          flag whether the files decide it
memory_needed    i64  bytes of memory of the broker's machine with which it begins at 0; null: they do not decide it
reason           text what it hangs on
"""),
    ("broker",),
).holding(policy=(Policy.LAST.value, Policy.FIRST.value))

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
