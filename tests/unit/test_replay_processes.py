"""Connections, processes, and how they end."""

from __future__ import annotations

from typing import Any

import pytest

from rebalance.diagnosis.incidents import CLIENT_EXPIRED, CLIENT_LEFT, CLIENT_RESUMED, CLIENT_SILENT, CLIENT_VANISHED
from rebalance.facts import (
    ANY_RUN,
    BrokerStarted,
    ChannelClosed,
    ChannelConnected,
    ChannelExpired,
    ConsumerShutdown,
    ConsumerStarting,
    Evidence,
    OffsetPersisted,
    QueueAdded,
    QueueRemoved,
    RebalanceResultChanged,
)
from rebalance.model.timing import SHUTDOWN_BEFORE_MS
from rebalance.ownership.doubts import NOT_ON_RECORD
from tests.support.rebalance_facts import BROKER, GROUP, TOPIC, Client, Record, queue

A, B = "a@1", "b@2"
BOTH = (A, B)


@pytest.fixture
def record() -> Record:
    return Record()


def two_owners(record: Record) -> tuple[Client, Client]:
    """A and B, each with one of two queues from the first second on."""
    a, b = record.client(A, 1), record.client(B, 2)
    a.heartbeat(0)
    b.heartbeat(0)
    a.takes(1_000, (A, B), 0)
    b.takes(1_000, (A, B), 1)
    return a, b


def kinds(record: Record, client_id: str) -> list[str]:
    return [i.kind for i in record.replay().incidents if i.subject == client_id]


def test_a_client_gone_from_the_list_within_two_minutes_was_cut_off(record: Record) -> None:
    a, b = two_owners(record)
    a.commits(5_000, 0)
    b.commits(5_000, 1)
    b.takes(8_000, (B,), 0)
    b.commits_every_5_s(10_000, 30_000, 0, 1)
    (interval, *_) = (i for i in record.replay().intervals if i.client_id == A)
    assert (interval.end_earliest, interval.end_latest) == (5_000 - SHUTDOWN_BEFORE_MS, 8_000)  # it may be a farewell
    assert CLIENT_VANISHED in kinds(record, A)
    assert record.owners(0, 6_000) == ((), False, (A,))
    assert record.owners(0, 12_000) == ((B,), True, (B,))


def test_a_silent_client_may_still_own_after_the_broker_dropped_it(record: Record) -> None:
    _, b = two_owners(record)
    for at_ms in range(20_000, 140_000, 20_000):
        b.lists(at_ms, A, B)
        b.heartbeat(at_ms + 5)
    b.takes(140_000, (B,), 0)
    b.commits_every_5_s(142_000, 200_000, 0, 1)
    assert CLIENT_EXPIRED in kinds(record, A)
    assert record.owners(0, 170_000) == ((B,), False, (A, B))


def test_a_client_that_comes_back_was_frozen_and_kept_its_queues(record: Record) -> None:
    a, b = two_owners(record)
    for at_ms in range(20_000, 140_000, 20_000):
        b.lists(at_ms, A, B)
        b.heartbeat(at_ms + 5)
    for at_ms in range(140_000, 180_000, 20_000):
        b.lists(at_ms, B)
    again = record.client(A, 3, first_request=a.request_no + 10)
    again.sub_version = a.sub_version
    again.loses(180_000, (B,), 0)
    again.heartbeat(200_000)
    assert kinds(record, A)[1:4] == [CLIENT_SILENT, CLIENT_EXPIRED, CLIENT_RESUMED]
    assert record.owners(0, 160_000) == ((A,), True, (A,))
    assert record.owners(0, 190_000) == ((), True, ())


