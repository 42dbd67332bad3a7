"""Messages that groups gave back: origin, failures, retries, dead letters, chain by chain.

The judges are the incidents' own chains with what listeners saw, and a plain look at the messages that RocketMQ's own
classes read out of every store.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recovery.fates.popped_retries import with_pops
from recovery.fates.pops import pops
from recovery.fates.retries import RETRY_STATES, retries
from recovery.fates.states import RetryState
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names
from tests.support.opened import opened
from tests.support.stores import log_setting, store_names, store_root, truth, truth_lines

SCHEDULE = "SCHEDULE_TOPIC_XXXX"
Row = dict[str, Any]


def epoch_ms(text: str | None) -> int | None:
    return None if text is None else round(datetime.fromisoformat(text).timestamp() * 1000)


def rows_of(root: Path, *options: str) -> list[Row]:
    called = call("retries", root, "--messages", "--format", "jsonl", *options)
    assert called.code == 0, called.err
    return called.rows


@pytest.mark.parametrize("name", incident_names("retry-dlq"))
def test_each_chain_is_as_the_incident_says(name: str) -> None:
    case = incident(name)
    chains = case.told()["answers"]["retryChains"]
    found = {row["physical_offset"]: row for row in rows_of(case.root)}
    assert set(found) == {chain["physicalOffset"] for chain in chains}
    for chain in chains:
        row = found[chain["physicalOffset"]]
        assert (row["group"], row["unique_id"]) == ("CG_worker", chain["uniqKey"])
        assert (row["topic"], row["queue_id"], row["queue_offset"]) == (
            chain["topic"],
            chain["queueId"],
            chain["queueOffset"],
        )
        failed = [delivery["at"] for delivery in chain["deliveries"] if not delivery["success"]]
        assert (row["failures"], row["retries"], row["repeated"]) == (len(failed), len(chain["retries"]), 0)
        assert 0 <= (epoch_ms(row["first_failed_at"]) or 0) - failed[0] < 1000
        assert 0 <= (epoch_ms(row["last_failed_at"]) or 0) - failed[-1] < 1000
        last = chain["retries"][-1]
        assert (epoch_ms(row["last_retry_at"]), row["retry_queue_offset"]) == (
            last["storeTimestamp"],
            last["queueOffset"],
        )
        dead = chain["dlq"][0] if chain["dlq"] else {}
        assert epoch_ms(row["dead_at"]) == dead.get("storeTimestamp")
        assert row["dead_physical_offset"] == dead.get("physicalOffset")
        assert row["state"] == ("dead_letter" if dead else "consumed")


@pytest.mark.parametrize("name", incident_names("retry-dlq"))
def test_a_group_has_as_many_of_each_outcome_as_the_incident_says(name: str) -> None:
    case = incident(name)
    outcomes = case.told()["answers"]["outcomes"]
    (row,) = call("retries", case.root, "--format", "jsonl").rows
    assert row["messages"] == sum(outcomes.values())
    assert row["consumed"] == outcomes["consumed at retry"]
    assert row["dead_letters"] == outcomes["dead letter, sent again"] + outcomes["dead letter"]


def plain_chains(messages: Iterable[Row]) -> Counter[tuple[object, ...]]:
    """What each chain holds, one message at a time: unique id, failures, retries, dead letters."""
    chains = defaultdict[object, list[Row]](list)
    for message in messages:
        if message["type"] != "message":
            continue
        properties, topic = message["properties"], message["topic"]
        target = properties.get("REAL_TOPIC", "") if topic == SCHEDULE else topic
        if target.startswith(("%RETRY%", "%DLQ%")):
            group = target.removeprefix("%RETRY%").removeprefix("%DLQ%")
            born = (message["bornTimestamp"], message["bornHost"], message["bodyCRC"])
            id_ = properties.get("UNIQ_KEY") or born
            chains[group, id_, properties.get("ORIGIN_MESSAGE_ID")].append(message)
    return Counter(
        (
            records[0]["properties"].get("UNIQ_KEY"),
            max(record["reconsumeTimes"] for record in records),
            sum(record["topic"].startswith("%RETRY%") for record in records),
            any(record["topic"].startswith("%DLQ%") for record in records),
        )
        for records in chains.values()
    )


def told(rows: Iterable[Row]) -> Counter[tuple[object, ...]]:
    return Counter((row["unique_id"], row["failures"], row["retries"], row["state"] == "dead_letter") for row in rows)


@pytest.mark.parametrize("name", store_names(subject="every message"))
def test_every_chain_of_a_store_is_what_a_plain_look_finds(name: str) -> None:
    options = [f"--config={key}={value}" for key, value in log_setting(name).items()]
    assert told(rows_of(store_root(name), *options)) == plain_chains(truth_lines(name, "messages.jsonl.gz"))


@pytest.mark.parametrize("name", store_names("pop"))
def test_popped_messages_name_their_group_and_origin(name: str) -> None:
    """A message is revived when its pop's invisible time has passed without an acknowledgement."""
    rows = [row for row in rows_of(store_root(name)) if row["group"] == "PopG"]
    records = {line["physicalOffset"]: line for line in truth_lines(name, "messages.jsonl.gz")}
    revived = {line["uniqKey"] for line in records.values() if line.get("topic", "").startswith("%RETRY%PopG")}
    assert {row["unique_id"] for row in rows} == revived
    for row in rows:
        origin = records[row["physical_offset"]]
        assert (row["topic"], row["queue_offset"]) == (origin["topic"], origin["queueOffset"])
        assert origin["uniqKey"] == row["unique_id"]
    noted = {
        (pop["msgId"], pop["reconsumeTimes"]): pop["ack"] for pop in truth(name, "pop.json") if pop["group"] == "PopG"
    }
    last = {row["unique_id"]: noted[row["unique_id"], row["failures"]] for row in rows}
    assert {row["unique_id"]: (row["state"], row["reason"]) for row in rows} == {
        message: ("consumed" if ack == "OK" else "in_flight", None) for message, ack in last.items()
    }
    assert len(set(last.values())) > 1


