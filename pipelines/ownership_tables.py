"""The tables of logs, heartbeats and queue ownership."""

from __future__ import annotations

from pipelines.table import Table, columns

LOG_EVENTS = Table(
    "log_events",
    "one recognised line of a broker or client log",
    columns("""
source text file the line is in
line   i64  line number, from 1
at     time time of the line, in UTC
kind   text what the line says
group  text consumer group, where it names one
client text client id, where it names one
raw    text the line
"""),
)
HEARTBEATS = Table(
    "heartbeats",
    "one heartbeat, connect, unregister or close of a client",
    columns("""
source text file and position it comes from
at     time when
kind   text heartbeat, connect, unregister or close
broker text broker that saw it
group  text consumer group
client text client id
topics texts subscribed topics
"""),
)
ASSIGNMENTS = Table(
    "assignments",
    "the queues one round gave one client of one topic",
    columns("""
source   text evidence folder
at       time when the round ran
group    text consumer group
topic    text topic
client   text client id
strategy text allocation strategy
queues   texts queues as broker:queue_id
"""),
)
ASSIGNMENT_DIVERGENCE = Table(
    "assignment_divergence",
    "one round whose recomputed result differs from the client's own log",
    columns("""
source   text evidence folder
at       time when
group    text consumer group
topic    text topic
client   text client id
expected texts recomputed queues
actual   texts queues the client says it has
cause    text most likely cause
"""),
)
OWNERSHIP_INTERVALS = Table(
    "ownership_intervals",
    "one stretch of time in which one client owned one queue",
    columns("""
source         text evidence folder
group          text consumer group
topic          text topic
broker         text broker of the queue
queue_id       i32  queue
client_id      text owner
begin_earliest time the ownership began no earlier
begin_latest   time and no later
end_earliest   time it ended no earlier; null when not ended
end_latest     time and no later
cause          text why it began
evidence       text what proves it
"""),
)
OWNERSHIP_ANOMALIES = Table(
    "ownership_anomalies",
    "one stretch with two owners, none, or another disorder",
    columns("""
source        text evidence folder
kind          text double_owner, orphan, …
group         text consumer group
topic         text topic
broker        text broker of the queue
queue_id      i32  queue
begin_at      time from when
end_at        time to when
clients       texts clients involved
certain       flag proven, or only possible
cause         text why
"""),
)
OWNERSHIP_TABLES = (
    LOG_EVENTS,
    HEARTBEATS,
    ASSIGNMENTS,
    ASSIGNMENT_DIVERGENCE,
    OWNERSHIP_INTERVALS,
    OWNERSHIP_ANOMALIES,
)
