"""The loss ledger beside logs and kept offsets: what listeners really got, and conservation in every recorded store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.golden.test_episodes import NAMES as EPISODES
from tests.golden.test_episodes import recorded
from tests.support.cli import call
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.incidents import Incident, incident, incident_names

ARCHIVES = sorted(
    [
        *GOLDEN.glob("rebalance/sessions/*/store.tar.gz"),
        *GOLDEN.glob("tiered/*.tar.gz"),
        *GOLDEN.glob("pop/*/store.tar.gz"),
    ]
)
"""Stores that no other test of the ledger reads."""
MOVED = incident_names("offsets-reset", "disk-full-clean", "topic-recreated")
STATES = ("consumed", "skipped", "expired_unread", "waiting")


@pytest.mark.parametrize("name", MOVED)
def test_what_the_ledger_is_certain_of_is_what_listeners_got(name: str) -> None:
    """A message that the broker takes for consumed was delivered, but where a movement took the offset over it."""
    case = incident(name)
    got, groups = deliveries(case)
    seen: Counter[str] = Counter()
    for row in call("ledger", case.root, "--broker-conf", case.broker_conf, *beside(case)).rows:
        if row["group"] not in groups or row["topic"].startswith("%RETRY%") or not row["certain"]:
            continue
        numbers = set(range(row["first_queue_offset"], row["end_queue_offset"]))
        delivered = numbers & got[row["group"], row["topic"], row["queue_id"], row["life"]]
        assert delivered == (numbers if row["state"] == "consumed" else set()), row
        assert row["state"] in STATES
        seen[row["state"]] += len(numbers)
    assert seen["consumed"] > 0


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
def test_the_way_of_a_message_says_where_a_groups_offset_was_taken_over_it(name: str) -> None:
    """The last message that a group never got, and the next one, which it got."""
    case = incident(name)
    rows = call("ledger", case.root, *beside(case)).rows
    skipped = next(row for row in rows if row["state"] == "skipped")
    queue, end = (skipped["topic"], skipped["queue_id"]), skipped["end_queue_offset"]
    named = ("--topic", queue[0], "--columns", "queue_id,queue_offset,physical_offset,unique_id")
    ids = {  # of the present life, which is the last in the log
        (row["queue_id"], row["queue_offset"]): row["unique_id"]
        for row in call("dump", "commitlog", case.root, *named).rows
    }
    for number, told in ((end - 1, ["skipped", "committed"]), (end, ["committed"])):
        steps = call("who", case.root, "--message-id", ids[queue[1], number], *beside(case)).rows
        mine = [step["step"] for step in steps if step["group"] == skipped["group"]]
        assert [step for step in mine if step in ("skipped", "committed")] == told


def test_messages_that_a_cleaner_deleted_unread_are_told_by_logs_that_name_no_queue() -> None:
    case = incident("5.3.3-disk-full-clean")
    slow = case.told()["answers"]["slowGroup"]
    rows = call("ledger", case.root, "--group", slow["group"], "--lost", *beside(case)).rows
    lost = {str(row["queue_id"]): row["messages"] for row in rows if row["state"] == "expired_unread"}
    assert lost == slow["unreadDeleted"] != {}
    assert not any(row["certain"] for row in rows)


def beside(case: Incident) -> Iterator[str | Path]:
    kept = case.truth / "offset_history"
    yield from ("--logs", case.logs)
    yield from ("--offsets", kept) if kept.is_dir() else ()


def deliveries(case: Incident) -> tuple[dict[tuple[Any, ...], set[int]], set[str]]:
    """(group, topic, queue, life) -> the numbers that a listener got; and the groups with a listener."""
    told = case.told()["answers"].get("topics", {})
    began = {topic: [life["firstPhysicalOffset"] for life in lives["lives"]] for topic, lives in told.items()}
    got: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    groups = set()
    for row in case.lines("deliveries.jsonl.gz"):
        if "check" not in row:
            life = sum(row["physicalOffset"] >= place for place in began.get(row["topic"], [0]))
            got[row["group"], row["topic"], row["queueId"], life].add(row["queueOffset"])
            groups.add(row["group"])
    return got, groups


@pytest.mark.parametrize("name", [*EPISODES, *("/".join(path.relative_to(GOLDEN).parts) for path in ARCHIVES)])
def test_the_states_of_every_recorded_queue_add_up_to_its_maximum(name: str) -> None:
    """For the store and for every group: the ranges follow one another from 0."""
    for root in roots(name):
        maximum = {(row["topic"], row["queue_id"]): row["max_queue_offset"] for row in call("queues", root).rows}
        reached: Counter[tuple[Any, ...]] = Counter()
        for row in call("ledger", root).rows:
            key = row["group"], row["topic"], row["queue_id"], row["life"]
            assert (row["first_queue_offset"], row["messages"]) == (
                reached[key],
                row["end_queue_offset"] - row["first_queue_offset"],
            )
            reached[key] += row["messages"]
            assert row["max_queue_offset"] == maximum[key[1:3]]
        assert reached
        assert all(reached[key] == maximum[key[1:3]] for key in reached)


def roots(name: str) -> list[Path]:
    """The stores of a recording: an episode, or what an archive holds."""
    if name in EPISODES:
        return [recorded(name) / "store"]
    return sorted(path.parent for path in unpacked(GOLDEN / name).rglob("commitlog"))
