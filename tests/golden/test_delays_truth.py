"""Delayed and timer messages: when each was due, delivered, and how late, message by message.

The judges are the incidents' own answers, and a plain look at the messages that RocketMQ's own classes read out of
every store, with the delay offsets in the broker's memory.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names
from tests.support.stores import log_setting, since, store_names, store_root, truth, truth_lines

SCHEDULE, TIMER = "SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer"
Row = dict[str, Any]


def epoch_ms(text: str | None) -> int | None:
    return None if text is None else round(datetime.fromisoformat(text).timestamp() * 1000)


def rows_of(root: Path, *options: str) -> dict[int, Row]:
    """The rows of `rocketlens delays --messages`, by where the message waits."""
    called = call("delays", root, "--messages", "--format", "jsonl", *options)
    assert called.code == 0, called.err
    return {row["physical_offset"]: row for row in called.rows}


@pytest.mark.parametrize("name", incident_names("delay-overdue"))
def test_each_message_is_due_and_delivered_when_the_incident_says(name: str) -> None:
    case = incident(name)
    answers = case.told()["answers"]
    found = rows_of(case.root)
    assert set(found) == {message["physicalOffset"] for message in answers["messages"]}
    for message in answers["messages"]:
        row = found[message["physicalOffset"]]
        assert row["unique_id"] == message["uniqKey"]
        assert (row["topic"], row["level"]) == (message["realTopic"], message["level"])
        assert row["queue_offset"] == message["scheduleQueueOffset"]
        assert (epoch_ms(row["stored_at"]), epoch_ms(row["due_at"])) == (message["storedAt"], message["dueAt"])
        assert epoch_ms(row["delivered_at"]) == message["deliveredAt"]
        assert row["delivered_physical_offset"] == message["deliveredPhysicalOffset"]
        assert row["late_ms"] == message["lateMs"]
        assert row["state"] == ("pending" if message["deliveredAt"] is None else "delivered")


@pytest.mark.parametrize("name", incident_names("delay-overdue"))
def test_a_level_has_as_many_pending_and_overdue_as_the_incident_says(name: str) -> None:
    case = incident(name)
    answers = case.told()["answers"]
    rows = call("delays", case.root, "--now", str(answers["lastStop"]), "--format", "jsonl").rows
    pending = {str(row["level"]): row["pending"] for row in rows if row["pending"]}
    assert pending == answers["undeliveredByLevel"]
    overdue = sum(message["state"].startswith("overdue") for message in answers["messages"])
    assert sum(row["overdue"] for row in rows) == overdue
    assert max(row["late_max_ms"] or 0 for row in rows) == answers["maxLateMs"]


def message_key(message: Mapping[str, Any]) -> tuple[object, ...]:
    """What every copy of a message has in common."""
    properties = message["properties"]
    born = (message["bornTimestamp"], message["bornHost"], message["bodyCRC"])
    return (properties.get("UNIQ_KEY") or born, properties.get("REAL_TOPIC"), message["reconsumeTimes"])


def plain_states(messages: Iterable[Row], next_offset: Mapping[int, int], next_timer: int) -> dict[int, str]:
    """The state of each delayed message by its place: one at a time, without columns."""
    records = [message for message in messages if message["type"] == "message"]
    copies, rolls = defaultdict[object, list[int]](list), set()
    for message in records:
        properties = message["properties"]
        if message["topic"] == TIMER:
            rolls.add((message_key(message), int(properties.get("TIMER_ROLL_TIMES", 0))))
        elif message["topic"] == properties.get("REAL_TOPIC"):
            copies[message_key(message)].append(message["physicalOffset"])
    states: dict[int, str] = {}
    for message in records:
        key, properties, at = message_key(message), message["properties"], message["physicalOffset"]
        if message["topic"] == TIMER:
            states[at] = "delivered" if copies[key] else "pending"
            if (key, int(properties.get("TIMER_ROLL_TIMES", 0)) + 1) in rolls:
                states[at] = "rolled"
            elif not copies[key] and message["queueOffset"] < next_timer:
                states[at] = "taken in"
        elif message["topic"] == SCHEDULE:
            is_past = message["queueOffset"] < next_offset.get(message["queueId"] + 1, 0)
            states[at] = "delivered" if any(c > at for c in copies[key]) else "passed" if is_past else "pending"
    return states


def expected(lines: Iterable[Row], state: Mapping[str, Any], timer: Mapping[str, Any] | None = None) -> dict[int, str]:
    """`state`: store_state.json, which has the delay offsets in the broker's memory; `timer`: timer.json."""
    offsets = {int(level): offset for level, offset in (state.get("delayOffsets") or {}).items()}
    return plain_states(lines, offsets, int(timer["commitQueueOffset"]) if timer else 0)


def judge(found: Mapping[int, Row], states: Mapping[int, str]) -> None:
    assert set(found) == set(states)
    told = {at: row["state"] for at, row in found.items()}
    for at, state in states.items():
        assert told[at] == state or (found[at]["level"] is None and state in ("pending", "taken in")), found[at]
        assert (told[at] == "delivered") == (state == "delivered"), found[at]


