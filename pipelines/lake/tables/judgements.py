"""Tables of what the files of a store prove together: findings, a start, retention, losses, replicas."""

from __future__ import annotations

from typing import get_args

from pipelines.lake.tables.table import Table, columns
from recovery.broker.abort_file import EXITS
from recovery.compare.written.kinds import Nature, What
from recovery.query.lag import Status
from recovery.query.ledger import State
from recovery.verify.findings.kind import Severity

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
watermark i64 the broker's in `watermarks`: of a store that is written to, nothing after it is judged
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
starts                flag would the broker come up; null when not decided
min_physical_offset   i64  CommitLog minimum after recovery
max_physical_offset   i64  CommitLog end after recovery
files_deleted         i64  CommitLog files that would be deleted
dispatch_from         i64  CommitLog position where dispatch restarts
redispatched_messages i64  messages dispatched again
lost_messages         i64  messages lost for good; null when not decided
lost                  text all that is lost, in queues, index and configuration too; empty: nothing, null: not known
unknown               i64  questions the files do not answer
document              text the whole forecast as JSON
"""),
    ("broker",),
).holding(exit=EXITS)

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

TIERED_QUEUES = Table(
    "tiered_queues",
    "one queue of a broker's tiered store",
    columns("""
broker           text which broker
path_broker      text the broker as the paths of its segments name it
topic            text topic
queue_id         i32  queue
min_queue_offset i64  first message number that the tiered store has
handed_to        i64  the number after the last one that was handed over
waiting          i64  messages of the broker's queue that are not handed over yet
segments         i64  segments of messages and of units, by the metadata
size             i64  their bytes, by the metadata
found            i64  segments that have a file in the folder
equal            i64  messages of the segments that the log has, byte for byte but for their place
different        i64  messages that the log has otherwise
not_in_log       i64  messages from before the first one that the broker's queue still has, or whose bytes the log lost
wrong            i64  units that lead to no message of this queue and number
reason           text why figures are unknown: what a cloud provider holds is not here
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
