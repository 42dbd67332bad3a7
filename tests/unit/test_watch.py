"""`watch`: rates, lag and findings of a store that goes on, as rows and as a screen."""

from __future__ import annotations

import io
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from parsers.store.store import Store
from pipelines.answers.lag.watching import (
    ENDS_EARLIER,
    QUEUES_BACK,
    QUEUES_GONE,
    GroupLag,
    Look,
    NewFindings,
    watch_rows,
)
from pipelines.cli.commands.groups import watch
from pipelines.cli.commands.groups.watch_screen import Screen
from pipelines.demo import BUNDLE
from tests.support.cli import Called, call
from tests.support.fixtures import unpack_store

ORDERS = {("Orders", 0): 10, ("Orders", 1): 20, ("Bills", 0): 5}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return unpack_store(BUNDLE, tmp_path)


def watched(store: Path, *more: str) -> Called:
    return call("watch", str(store), "--every", "0.1", "--format", "jsonl", *more)


def meanwhile(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object]) -> None:
    """Do something between two looks, in turn, instead of waiting; other threads of the tests sleep at once."""
    left, own = list(steps), threading.current_thread()

    def sleep(seconds: float) -> None:
        if left and threading.current_thread() is own:
            left.pop(0)()

    monkeypatch.setattr(watch.time, "sleep", sleep)


def by_topic(rows: list[dict[str, Any]]) -> dict[str | None, dict[str, Any]]:
    return {row["topic"]: row for row in rows if row["what"] in ("store", "topic")}


def test_rates_are_of_what_came_between_two_looks() -> None:
    now = Look(3_000, {("Orders", 0): 14, ("Orders", 1): 22, ("Bills", 0): 5, ("New", 0): 2})
    rows = by_topic(list(watch_rows(now, Look(1_000, ORDERS))))
    assert {name: row["messages_per_second"] for name, row in rows.items()} == {
        None: 4.0,
        "Orders": 3.0,
        "Bills": 0.0,
        "New": 1.0,
    }
    assert all(row["messages_per_second"] is None for row in watch_rows(now, None)), "nothing is known of one look"


def test_a_topic_that_was_made_anew_has_no_rate() -> None:
    rows = by_topic(list(watch_rows(Look(3_000, {**ORDERS, ("Orders", 0): 1}), Look(1_000, ORDERS))))
    assert (rows["Orders"]["messages_per_second"], rows["Orders"]["reason"]) == (None, ENDS_EARLIER)
    assert rows[None]["messages_per_second"] is None
    assert rows["Bills"]["messages_per_second"] == 0


def test_a_queue_that_goes_and_comes_back_makes_no_rate() -> None:
    first = Look(1_000, ORDERS)
    rest = {key: end for key, end in ORDERS.items() if key != ("Orders", 1)}
    without = Look(3_000, rest).after(first)
    rows = by_topic(list(watch_rows(without, first)))
    assert {rows[name]["messages_per_second"] for name in (None, "Orders")} == {None}
    assert {rows[name]["reason"] for name in (None, "Orders")} == {QUEUES_GONE}
    assert rows["Bills"]["messages_per_second"] == 0
    still = Look(4_000, rest).after(without)
    assert {row["messages_per_second"] for row in by_topic(list(watch_rows(still, without))).values()} == {0}
    same = by_topic(list(watch_rows(Look(5_000, ORDERS), still)))
    assert {row["messages_per_second"] for row in same.values()} == {0}
    more = by_topic(list(watch_rows(Look(5_000, {**ORDERS, ("Orders", 1): 25}), still)))
    assert (more["Orders"]["messages_per_second"], more["Orders"]["reason"]) == (None, QUEUES_BACK)


def test_an_offset_behind_the_end_of_its_queue_is_no_lag_of_0(store: Path) -> None:
    saved = store / "config/consumerOffset.json"
    topic, group = "OrderTopic0", "ahead"
    saved.write_text(json.dumps({"offsetTable": {f"{topic}@{group}": {0: 10**9, 1: 0}}}))
    rows = watched(store, "--times", "1", "--no-findings").rows
    (row,) = (row for row in rows if (row["group"], row["topic"]) == (group, topic))
    assert (row["messages_behind"], row["seconds_behind"]) == (None, None)
    told = call("lag", str(store), "--format", "jsonl").rows
    assert row["reason"] in {lag["reason"] for lag in told if (lag["group"], lag["topic"]) == (group, topic)}
    assert row["reason"]


