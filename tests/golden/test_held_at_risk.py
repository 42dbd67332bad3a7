"""Timers and half messages in `retention`, against the messages that wait and the files that go, each told by another
command."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any

import pytest

from tests.support.cli import call, rows_of
from tests.support.stores import store_names, store_root

NAMES = store_names("clean", "pop")
SOON_MS = 3_600_000


def risks(name: str, *arguments: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document, and its rows by kind."""
    version = name.partition("-")[0]
    called = call("retention", store_root(name), "--version", version, "--utc-offset", 0, *arguments)
    document = json.loads(called.out)
    return document, {row["kind"]: row for row in document["held_at_risk"]}


def file_goes(document: dict[str, Any], place: int) -> str | None:
    files = sorted(
        (each["log_min"], each["due_at"] or "")
        for each in [*document["delete_now"], *document["later"]]
        if each["kind"] == "commitlog"
    )
    at = bisect_right([end for end, _ in files], place)
    return files[at][1] or None


@pytest.mark.parametrize("hours", [0, 48])
@pytest.mark.parametrize("name", NAMES)
def test_what_waits_is_counted_with_the_end_of_its_file(name: str, hours: int) -> None:
    written_ms = max(path.stat().st_mtime_ns for path in store_root(name).rglob("commitlog/*")) // 1_000_000
    every_hour = ";".join(f"{hour:02d}" for hour in range(24))
    settings = [f"--config=fileReservedTime={hours}", f"--config=deleteWhen={every_hour}"]
    document, held = risks(name, *settings, "--now", written_ms - SOON_MS)
    root = store_root(name)
    timers = [
        row for row in rows_of("delays", root, "--messages") if (row["kind"], row["state"]) == ("timer", "pending")
    ]
    halves = rows_of("transactions", root, "--messages", "--open", "--version", name.partition("-")[0])
    ends = {row["physical_offset"]: file_goes(document, row["physical_offset"]) for row in timers}
    lost = [row for row in timers if (end := ends[row["physical_offset"]]) is not None and end <= row["due_at"]]
    waiting = {kind for kind, row in held.items() if row["pending_messages"] or row["undecided_messages"]}
    assert waiting == {kind for kind, listed in (("timer", timers), ("half", halves)) if listed}
    if timers:
        told = held["timer"]
        assert told["pending_messages"] == len(timers)
        assert told["expiry_unknown"] == sum(end is None for end in ends.values())
        known = any(end is not None for end in ends.values())
        assert told["expire_first"] == (len(lost) if known else None)
        named = sorted(row["unique_id"] for row in sorted(lost, key=lambda row: row["physical_offset"])[:20])
        assert sorted(row["unique_id"] for row in told["messages"]) == named
        assert told["due_at"] == ends[min(ends)]
        assert told["reason"]
    if halves:
        told = held["half"]
        assert (told["pending_messages"], told["undecided_messages"]) == (
            sum(row["state"] == "pending" for row in halves),
            sum(row["state"] == "unknown" for row in halves),
        )
        assert told["expire_first"] is None
        assert "no time at which it is due" in told["reason"]
        assert {row["unique_id"] for row in told["messages"]} <= {row["unique_id"] for row in halves}
        assert len(told["messages"]) == min(20, len(halves))


def test_a_timer_whose_file_goes_first_is_named() -> None:
    """One that is due a day after its file has expired."""
    written_ms = max(path.stat().st_mtime_ns for path in store_root("5.3.3-clean").rglob("commitlog/*")) // 1_000_000
    every_hour = ";".join(f"{hour:02d}" for hour in range(24))
    _, held = risks(
        "5.3.3-clean", "--config=fileReservedTime=0", f"--config=deleteWhen={every_hour}", "--now", written_ms - SOON_MS
    )
    told = held["timer"]
    assert told["expire_first"] > 0
    assert all(row["expires_at"] <= row["due_at"] for row in told["messages"])
