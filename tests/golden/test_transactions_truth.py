"""Transactions: halves, checks, commits, and what was given up, one by one.

The judges are the incidents' own transactions by fate, and a plain look at the messages that RocketMQ's own classes
read out of every store.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names
from tests.support.stores import log_setting, store_names, store_root, truth_lines

HALF, GIVEN_UP = "RMQ_SYS_TRANS_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"
PREPARED, COMMIT, ROLLBACK = 0x4, 0x8, 0xC
Row = dict[str, Any]


def rows_of(root: Path, *options: str) -> dict[int, Row]:
    called = call("transactions", root, "--messages", "--format", "jsonl", *options)
    assert called.code == 0, called.err
    return {row["half_physical_offset"]: row for row in called.rows}


def told_outcome(row: Row) -> str:
    """The state in the words of the incident."""
    words = {
        "committed": "committed",
        "rolled_back": "rolled back",
        "given_up": "given up (TRANS_CHECK_MAX_TIME_TOPIC)",
    }
    also = row["state"] == "committed" and row["given_up_at"] is not None
    more = ", and given up too (checked before the broker wrote that it was decided)" if also else ""
    return words[row["state"]] + more


@pytest.mark.parametrize("name", incident_names("retry-dlq"))
def test_each_transaction_ends_as_the_incident_says(name: str) -> None:
    case = incident(name)
    told = case.told()["answers"]["transactions"]
    found = rows_of(case.root)
    assert set(found) == {each["halfPhysicalOffsets"][0] for each in told}
    for each in told:
        row = found[each["halfPhysicalOffsets"][0]]
        assert (row["unique_id"], row["group"], row["topic"]) == (each["uniqKey"], "TXG", "TxOrders")
        assert row["checks"] == each["checks"] == len(each["halfPhysicalOffsets"]) - 1
        assert row["physical_offset"] == each["committedPhysicalOffset"]
        assert row["commits"] == (each["committedPhysicalOffset"] is not None)
        assert (row["given_up_at"] is None) == (each["givenUpPhysicalOffset"] is None)
        assert told_outcome(row) == each["outcome"]


@pytest.mark.parametrize("name", incident_names("retry-dlq"))
def test_a_topic_has_as_many_of_each_outcome_as_the_incident_says(name: str) -> None:
    case = incident(name)
    outcomes = case.told()["answers"]["transactionOutcomes"]
    (row,) = call("transactions", case.root, "--format", "jsonl").rows
    committed = sum(count for outcome, count in outcomes.items() if outcome.startswith("committed"))
    assert (row["transactions"], row["committed"]) == (sum(outcomes.values()), committed)
    assert row["committed_and_given_up"] == committed - outcomes["committed"]
    assert row["rolled_back"] == outcomes.get("rolled back", 0)
    assert row["given_up"] == outcomes["given up (TRANS_CHECK_MAX_TIME_TOPIC)"]
    assert (row["pending"], row["unknown"], row["committed_twice"]) == (0, 0, 0)


def plain_ends(messages: Iterable[Row]) -> Counter[tuple[object, ...]]:
    """Each transaction's id, checks, commits, and whether it was given up: one at a time."""
    records = [message for message in messages if message["type"] == "message"]
    unique = {message["physicalOffset"]: message["properties"].get("UNIQ_KEY") for message in records}
    halves = defaultdict[object, list[Row]](list)
    commits, given_up = Counter[int](), set[object]()
    for message in records:
        kind, topic = message["sysFlag"] & 0xC, message["topic"]
        id_ = unique[message["physicalOffset"]] or (message["bornTimestamp"], message["bornHost"], message["bodyCRC"])
        if topic == HALF or kind == PREPARED:
            halves[id_].append(message)
        elif topic == GIVEN_UP:
            given_up.add(id_)
        elif kind == COMMIT and not topic.startswith("%"):
            commits[message["preparedTransactionOffset"]] += 1
    return Counter(
        (
            unique[of_one[0]["physicalOffset"]],
            len(of_one) - 1,
            sum(commits[half["physicalOffset"]] for half in of_one),
            id_ in given_up,
        )
        for id_, of_one in halves.items()
    )


@pytest.mark.parametrize("name", store_names(subject="every message"))
def test_every_transaction_of_a_store_is_what_a_plain_look_finds(name: str) -> None:
    options = [f"--config={key}={value}" for key, value in log_setting(name).items()]
    found = rows_of(store_root(name), *options).values()
    assert Counter(
        (row["unique_id"], row["checks"], row["commits"], row["given_up_at"] is not None) for row in found
    ) == plain_ends(truth_lines(name, "messages.jsonl.gz"))
    for row in found:
        assert (row["state"] == "committed") == (row["commits"] > 0)


@pytest.mark.parametrize("name", ["3.2.6-clean", "4.2.0-clean"])
def test_before_4_3_0_a_rollback_record_names_its_half(name: str) -> None:
    records = list(truth_lines(name, "messages.jsonl.gz"))
    kinds = Counter(record["sysFlag"] & 0xC for record in records if record["type"] == "message")
    states = Counter(row["state"] for row in rows_of(store_root(name)).values())
    assert (states["committed"], states["rolled_back"]) == (kinds[COMMIT], kinds[ROLLBACK])
    assert states["pending"] == kinds[PREPARED] - kinds[COMMIT] - kinds[ROLLBACK]


@pytest.mark.parametrize("name", store_names("clean", "pop"))
def test_an_op_message_that_lists_a_half_decides_it(name: str) -> None:
    """All that were sent were committed, rolled back or left open; a half is open until an op message lists it."""
    found = rows_of(store_root(name)).values()
    for row in found:
        is_decided = row["decided_at"] is not None
        assert row["state"] != "pending" or not is_decided
        assert row["state"] != "rolled_back" or is_decided


@pytest.mark.parametrize("text", [None, "{"])
def test_without_stored_offsets_nobody_knows_what_is_pending(tmp_path: Path, text: str | None) -> None:
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-clean"), root)
    for file in (root / "config").glob("*onsumerOffset.json*"):
        file.unlink()
        if text is not None:
            file.write_text(text, "utf-8")
    rows = call("transactions", root, "--messages", "--format", "jsonl").rows
    states = Counter(row["state"] for row in rows)
    assert states["unknown"] > 0 == states["pending"]
    assert all("how far the broker's check is" in row["reason"] for row in rows if row["state"] == "unknown")
