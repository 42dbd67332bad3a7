"""Rows of a replay as batches of their tables: every column from its attribute, unknown and impossible as null."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from pipelines.answers.recorded import ownership_rows
from pipelines.answers.recorded.ownership_rows import rows_to_batch
from pipelines.lake.tables.ownership import (
    ASSIGNMENTS,
    HEARTBEATS,
    OWNERSHIP_ANOMALIES,
    OWNERSHIP_INTERVALS,
    OWNERSHIP_NOTES,
)
from pipelines.spark.jobs.ownership import TableWriters
from rebalance.diagnosis.anomaly import Anomaly
from rebalance.diagnosis.targets import Assignment
from rebalance.facts.heartbeats import Heartbeat, heartbeats_of
from rebalance.model.message_queue import MessageQueue
from rebalance.ownership.notes import ENDS_IN_THE_MIDDLE, STARTS_IN_THE_MIDDLE
from rebalance.replay import replay
from tests.support.generate_sessions import generate_group

AT_MS = 1_700_000_000_123
QUEUES = (MessageQueue("t", "broker-a", 0), MessageQueue("t", "broker-b", 3))


def heartbeat(at_ms: int, client_id: str | None = "c", last_at_ms: int | None = None) -> Heartbeat:
    return Heartbeat(at_ms, "heartbeat", "b", "g", client_id, "1.2.3.4:5", ("t", "u"), 2, last_at_ms, "wire:7")


def test_columns_come_from_attributes_of_another_name() -> None:
    anomaly = Anomaly("g", "orphan", "t", "b", 3, AT_MS, None, ("c1", "c2"), "views_differ", "", "wire:7")
    (row,) = rows_to_batch(OWNERSHIP_ANOMALIES.bare_schema, [anomaly], "here").to_pylist()
    assert row == {
        "source": "here", "kind": "orphan", "group": "g", "topic": "t", "broker": "b", "queue_id": 3,
        "begin_at": datetime(2023, 11, 14, 22, 13, 20, 123_000, UTC), "end_at": None, "clients": ["c1", "c2"],
        "cause": "views_differ", "detail": "", "evidence": "wire:7",
    }  # fmt: skip


def test_where_a_record_begins_and_ends_is_a_row() -> None:
    """`group_notes`, which the lake keeps, leaves out what is of no group: `replay` says it once for all of them."""
    history = replay(generate_group("g", clients=4, queues=6).facts[5:])
    rows = rows_to_batch(OWNERSHIP_NOTES.bare_schema, history.group_notes, "here").to_pylist()
    told = [row["detail"] for row in rows if row["kind"] in (STARTS_IN_THE_MIDDLE, ENDS_IN_THE_MIDDLE)]
    assert any(detail.startswith("nothing is certain before ") for detail in told)
    assert {row["group"] for row in rows} == {"g"}


def test_queues_are_told_as_broker_and_id() -> None:
    rows = [Assignment("g", "t", "c", 1, AT_MS, "AVG", 2, 1, target, "") for target in (QUEUES, (), QUEUES)]
    targets = rows_to_batch(ASSIGNMENTS.bare_schema, rows, "here").column("target").to_pylist()
    assert targets == [["broker-a:0", "broker-b:3"], [], ["broker-a:0", "broker-b:3"]]


def test_an_instant_that_no_calendar_holds_is_null() -> None:
    rows = [heartbeat(AT_MS), heartbeat(10**30, last_at_ms=-(10**30)), heartbeat(1 << 60, last_at_ms=AT_MS)]
    batch = rows_to_batch(HEARTBEATS.bare_schema, rows, "here")
    assert [at is not None for at in batch.column("at").to_pylist()] == [True, False, False]
    assert [at is not None for at in batch.column("last_at").to_pylist()] == [False, False, True]


def test_half_a_surrogate_pair_is_written_out() -> None:
    batch = rows_to_batch(HEARTBEATS.bare_schema, [heartbeat(AT_MS, "a\ud83d"), heartbeat(AT_MS, None)], "here")
    assert batch.column("client_id").to_pylist() == ["a\\ud83d", None]


def test_writers_write_every_row_once(tmp_path: Path) -> None:
    facts = generate_group("g", clients=4, queues=6).facts
    history = replay(facts)
    writers = TableWriters([HEARTBEATS, OWNERSHIP_INTERVALS], lambda name: tmp_path / name, "job", "here")
    writers.add(HEARTBEATS.name, heartbeats_of(facts))
    for row in history.intervals * (ownership_rows.BATCH_ROWS // len(history.intervals)):
        writers.add(OWNERSHIP_INTERVALS.name, (row,))
    writers.add(OWNERSHIP_INTERVALS.name, history.intervals)
    parts = writers.close()
    (beats,) = parts[HEARTBEATS.name]
    assert beats.rows == len(list(heartbeats_of(facts)))
    (part,) = parts[OWNERSHIP_INTERVALS.name]
    written = pq.read_table(tmp_path / OWNERSHIP_INTERVALS.name / part.path)
    assert part.rows == len(written) > ownership_rows.BATCH_ROWS
    once = rows_to_batch(OWNERSHIP_INTERVALS.bare_schema, history.intervals, "here").to_pylist()
    assert written.to_pylist() == once * (len(written) // len(once))
