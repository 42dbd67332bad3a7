"""Polled members and queue tables beside other records, and alone."""

from __future__ import annotations

from rebalance.facts import ConnectionsSeen, Fact, ListedMember, QueueTableSeen, RouteSeen, TopicQueues
from rebalance.model.message_queue import MessageQueue
from rebalance.replay import Replay, replay
from tests.support.rebalance_facts import BROKER, GROUP, TOPIC, Record, queue


def members(at_ms: int, *client_ids: str) -> ConnectionsSeen:
    rows = tuple(ListedMember(client_id, "10.0.0.9:1", None) for client_id in client_ids)
    return ConnectionsSeen(at_ms=at_ms, source=BROKER, early_ms=5_000, group=GROUP, connections=rows, topics=(TOPIC,))


def table(at_ms: int, client_id: str, *queues: MessageQueue, dropped: tuple[MessageQueue, ...] = ()) -> QueueTableSeen:
    return QueueTableSeen(
        at_ms=at_ms, source=client_id, early_ms=5_000, group=GROUP, client_id=client_id, queues=queues, dropped=dropped
    )


def one_owner(*polls: Fact) -> Record:
    """c1 owns queues 0 and 1 from 1 s to 301 s."""
    record = Record([*Record().facts, *polls])
    one = record.client("c1", 50_001)
    one.heartbeat(0)
    one.takes(1_000, ("c1",), 0, 1)
    for at_ms in range(5_000, 300_000, 5_000):
        one.commits(at_ms, 0, 1)
        if at_ms % 20_000 == 0:
            one.lists(at_ms + 10, "c1")
            one.heartbeat(at_ms + 20)
    one.unregisters(301_000)
    return record


def test_a_polled_member_that_is_on_record_changes_nothing() -> None:
    assert one_owner(members(60_000, "c1")).owners(0, 62_000) == (("c1",), True, ("c1",))


def test_a_member_that_only_a_poll_names_may_own_any_queue() -> None:
    assert one_owner(members(60_000, "c1", "c9")).owners(0, 62_000) == (("c1",), False, ("c1", "c9"))


def test_a_member_polled_before_it_is_heard_may_have_owned_until_then() -> None:
    record = one_owner(members(60_000, "c2"))
    record.client("c2", 50_002).heartbeat(200_000)
    assert record.owners(0, 62_000) == (("c1",), False, ("c1", "c2"))
    assert record.owners(0, 198_000)[2] == ("c1", "c2")


def test_a_member_polled_after_it_left_is_another_run() -> None:
    record = one_owner(members(500_000, "c1"))
    assert record.owners(0, 62_000) == (("c1",), True, ("c1",))
    assert record.owners(0, 500_000)[2] == ("c1",)


def test_a_polled_table_names_queues_that_nothing_else_shows() -> None:
    record = one_owner(table(60_000, "c1", queue(0), queue(3), queue(4), dropped=(queue(4),)))
    assert record.owners(0, 62_000) == (("c1",), True, ("c1",))
    assert record.owners(3, 62_000) == ((), False, ("c1",))
    assert record.owners(4, 62_000) == ((), True, ())


def polled_alone() -> Replay:
    route = RouteSeen(at_ms=1_000, source="n", topic=TOPIC, queues=(TopicQueues(TOPIC, BROKER, 2),))
    return replay([route, members(1_000, "c1", "c2"), table(2_000, "c1", queue(0))])


def test_polls_alone_name_the_possible_owners() -> None:
    rows = polled_alone()
    told = [(o.queue_id, o.owners, o.certain, o.possible) for o in rows.ownership_at(1_000)]
    assert told == [(0, (), False, ("c1", "c2")), (1, (), False, ("c1", "c2"))]
    assert {note.subject for note in rows.notes if note.kind == "not_observed"} == {"c1", "c2"}


def test_polls_alone_explain_nothing() -> None:
    rows = polled_alone()
    assert [rows.intervals, rows.assignments, rows.divergence, rows.incidents, rows.anomalies] == [[]] * 5
    assert [rows.locks, rows.exposures] == [[]] * 2


def test_a_group_without_members_is_no_group() -> None:
    assert replay([members(1_000)]).groups == []
