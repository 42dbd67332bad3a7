"""`backlog` with recordings: who has or had each queue, since when its offset stands, and what the group subscribes to.

Owners are judged by the queue tables of the clients themselves, offsets by every kept copy, subscriptions by what the
broker's log and the traffic each say alone.
"""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.answers.backlog import subscriptions_heard
from pipelines.answers.backlog.subscriptions_heard import SubscriptionsHeard
from pipelines.answers.offsets.saved import offsets_in
from pipelines.recordings.listening import hear
from pipelines.recordings.recordings import find_recordings
from rebalance.model.message_queue import MessageQueue
from tests.support.cli import rows_of
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.rebalance_sessions import truth_runs

SESSIONS = GOLDEN / "rebalance" / "sessions"
NAMES = ["a-533-join-leave-kill", "c-497-ordered-kill", "e-550-same-clientid", "s-550-frozen"]
SAMPLED_MS = 200
"""Tables of clients were looked at every 100 ms."""


def session_store(name: str) -> Path:
    return unpacked(SESSIONS / name / "store.tar.gz") / "broker-0" / "store"


def backlog(name: str) -> list[dict[str, Any]]:
    session, kept = SESSIONS / name, SESSIONS / name / "offsets" / "broker-0" / "consumerOffset"
    recordings = ("--logs", session / "logs", "--logs", session / "wire.jsonl.gz")
    return rows_of("backlog", session_store(name), *recordings, "--offsets", kept)


def last_owners(session: Path, group: str, queue: MessageQueue) -> dict[str, int]:
    """Client ids with the instant of the last table of each that has the queue, those at its end as of the end."""
    found: dict[str, int] = {}
    for run in truth_runs(session):
        if run.group == group and run.client_id is not None:
            for number, (at_ms, present, _) in enumerate(run.tables):
                if queue in present:
                    is_last = number + 1 == len(run.tables)
                    end_ms = (run.shutdown_ms or run.ended_ms or at_ms) if is_last else run.tables[number + 1][0]
                    found[run.client_id] = max(end_ms, found.get(run.client_id, 0))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_last_owner_is_the_client_whose_table_had_the_queue_last(name: str) -> None:
    rows = [row for row in backlog(name) if not row["topic"].startswith("%RETRY%")]
    assert rows
    for row in rows:
        queue = MessageQueue(row["topic"], "broker-0", row["queue_id"])
        truth = last_owners(SESSIONS / name, row["group"], queue)
        last_ms = max(truth.values())
        last = {client for client, at_ms in truth.items() if at_ms >= last_ms - SAMPLED_MS}
        if row["owner_certain"]:
            assert set(row["owners"]) == last, queue
        else:
            assert last <= set(row["owners"]), queue
    assert any(row["owner_certain"] for row in rows)


@pytest.mark.parametrize("name", ["c-497-ordered-kill", "s-550-frozen"])
def test_an_offset_that_stands_was_the_same_in_every_copy_since(name: str) -> None:
    problems: list[str] = []
    copies = offsets_in(SESSIONS / name / "offsets" / "broker-0" / "consumerOffset", problems.append)
    now = copies[-1]
    seen = 0
    for row in backlog(name):
        key, queue_id = (row["group"], row["topic"]), row["queue_id"]
        then = [(copy.written_ms, copy.offsets.get(key, {}).get(queue_id)) for copy in copies]
        if row["stands_since"] is None:
            assert then[-2][1] != now.offsets[key].get(queue_id)
            continue
        seen += 1
        since_ms = millis(row["stands_since"])
        assert {offset for at_ms, offset in then if at_ms >= since_ms} == {now.offsets[key][queue_id]}
    assert seen


def millis(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize("part", ["logs", "wire.jsonl.gz"])
def test_of_members_that_subscribe_differently_the_newest_version_counts(part: str) -> None:
    """c1 subscribes all tags, c2 a second topic as well, c3, the last one, tag A only; then c2 leaves."""
    heard, problems = SubscriptionsHeard(), list[str]()
    hear(find_recordings([SESSIONS / "f-533-subscriptions" / part]), [heard], problems.append)
    assert problems == []
    found = heard.of(heard.brokers())
    assert heard.brokers() == {"broker-0"}
    assert {key: (each.said.expression, each.others) for key, each in found.items()} == {
        ("cg_events", "events"): ("A", ("*",)),
        ("cg_events", "%RETRY%cg_events"): ("*", ()),
    }


CHANGED = "subscription changed, add new topic, group: cg_ledger {}"
REGISTERED = (
    "registerConsumer info changed ConsumerData [groupName=cg_ledger, consumeType=CONSUME_PASSIVELY, "
    "messageModel=CLUSTERING, consumeFromWhere=CONSUME_FROM_FIRST_OFFSET, unitMode=false, subscriptionDataSet=[{}]] "
    "10.0.0.9:4000"
)


@pytest.mark.parametrize("line", [CHANGED, REGISTERED])
def test_tags_of_the_brokers_log_decide_what_matches(tmp_path: Path, line: str) -> None:
    """A heartbeat's line has them also where the log lacks what ConsumerGroupInfo says."""
    data = (
        "SubscriptionData [classFilterMode=false, topic=ledger, subString=A, tagsSet=[A], codeSet=[65], "
        "subVersion=1795273860000, expressionType=TAG]"
    )
    with gzip.open(tmp_path / "broker.log.gz", "wt") as log:
        log.write(f"2026-11-21 23:11:00 INFO HeartbeatThread_1 - {line.format(data)}\n")
    store = session_store("c-497-ordered-kill")
    told = rows_of("backlog", store, "--group", "cg_ledger", "--topic", "ledger", "--logs", tmp_path)
    said = rows_of("backlog", store, "--group", "cg_ledger", "--topic", "ledger", "--tags", "A")
    assert {row["subscription_from"] for row in told} == {"broker.log.gz:1"}
    assert {row["subscription"] for row in told} == {"A"}
    assert [row["matching"] for row in told] == [row["matching"] for row in said]
    assert sum(row["matching"] for row in told) < sum(row["unread"] for row in told)


def test_a_folder_without_recordings_leaves_the_owner_unknown(tmp_path: Path) -> None:
    rows = rows_of("backlog", session_store("c-497-ordered-kill"), "--logs", tmp_path)
    assert rows
    assert {row["owners"] for row in rows} == {None}


def test_subscriptions_beyond_those_that_are_kept_are_counted_and_the_others_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subscriptions_heard, "MOST", 1)
    heard = SubscriptionsHeard()
    hear(find_recordings([SESSIONS / NAMES[0] / "wire.jsonl.gz"]), [heard], lambda sentence: None)
    assert len(heard.of(heard.brokers())) == 1
    assert heard.problems() == ["more than 1 subscriptions of groups; what follows was left out"]
