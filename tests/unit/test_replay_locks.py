"""The broker's lock table, transition by transition."""

from __future__ import annotations

import pytest

from rebalance.facts import Evidence, Fact, LockAnswered, LockBatchAnswered, QueueLockDecided, UnlockBatch
from rebalance.model.settings import Settings
from rebalance.processes.locks import LockTable
from tests.support.rebalance_facts import BROKER, GROUP, Record, queue

MS = Settings().broker_lock_max_live_time_ms


def asks(client_id: str, at_ms: int, *, granted: bool) -> LockBatchAnswered:
    asked = (queue(0),)
    return LockBatchAnswered(
        at_ms=at_ms,
        source=BROKER,
        group=GROUP,
        remote="r",
        client_id=client_id,
        asked=asked,
        granted=asked if granted else (),
    )


def unlocks(client_id: str, at_ms: int) -> UnlockBatch:
    return UnlockBatch(at_ms=at_ms, source=BROKER, group=GROUP, remote="r", client_id=client_id, queues=(queue(0),))


def decided(client_id: str, at_ms: int, decision: str) -> QueueLockDecided:
    return QueueLockDecided(
        at_ms=at_ms,
        source=BROKER,
        group=GROUP,
        queue=queue(0),
        client_id=client_id,
        decision=decision,
        evidence=Evidence("l", 1),
    )


CASES: list[tuple[str, list[Fact], list[tuple[str, int, int | None, str | None]]]] = [
    ("renewed", [asks("a", 0, granted=True), asks("a", MS, granted=True)], [("a", 0, None, None)]),
    ("unlocked", [asks("a", 0, granted=True), unlocks("a", 5)], [("a", 0, 5, "unlocked")]),
    ("unlock of another is nothing", [asks("a", 0, granted=True), unlocks("b", 5)], [("a", 0, None, None)]),
    (
        "expired, then taken",
        [asks("a", 0, granted=True), asks("b", MS + 1, granted=True)],
        [("a", 0, MS, "expired"), ("b", MS + 1, None, None)],
    ),
    (
        "taken though held: the record lacks the unlock",
        [asks("a", 0, granted=True), asks("b", 5, granted=True)],
        [("a", 0, 5, "taken over"), ("b", 5, None, None)],
    ),
    (
        "freed by the broker's restart at 20",
        [asks("a", 0, granted=True), asks("b", 30, granted=True)],
        [("a", 0, 20, "broker restarted"), ("b", 30, None, None)],
    ),
    ("as a log tells it", [decided("a", 0, "locked"), decided("a", 7, "unlocked")], [("a", 0, 7, "unlocked")]),
]


@pytest.mark.parametrize(("name", "facts", "expected"), CASES, ids=[case[0] for case in CASES])
def test_holds(name: str, facts: list[LockBatchAnswered], expected: list[object]) -> None:
    table = LockTable(GROUP, Settings(), {BROKER: [20] if "restart" in name else []})
    table.replay(facts)
    assert [(h.client_id, h.from_ms, h.until_ms, h.end_cause) for h in table.holds] == expected


def test_a_refusal_names_the_holder() -> None:
    table = LockTable(GROUP, Settings(), {})
    table.replay([asks("a", 0, granted=True), asks("b", 9, granted=False)])
    (refusal,) = table.refusals
    assert (refusal.client_id, refusal.holder) == ("b", "a")


def test_a_wait_ends_where_the_lock_came_and_begins_anew_at_the_next_refusal() -> None:
    """Two short waits of one client, hours apart, are no long one; a renewal of its own log ends one, too."""
    hour_ms = 3_600_000
    table = LockTable(GROUP, Settings(), {})
    refused = [asks("b", at, granted=False) for at in (0, 9_000, 20_000, hour_ms, hour_ms + 5_000)]
    told = {"group": GROUP, "queue": queue(0), "source": "b", "client_id": "b", "process": 1}
    renewed = LockAnswered(at_ms=10_000, granted=True, renewal=True, **told)
    alike = LockAnswered(at_ms=9_000, granted=False, **told)
    table.replay(refused, [alike, renewed])
    assert [[refusal.at_ms for refusal in wait] for wait in table.waits()] == [
        [0, 9_000],
        [20_000],
        [hour_ms, hour_ms + 5_000],
    ]


def test_a_stall_is_an_anomaly_with_the_dead_holder_as_cause() -> None:
    record = Record()
    a, b = record.client("a@1", 1), record.client("b@2", 2)
    a.heartbeat(0)
    b.heartbeat(0)
    a.locks(1_000, 0, granted=True)
    a.takes(1_001, ("a@1", "b@2"), 0)
    for at_ms in range(10_000, 61_000, 10_000):
        b.lists(at_ms, "b@2")
        b.locks(at_ms + 1, 0, granted=False)
    b.locks(70_000, 0, granted=True)
    b.takes(70_001, ("b@2",), 0)
    b.commits_every_5_s(75_000, 90_000, 0)
    found = {anomaly.kind: anomaly for anomaly in record.replay().anomalies}
    assert found["lock_stall"].cause == "lock held by a@1"
    assert found["orphan"].cause == "lock_held"
    (taken,) = (i for i in record.replay().intervals if i.client_id == "b@2")
    assert taken.cause.startswith("lock_granted")
