"""Trace messages of a store become rows wherever they are, and nothing else does."""

from __future__ import annotations

import tempfile
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rocketlens as rl
from parsers.commitlog.record.layout import SYS_FLAG_COMPRESSED
from parsers.damage.errors import Damage
from parsers.messages.trace_columns import decode_traces
from parsers.store.store import open_store
from pipelines.answers import traces
from pipelines.answers.traces import trace_batches
from pipelines.lake.tables.fates import TRACE_EVENTS
from tests.support.build_store import FIRST_MS, StoreBuilder
from tests.support.cli import call

ID = f"{0:032X}"
SENT = f"Pub\x01{FIRST_MS - 5}\x01Region\x01PG\x01Orders\x01{ID}\x01A\x01k0\x01h:1\x019\x013\x010\x01AA\x01true\x02"
CALLED = f"SubBefore\x01{FIRST_MS + 50}\x01Region\x01CG\x01R1\x01{ID}\x011\x01k0\x02"
RETURNED = f"SubAfter\x01R1\x01{ID}\x0140\x01false\x01k0\x012\x01{FIRST_MS + 90}\x01CG\x02"
OTHER = f"SubBefore\x01{FIRST_MS + 60}\x01Region\x01CG\x01R2\x01{1:032X}\x010\x01k1\x02"


def traced(root: Path) -> Path:
    built = StoreBuilder(root)
    built.put()
    built.put("RMQ_SYS_TRACE_TOPIC", body=zlib.compress(SENT.encode()), sys_flag=SYS_FLAG_COMPRESSED)
    built.put("OwnTraces", body=(CALLED + OTHER).encode())
    built.put("%RETRY%Readers", body=CALLED.encode())
    built.put("OwnTraces", body=b"\xff broken\x02" + RETURNED.encode())
    built.put("rmq_sys_TRACE_DATA_r1", body=b"no stream", sys_flag=SYS_FLAG_COMPRESSED)
    return built.finish()


def rows_of(root: Path, damage: list[Damage]) -> list[dict[str, Any]]:
    return [row for batch in trace_batches(open_store(root), damage.append) for row in batch.to_pylist()]


def test_every_topic_that_carries_traces_is_read(tmp_path: Path) -> None:
    damage: list[Damage] = []
    rows = rows_of(traced(tmp_path / "store"), damage)
    assert [(row["trace_topic"], row["trace_type"]) for row in rows] == [
        ("RMQ_SYS_TRACE_TOPIC", "Pub"),
        ("OwnTraces", "SubBefore"),
        ("OwnTraces", "SubBefore"),
        ("OwnTraces", None),
        ("OwnTraces", "SubAfter"),
        ("rmq_sys_TRACE_DATA_r1", None),
    ]
    assert rows[3]["problem"] == "no kind of trace record: � broken"
    assert [each.field for each in damage] == ["body"]
    assert rows[5]["problem"].startswith("the body cannot be read: ")
    assert rows[0]["at"] == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=FIRST_MS - 5)


def test_a_named_topic_is_read_whatever_it_begins_with(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "store")
    built.put("Mixed")
    built.put("Mixed", body=SENT.encode())
    root = built.finish()
    assert rows_of(root, []) == []
    called = call("traces", root, "--messages", "--trace-topic", "Mixed", "--format", "jsonl")
    assert [row["trace_type"] for row in called.rows] == [None, "Pub"]


def test_calls_without_an_end_are_counted(tmp_path: Path) -> None:
    root = traced(tmp_path / "store")
    rows = {row["trace_type"]: row for row in call("traces", root, "--format", "jsonl").rows}
    assert rows["SubBefore"]["records"] == 2
    assert rows["SubBefore"]["without_end"] == 1
    assert (rows["SubAfter"]["group"], rows["SubAfter"]["failed"]) == ("CG", 1)


def test_a_story_tells_of_trace_bodies_that_it_could_not_read(tmp_path: Path) -> None:
    called = call("who", traced(tmp_path / "store"), "--message-id", ID)
    assert called.code == 4
    assert "body" in called.err


def test_sums_that_need_more_memory_than_they_may_have_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(traces, "SUMS_MEMORY", "64MB")
    rows, piece = 400_000, 20_000
    batches = (before_rows(first, piece) for first in range(0, rows, piece))
    (total,) = traces.trace_sums(batches).to_pylist()
    assert (total["records"], total["without_end"]) == (rows, rows)
    assert [each.name for each in tmp_path.rglob("*")] == ["elsewhere"]


def before_rows(first: int, rows: int) -> pa.RecordBatch:
    """SubBefore of as many calls, each with a request id and a message id of its own."""
    ids = [f"{number:0100d}" for number in range(first, first + rows)]
    made = {"trace_type": ["SubBefore"] * rows, "group": ["CG"] * rows, "request_id": ids, "message_id": ids}
    schema = TRACE_EVENTS.bare_schema
    columns = [pa.array(made.get(each.name, [None] * rows), each.type) for each in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def test_calls_whose_end_another_broker_has_did_end() -> None:
    """The records of one call go to any brokers (AsyncTraceDispatcher#sendTraceDataByMQ)."""
    before, after = before_rows(0, 1).to_pylist()[0], before_rows(0, 1).to_pylist()[0]
    told = pa.Table.from_pylist(
        [{**before, "broker": "a"}, {**after, "broker": "b", "trace_type": "SubAfter", "group": None}],
        schema=TRACE_EVENTS.bare_schema,
    )
    sums = {row["trace_type"]: row for row in traces.trace_sums(told.to_batches()).to_pylist()}
    assert sums["SubBefore"]["without_end"] == 0
    assert sums["SubAfter"]["group"] == "CG"


def test_an_instant_beyond_the_calendar_is_not_known(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "store")
    built.put()
    built.put("RMQ_SYS_TRACE_TOPIC", body=SENT.replace(str(FIRST_MS - 5), "300000000000000").encode())
    root = built.finish()
    (row,) = call("traces", root, "--messages", "--format", "jsonl").rows
    assert (row["at"], row["problem"]) == (None, "at_ms is beyond the year 9999")
    called = call("who", root, "--message-id", ID, "--format", "jsonl")
    assert called.code == 0
    assert [step["at"] for step in called.rows if step["step"] == "sent"] == [None]
    assert "steps" in (rl.store(root).journey(ID).content.verdict or "")


def test_a_word_that_is_no_boolean_is_not_known() -> None:
    (row,) = decode_traces(pa.array([SENT.replace("true", "tr")])).to_pylist()
    assert (row["success"], row["problem"]) == (None, "success is neither true nor false")


def test_bodies_of_many_records_are_decoded_in_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = traced(tmp_path / "store")
    whole = rows_of(root, [])
    monkeypatch.setattr(traces, "PIECE_RECORDS", 1)
    batches = list(trace_batches(open_store(root), lambda damage: None))
    assert [row for batch in batches for row in batch.to_pylist()] == whole
    assert [batch.num_rows for batch in batches] == [1, 2, 2, 1]


def test_the_story_of_a_message_holds_what_its_clients_traced(tmp_path: Path) -> None:
    root = traced(tmp_path / "store")
    steps = call("who", root, "--message-id", ID, "--format", "jsonl").rows
    told = [(step["step"], step["group"], step["what"]) for step in steps if step["step"] in ("sent", "delivered")]
    ended = "EXCEPTION, failure after 40 ms for each message of the call"
    assert told == [
        ("sent", "PG", "from 0.0.0.0:0 to h:1: success after 3 ms"),
        ("delivered", "CG", f"to a listener on 0.0.0.0:0, as retry number 1: {ended}"),
    ]
