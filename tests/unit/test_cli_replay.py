"""`rocketlens replay` and `what-if` say what they read, what they did not, and why answers are not sharper."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pipelines.cli.frame.errors import ExitCode
from tests.support.cli import call, rows_of
from tests.support.fixtures import GOLDEN
from tests.support.stores import store_root

SESSION = GOLDEN / "rebalance" / "sessions" / "h-533-quiet"
LINE = b"2026-11-21 23:07:12.907 INFO  [7] [main] [x#?:?] - "


def test_lines_of_no_known_text_are_counted_and_sampled(tmp_path: Path) -> None:
    log = tmp_path / "rocketmq_client.log"
    texts = (b"strange words here 1\n", b"strange words here 2\n", b"others\n\tat a.stack\n")
    log.write_bytes(b"".join(LINE + text for text in texts))
    called = call("replay", tmp_path, "--show", "unrecognised")
    assert [(row["log"], row["lines"], row["first_line"]) for row in called.rows] == [
        ("rocketmq_client.log", 2, 1),
        ("rocketmq_client.log", 1, 3),
    ]
    assert called.rows[0]["text"].startswith("strange words")
    assert "4 lines of 1 logs: 3 of no known text, 1 that continue the entry above" in called.err


def test_counts_of_a_recorded_cluster_add_up() -> None:
    called = call("replay", SESSION / "logs", "--show", "unrecognised")
    unrecognised = sum(row["lines"] for row in called.rows)
    assert f"{unrecognised:,} of no known text" in called.err
    assert "recognised, " in called.err


def test_what_makes_answers_wider_is_said(tmp_path: Path) -> None:
    whole = gzip.decompress((SESSION / "wire.jsonl.gz").read_bytes()).splitlines(True)
    cut = tmp_path / "wire-broker-0.jsonl"
    cut.write_bytes(b"".join(whole[len(whole) // 2 :]))
    called = call("replay", cut, "--show", "notes")
    assert "starts_in_the_middle" in {row["kind"] for row in called.rows}
    assert "starts_in_the_middle (cg_audit): nothing is certain before" in called.err
    assert "starts_in_the_middle" not in call("replay", cut, "--quiet").err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("capture.pcap", b"\xd4\xc3\xb2\xa1 and nothing of a capture"),
        ("rocketmq_client.log.gz", b"\x1f\x8b and nothing of a log"),
    ],
)
@pytest.mark.parametrize("command", ["replay", "what-if"])
def test_a_lone_recording_that_cannot_be_read_is_unreadable(
    name: str, content: bytes, command: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    called = call(command, tmp_path / name)
    assert called.code == ExitCode.UNREADABLE, called.err
    (tmp_path / "broker.log").write_bytes(LINE + b"strange\n")
    assert call("replay", tmp_path).code == ExitCode.READ_IN_PART


@pytest.mark.parametrize(("later_ms", "held"), [(10**14, True), (10**19, False)])
@pytest.mark.parametrize(
    ("asked", "instant"),
    [(("replay",), "begin_earliest"), (("replay", "--show", "assignments"), "at"), (("what-if",), "begin_at")],
)
def test_an_instant_that_no_calendar_holds_is_null(
    tmp_path: Path, asked: tuple[str, ...], instant: str, later_ms: int, held: bool
) -> None:
    whole = map(json.loads, gzip.decompress((SESSION / "wire.jsonl.gz").read_bytes()).splitlines())
    moved = tmp_path / "wire-broker-0.jsonl"
    moved.write_text("".join(json.dumps({**record, "ts": record["ts"] + later_ms}) + "\n" for record in whole))
    called = call(asked[0], moved, *asked[1:])
    assert called.code == ExitCode.FINE
    assert {row[instant] is not None for row in called.rows} == {held}


def test_what_if_compares_strategies() -> None:
    as_it_was = rows_of("what-if", SESSION / "wire.jsonl.gz")
    circle = rows_of("what-if", SESSION / "wire.jsonl.gz", "--strategy", "AVG_BY_CIRCLE", "--more-clients", 2)
    assert {row["strategy"] for row in as_it_was} == {"AVG"}
    assert {row["strategy"] for row in circle} == {"AVG_BY_CIRCLE"}
    assert [row["members"] + 2 for row in as_it_was] == [row["members"] for row in circle]
    assert all(row["begin_at"] < row["end_at"] for row in as_it_was)
    more = rows_of("what-if", SESSION / "wire.jsonl.gz", "--more-queues", 4)
    assert [row["queues"] for row in more] == [
        row["queues"] + (0 if row["topic"].startswith("%RETRY%") else 4) for row in as_it_was
    ]


def test_what_if_refuses_a_strategy_that_is_none() -> None:
    called = call("what-if", SESSION / "wire.jsonl.gz", "--strategy", "NONE")
    assert (called.code, called.out) == (2, b"")
    assert "--strategy" in called.err


@pytest.mark.parametrize("command", ["replay", "what-if"])
def test_a_store_without_logs_is_told_what_is_missing(command: str) -> None:
    """Its saved topics alone name no consumer; the answer was silence."""
    told = call(command, store_root("5.3.3-clean"))
    assert (told.code, told.rows) == (0, [])
    assert "no consumer group is on record: name logs of brokers or clients, or a capture" in told.err


def test_an_instant_outside_the_record_is_said_to_be_there() -> None:
    told = call("replay", SESSION / "logs", "--at", "2026-11-21T01:00:00Z")
    assert not any(queue["certain"] for queue in json.loads(told.out)["queues"])
    assert "2026-11-21 01:00:00Z is not on record, which tells of 2026-11-21" in told.err
