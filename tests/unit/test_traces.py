"""Trace messages of a store become rows wherever they are, and nothing else does."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from parsers.commitlog.layout import SYS_FLAG_COMPRESSED
from parsers.errors import Damage
from parsers.store import open_store
from pipelines.answers.traces import trace_batches
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
    ]
    assert rows[3]["problem"] == "no kind of trace record: � broken"
    assert [each.field for each in damage] == ["body"]
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


def test_the_story_of_a_message_holds_what_its_clients_traced(tmp_path: Path) -> None:
    root = traced(tmp_path / "store")
    steps = call("who", root, "--message-id", ID, "--format", "jsonl").rows
    told = [(step["step"], step["group"], step["what"]) for step in steps if step["step"] in ("sent", "delivered")]
    ended = "EXCEPTION, failure after 40 ms for each message of the call"
    assert told == [
        ("sent", "PG", "from 0.0.0.0:0 to h:1: success after 3 ms"),
        ("delivered", "CG", f"to a listener on 0.0.0.0:0, as retry number 1: {ended}"),
    ]