def test_a_store_that_is_deleted_meanwhile_is_named_and_watched_on(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path / "away"
    meanwhile(monkeypatch, lambda: store.rename(away), lambda: away.rename(store))
    told = [row for row in watched(store, "--times", "3", "--no-findings").rows if row["what"] == "store"]
    assert [row["messages"] is None for row in told] == [False, True, False]
    assert "no such folder" in told[1]["reason"]


def test_a_finding_is_told_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(store / "consumequeue/OrderTopic0")
    monkeypatch.setattr(watch, "COMPARE_EVERY_S", 0)
    monkeypatch.setattr(watch, "COMPARES_AT_MOST", 1e9)
    ended = watched(store, "--times", "3")
    rows = ended.rows
    assert ended.code == 1
    found = [row["reason"] for row in rows if row["what"] == "finding"]
    assert found
    assert len(found) == len(set(found))
    assert len([row for row in rows if row["what"] == "store"]) == 3


def test_looks_go_on_while_files_are_compared(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(store / "consumequeue/OrderTopic0")
    looked, compared = threading.Event(), NewFindings.rows

    def late(findings: NewFindings, store: Store, at_ms: int) -> Iterator[dict[str, Any]]:
        assert looked.wait(60)
        yield from compared(findings, store, at_ms)

    monkeypatch.setattr(NewFindings, "rows", late)
    meanwhile(monkeypatch, lambda: None, lambda: None, looked.set)
    ended = watched(store, "--times", "4")
    told = [row["what"] for row in ended.rows if row["what"] in ("store", "finding")]
    assert ended.code == 1
    assert told[:3] == ["store"] * 3
    assert told.count("store") == 4
    assert "finding" in told


def test_a_comparison_that_fails_is_told(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(findings: NewFindings, store: Store, at_ms: int) -> Iterator[dict[str, Any]]:
        raise OSError(28, "No space left on device")
        yield {}

    monkeypatch.setattr(NewFindings, "rows", failing)
    ended = watched(store, "--times", "1")
    assert ended.code not in (0, 1)
    assert "No space left" in ended.err


def test_an_interruption_ends_it_well(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    meanwhile(monkeypatch, interrupted)
    ended = watched(store, "--no-findings")
    assert ended.code == 0, ended.err
    assert {row["what"] for row in ended.rows} == {"store", "topic", "group"}


def test_a_table_that_would_never_end_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    meanwhile(monkeypatch, interrupted)
    ended = call("watch", str(store), "--no-findings", "--format", "table")
    assert (ended.code, ended.out) == (2, b"")
    assert "--format jsonl" in ended.err
    assert call("watch", str(store), "--no-findings", "--times", "1", "--format", "table").code == 0


@pytest.mark.parametrize("width", [80, 200])
def test_a_screen_holds_what_matters_and_no_more_than_its_lines(width: int) -> None:
    groups = {("g" * number, f"Topic{number}"): GroupLag(number, 0.5 * number, None) for number in range(1, 60)}
    groups["lost", "Orders"] = GroupLag(None, None, "no offsets")
    before, now = Look(1_000, ORDERS), Look(3_000, {**ORDERS, ("Orders", 0): 5_010}, groups)
    screen = Screen("/data/store")
    screen.take(list(watch_rows(now, before)))
    finding = {"what": "finding", "reason": "error queue_missing in consumequeue/A\x1b[2J: " + "x" * 300}
    screen.take([finding] * 7)
    console = Console(width=width, height=24, record=True, file=io.StringIO())
    console.print(screen.drawn(width, 24))
    lines = console.export_text().splitlines()
    assert len(lines) <= 24
    assert "2,500 messages a second  7 findings" in lines[0]
    assert any(line.split() == ["lost", "Orders", "unknown", "unknown"] for line in lines)
    assert any(line.startswith("and ") and line.endswith(" further groups") for line in lines)
    assert any("queue_missing" in line for line in lines)
    assert "\x1b[2J" not in "".join(lines)