@pytest.mark.parametrize("name", store_names("pop"))
def test_what_no_pop_tells_of_a_popped_retry_is_unknown(name: str, tmp_path: Path) -> None:
    """Below the stored offset; from it on it is unread. The revive log is that of a store without such a log."""
    root = store_root(name)
    store, known = opened(root, name.partition("-")[0])
    nothing = pops(store, known, None, [].append, topics=())
    for offset, state in ((1 << 40, RetryState.UNKNOWN), (0, RetryState.UNREAD)):
        offsets = {("PopG", "%RETRY%PopG_PopT"): {0: offset}}
        found = with_pops(retries(store, known, offsets), nothing, offsets)
        told = {RETRY_STATES[each] for each in found.chains.state.tolist()}
        assert told == {state, RetryState.DEAD_LETTER}


def test_a_group_without_an_offset_is_unknown_to_have_consumed(tmp_path: Path) -> None:
    kept = tmp_path / "1795338409653.consumerOffset.json"
    kept.write_text(json.dumps({"offsetTable": {}}), "utf-8")
    rows = rows_of(incident("5.3.3-retry-dlq").root, "--offsets", str(kept))
    states = Counter(row["state"] for row in rows)
    assert states == {"dead_letter": 8, "unknown": 16}
    assert all(bool(row["reason"]) == (row["state"] == "unknown") for row in rows)


def test_offsets_that_stand_before_a_retry_leave_it_unread(tmp_path: Path) -> None:
    kept = tmp_path / "1795338409653.consumerOffset.json"
    kept.write_text(json.dumps({"offsetTable": {"%RETRY%CG_worker@CG_worker": {"0": 30}}}), "utf-8")
    for row in rows_of(incident("5.3.3-retry-dlq").root, "--offsets", str(kept)):
        expected = "unread" if row["retry_queue_offset"] >= 30 else "consumed"
        assert row["state"] == ("dead_letter" if row["dead_at"] else expected)


@pytest.mark.parametrize("command", ["delays", "retries"])
def test_counts_are_whole_numbers(command: str, tmp_path: Path) -> None:
    """DuckDB's own count_if would make them decimals in Parquet and in Python."""
    out = tmp_path / "sums.parquet"
    assert call(command, incident("5.3.3-retry-dlq").root, "--out", out, "--format", "parquet").code == 0
    assert not any(pa.types.is_decimal(kind) for kind in pq.read_schema(out).types)


def test_a_missing_log_file_may_have_held_what_became_of_a_message(tmp_path: Path) -> None:
    """Every chain of the whole store ended before the broker was stopped; the retries of two were in the lost file."""
    root = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    sorted((root / "commitlog").iterdir())[1].unlink()
    rows = [row for row in rows_of(root, "--group", "CG_failing") if row["physical_offset"] < 1 << 20]
    assert [row["state"] for row in rows] == ["unknown", "unknown"]
    assert all("missing bytes" in row["reason"] for row in rows)