@pytest.mark.parametrize("name", store_names(subject="every message"))
def test_every_delayed_message_of_a_store_has_the_state_that_a_plain_look_finds(name: str) -> None:
    options = [f"--config={key}={value}" for key, value in log_setting(name).items()]
    timer = truth(name, "timer.json") if name.endswith("-pop") else None
    lines = truth_lines(name, "messages.jsonl.gz")
    judge(rows_of(store_root(name), *options), expected(lines, truth(name, "store_state.json"), timer))


@pytest.mark.parametrize("name", incident_names())
def test_every_delayed_message_after_an_incident_has_the_state_that_a_plain_look_finds(name: str) -> None:
    case = incident(name)
    options = ["--broker-conf", str(case.broker_conf)]
    state = json.loads((case.truth / "store_state.json").read_text("utf-8"))
    judge(rows_of(case.root, *options), expected(case.lines("messages.jsonl.gz"), state))


@pytest.mark.parametrize("name", since(5, store_names("pop")))
def test_timers_roll_until_the_wheel_reaches_them(name: str) -> None:
    """What is behind timercheck's queue offset was not taken in, and each record but the last of a message rolled."""
    timer = truth(name, "timer.json")
    found = rows_of(store_root(name), "--level", "0").values()
    states = Counter(row["state"] for row in found)
    assert states["rolled"] > 100 < sum(states.values()) - states["passed"]
    for row in found:
        waits_outside = row["queue_offset"] >= int(timer["commitQueueOffset"])
        assert waits_outside == (row["reason"] == "not taken into the wheel yet")
        assert (row["late_ms"] is None) == (row["state"] != "delivered")


@pytest.fixture
def overdue(tmp_path: Path) -> Path:
    """A copy of a store with delivered and pending messages, whose delay offsets a test may change."""
    root = tmp_path / "store"
    copy_tree(incident("5.3.3-delay-overdue").root, root)
    return root


def set_offsets(root: Path, text: str) -> None:
    for name in ("delayOffset.json", "delayOffset.json.bak"):
        (root / "config" / name).write_text(text, "utf-8")


def test_an_offset_beyond_pending_messages_passes_them_over(overdue: Path) -> None:
    set_offsets(overdue, json.dumps({"offsetTable": {"1": 10, "4": 10, "6": 10, "7": 52, "8": 15, "9": 15}}))
    states = Counter((row["level"], row["state"]) for row in rows_of(overdue).values())
    assert {key: count for key, count in states.items() if key[1] == "passed"} == {
        (7, "passed"): 18,
        (8, "passed"): 15,
        (9, "passed"): 15,
    }


def test_an_offset_that_fell_back_delivers_again(overdue: Path) -> None:
    set_offsets(overdue, json.dumps({"offsetTable": {"1": 4, "4": 10, "6": 10, "7": 34}}))
    again = [row for row in rows_of(overdue).values() if row["state"] == "delivered" and row["reason"]]
    assert {(row["level"], row["queue_offset"]) for row in again} == {(1, number) for number in range(4, 10)}


def test_without_readable_offsets_nobody_knows_what_is_pending(overdue: Path) -> None:
    set_offsets(overdue, "{")
    called = call("delays", overdue, "--messages", "--format", "jsonl")
    assert called.code == 4
    assert Counter(row["state"] for row in called.rows) == {"delivered": 64, "unknown": 48}


def test_a_level_without_an_offset_is_delivered_again(overdue: Path) -> None:
    set_offsets(overdue, json.dumps({"offsetTable": {"4": 10, "6": 10, "7": 34}}))
    again = [row for row in rows_of(overdue).values() if row["state"] == "delivered" and row["reason"]]
    assert {(row["level"], row["queue_offset"]) for row in again} == {(1, number) for number in range(10)}


def test_a_good_backup_stands_in_for_damaged_offsets(overdue: Path) -> None:
    set_offsets(overdue, json.dumps({"offsetTable": {"1": 10, "4": 10, "6": 10, "7": 34, "8": 0, "9": 0}}))
    (overdue / "config" / "delayOffset.json").write_text("{", "utf-8")
    rows = call("delays", overdue, "--messages", "--format", "jsonl").rows
    assert Counter(row["state"] for row in rows) == {"delivered": 64, "pending": 48}


def test_a_pending_message_whose_file_goes_first_is_told() -> None:
    """Waiting between 20 minutes and a day: longer than three days no file is kept for, but longer than an hour."""
    pending = ("--pending", "--now", "2026-11-21T15:15:00Z")
    kept = rows_of(store_root("5.3.3-clean"), *pending).values()
    assert {row["expires_first"] for row in kept} == {False}
    every_hour = ";".join(f"{hour:02d}" for hour in range(24))
    an_hour = ("--config", "fileReservedTime=1", "--config", f"deleteWhen={every_hour}")
    found = rows_of(store_root("5.3.3-clean"), *pending, *an_hour).values()
    assert {row["level"] for row in found if row["expires_first"]} >= {None, 17, 18}
    for row in found:
        assert row["expires_first"] == (row["expires_at"] <= row["due_at"])
        assert row["level"] not in (14, 15) or not row["expires_first"], "20 and 30 minutes"
