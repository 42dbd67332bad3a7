"""The tables of logs, heartbeats and queue ownership."""

from __future__ import annotations

from pipelines.lake.tables.table import Table, columns
from rebalance.diagnosis.anomaly import ANOMALY_KINDS
from rebalance.facts.heartbeats import HEARTBEAT_KINDS

LOG_EVENTS = Table(
    "log_events",
    "one recognised line of a broker or client log",
    columns("""
source    text log the line is in: its broker or client, and its files
log       text which log that is: broker, pop, rocketmq_client, store, stats, ...; a client's may have any name
line      i64  line number, from 1
at        time time of the line, by the writing host's clock
kind      text what the line says: the name of its template
group     text consumer group, where it names one
client_id text client id, where it names one
fields    text every field of the line as JSON
raw       text the line
"""),
)
HEARTBEATS = Table(
    "heartbeats",
    "one heartbeat, connect, unregister or close of a client; or a run of equal heartbeats, where a record keeps runs",
    columns("""
source    text  evidence folder
at        time  when
kind      text  what the broker saw
broker    text  broker that saw it
group     text  consumer group
client_id text  client id
remote    text  its address
topics    texts subscribed topics; null when the request left them out
refreshes i32   equal ones that followed
last_at   time  when the last of those came
evidence  text  where it was read
"""),
).holding(kind=HEARTBEAT_KINDS)
ASSIGNMENTS = Table(
    "assignments",
    "the target one round should have given one client of one topic",
    columns("""
source       text  evidence folder
group        text  consumer group
topic        text  topic
client_id    text  client id
process      i32   which of the group's processes: a client id may be used again, or twice
at           time  when the round's member list was answered
strategy     text  allocation strategy; null when no known one gives what the client did
mq_all_size  i32   queues the round was about
cid_all_size i32   members the round was about
target       texts queues as broker:queue_id
evidence     text  where the member list was read
"""),
)
ASSIGNMENT_DIVERGENCE = Table(
    "assignment_divergence",
    "one round whose recomputed result differs from what the client did",
    columns("""
source    text  evidence folder
group     text  consumer group
topic     text  topic
client_id text  client id
process   i32   which of the group's processes
at        time  when
expected  texts recomputed queues
observed  texts queues in the client's table, or in its own log
cause     text  most likely cause
detail    text  what speaks for it
evidence  text  where it was read
"""),
)
OWNERSHIP_INTERVALS = Table(
    "ownership_intervals",
    "one stretch of time in which one client owned one queue",
    columns("""
source             text evidence folder
group              text consumer group
topic              text topic
broker             text broker of the queue
queue_id           i32  queue
client_id          text owner
begin_earliest     time the ownership began no earlier; null when it began before the record
begin_latest       time and no later
end_earliest       time it ended no earlier
end_latest         time and no later; null when it is not known to have ended
cause              text why it began
evidence           text what proves it
process            i32  which of the group's processes
start_queue_offset i64  where it began to consume; null when not seen
end_cause          text why it ended
end_evidence       text what proves the end
"""),
)
OWNERSHIP_ANOMALIES = Table(
    "ownership_anomalies",
    "one stretch with two owners, none, or another disorder; only what is proven",
    columns("""
source   text  evidence folder
kind     text  what is wrong
group    text  consumer group
topic    text  topic; null when it is about the whole group
broker   text  broker of the queue
queue_id i32   queue
begin_at time  from when
end_at   time  to when; null when not seen to end
clients  texts clients involved
cause    text  why
detail   text  what exactly was seen
evidence text  where it was read
"""),
).holding(kind=ANOMALY_KINDS)
OWNERSHIP_NOTES = Table(
    "ownership_notes",
    "one reason why a group's owners are not certain: the ends of its record, a hole, or what a client does not show",
    columns("""
source  text  evidence folder
group   text  consumer group
kind    text  why nothing, or less, is certain
subject text  client, topic or broker it is about; empty when it is about the whole group
detail  text  of the group: before or after which instant, or in which span; of a client or broker: its sign, how much
"""),
)
OWNERSHIP_TABLES = (
    LOG_EVENTS,
    HEARTBEATS,
    ASSIGNMENTS,
    ASSIGNMENT_DIVERGENCE,
    OWNERSHIP_INTERVALS,
    OWNERSHIP_ANOMALIES,
    OWNERSHIP_NOTES,
)