def test_a_reconnect_is_the_same_process_a_restart_is_not(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    a.commits_every_5_s(5_000, 20_000, 0)
    reconnected = record.client(A, 2, first_request=a.request_no + 4)
    reconnected.sub_version = a.sub_version
    reconnected.heartbeat(21_000)
    reconnected.commits_every_5_s(25_000, 60_000, 0)
    restarted = record.client(A, 3)
    restarted.heartbeat(70_000)
    restarted.takes(71_000, (A,), 0)
    restarted.commits_every_5_s(75_000, 90_000, 0)
    assert [(i.process, i.begin_earliest) for i in record.replay().intervals] == [(1, 1_001), (2, 71_001)]


def test_two_processes_of_one_id_are_told_apart(record: Record) -> None:
    one, two = record.client(A, 1, first_request=500), record.client(A, 2)
    one.heartbeat(0)
    one.takes(1_000, (A,), 0, 1)
    two.heartbeat(10_000)
    one.loses(10_010, (A, A), 1)
    two.takes(11_000, (A, A), 0)
    for at_ms in range(15_000, 60_000, 5_000):
        one.commits(at_ms, 0)
        two.commits(at_ms, 0)
    two.unregisters(60_000)
    one.commits_every_5_s(60_000, 90_000, 0)
    history = record.replay()
    assert {(i.process, i.queue_id) for i in history.intervals} == {(1, 0), (1, 1), (2, 0)}
    (double,) = (a for a in history.anomalies if a.kind == "double_owner")
    assert double.cause == "duplicate_client_id"
    assert record.owners(0, 80_000) == ((A,), True, (A,))


def test_a_clean_leave_has_a_window_around_the_unregister(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    a.unregisters(10_000)
    (interval,) = record.replay().intervals
    assert (interval.end_earliest, interval.end_latest) == (9_500, 15_000)
    assert CLIENT_LEFT in kinds(record, A)


@pytest.mark.parametrize(("closed", "end_latest"), [(ChannelClosed, 9_999), (ChannelExpired, None)])
def test_a_brokers_log_tells_a_close_from_an_expiry(record: Record, closed: type, end_latest: int | None) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    record.facts.append(
        closed(
            at_ms=9_000,
            late_ms=999,
            source=BROKER,
            group=GROUP,
            client_id=A,
            remote=a.remote,
            evidence=Evidence("l", 1),
        )
    )
    (interval,) = record.replay().intervals
    assert interval.end_latest == end_latest


def test_a_tool_that_never_names_itself_owns_nothing(record: Record) -> None:
    tool = record.client("", 9)
    tool.client_id = None  # type: ignore[assignment]
    tool.asks_offset(1_000, 0)
    assert record.replay().ownership_at(2_000) == []


def test_a_log_that_does_not_tell_two_consumers_of_a_group_apart_tells_of_neither(record: Record) -> None:
    """Two instances in one JVM: a queue's removal names the group only."""
    log = "app.log"
    record.facts += [
        ConsumerStarting(at_ms=0, source=log, group=GROUP, client_id=A, process=1),
        ChannelConnected(at_ms=500, source=BROKER, group=GROUP, client_id=A, remote="10.0.0.9:1"),
        QueueAdded(at_ms=1_000, source=log, group=GROUP, client_id=A, process=1, queue=queue(0)),
        QueueAdded(at_ms=8_000, source=log, group=GROUP, client_id=A, process=1, queue=queue(1)),
        QueueRemoved(at_ms=9_000, source=log, group=GROUP, client_id=None, process=ANY_RUN, queue=queue(0)),
    ]
    assert record.owners(0, 5_000)[0] == ()
    record.facts = [fact for fact in record.facts if not isinstance(fact, QueueRemoved)]
    assert record.owners(0, 5_000)[0] == (A,)


def test_a_farewell_of_an_unsure_clock_may_have_come_as_early_as_it_says(record: Record) -> None:
    log = "app.log"
    record.facts += [
        ConsumerStarting(at_ms=0, source=log, group=GROUP, client_id=A, process=1),
        QueueAdded(at_ms=1_000, source=log, group=GROUP, client_id=A, process=1, queue=queue(0)),
        ConsumerShutdown(at_ms=9_000, early_ms=3_000, source=log, group=GROUP, client_id=A, process=1),
    ]
    (interval,) = record.replay().intervals
    assert interval.end_earliest < 6_000


def test_a_client_that_came_on_a_second_connection_is_counted_twice(record: Record) -> None:
    """The network was cut: the broker still lists the old connection beside the new one, with the same client id."""
    log = "app.log"
    record.facts += [
        ConsumerStarting(at_ms=0, source=log, group=GROUP, client_id=A, process=1),
        ChannelConnected(at_ms=500, source=BROKER, group=GROUP, client_id=A, remote="10.0.0.9:1"),
        QueueAdded(at_ms=1_000, source=log, group=GROUP, client_id=A, process=1, queue=queue(0)),
        RebalanceResultChanged(
            at_ms=1_001, source=log, group=GROUP, client_id=A, process=1, strategy="AVG", topic=TOPIC,
            mq_all_size=1, cid_all_size=2, target=(queue(0),),
        ),
        QueueAdded(at_ms=90_000, source=log, group=GROUP, client_id=A, process=1, queue=queue(1)),
    ]  # fmt: skip
    assert NOT_ON_RECORD in record.owners(0, 5_000)[2]
    record.facts.append(ChannelConnected(at_ms=800, source=BROKER, group=GROUP, client_id=A, remote="10.0.0.9:2"))
    assert record.owners(0, 5_000)[2] == (A,)


def test_a_log_without_queues_is_silent_and_no_hole(record: Record) -> None:
    """Its lines tell that the last queue went; the commits that do not come are not missed."""
    told: dict[str, Any] = {"source": "app.log", "group": GROUP, "client_id": A, "process": 1}
    record.facts += [
        ConsumerStarting(at_ms=0, **told),
        QueueAdded(at_ms=1_000, queue=queue(0), **told),
        QueueRemoved(at_ms=30_500, queue=queue(0), **told),
        QueueAdded(at_ms=80_000, queue=queue(0), **told),
    ]
    for at_ms in (*range(10_000, 31_000, 5_000), *range(85_000, 101_000, 5_000)):
        record.facts.append(OffsetPersisted(at_ms=at_ms, queue=queue(0), queue_offset=at_ms, **told))
    assert "silent" not in [note.kind for note in record.replay().notes]


def test_a_consumer_of_a_jvm_that_sent_requests_before_is_born_where_it_registers(record: Record) -> None:
    """A producer, or another group's consumer, has counted the requests up: nothing is missed before."""
    b = record.client(B, 2)
    b.heartbeat(0)
    b.takes(1_000, (B,), 1)
    b.commits_every_5_s(10_000, 100_000, 1)
    for at_ms in range(20_000, 100_000, 20_000):
        b.lists(at_ms, B)
        b.heartbeat(at_ms + 5_000)
    a = record.client(A, 1, 4_000)
    a.heartbeat(100_000)
    a.takes(100_100, (A, B), 0)
    a.commits_every_5_s(110_000, 130_000, 0)
    assert "silent" not in [note.kind for note in record.replay().notes]


def test_a_broker_that_was_killed_leaves_no_hole_though_its_log_is_stamped_to_the_second(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    a.commits_every_5_s(10_000, 41_000, 0)
    for at_ms in (79_000, 79_700):
        record.facts.append(BrokerStarted(at_ms=at_ms, source=BROKER, late_ms=999 if at_ms % 1_000 == 0 else 0))
    record.facts.append(ChannelConnected(at_ms=79_000, source=BROKER, group=GROUP, client_id=A, remote="10.0.0.1:9"))
    again = record.client(A, 9, 400)
    again.heartbeat(79_800)
    again.commits_every_5_s(80_000, 111_000, 0)
    assert "silent" not in [note.kind for note in record.replay().notes]


def test_a_client_that_was_cut_off_leaves_no_holes_between_the_signs_of_another(record: Record) -> None:
    a, b = record.client(A, 1), record.client(B, 2)
    for client, queue_id, missing in ((a, 0, range(41_000, 79_000)), (b, 1, range(0))):
        client.heartbeat(queue_id)
        client.takes(1_000 + queue_id, BOTH, queue_id)
        for at_ms in range(10_000 + 2_500 * queue_id, 120_000, 5_000):
            if at_ms not in missing:
                client.commits(at_ms, queue_id)
    assert "silent" not in [note.kind for note in record.replay().notes]
