"""What one process's requests prove about its queue table, rule by rule."""

from __future__ import annotations

import pytest

from rebalance.facts import BrokerStarted, BrokerStopping
from tests.support.rebalance_facts import BROKER, Record

A, B = "a@1", "b@2"
ALONE = (A,)
BOTH = (A, B)


@pytest.fixture
def record() -> Record:
    return Record()


def heard(record: Record, client_id: str) -> None:
    """A member that is alive and holds nothing."""
    member = record.client(client_id, 99)
    for at_ms in range(500, 120_000, 30_000):
        member.heartbeat(at_ms)


def test_a_queue_is_held_from_its_offset_question_to_the_proof_that_it_was_added(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.commits_every_5_s(5_000, 30_000, 0)
    assert record.owners(0, 1_000) == ((), True, ())
    assert record.owners(0, 1_002) == ((), False, (A,))
    assert record.owners(0, 2_000) == ((A,), True, (A,))


def test_a_farewell_commit_ends_a_tenure_in_its_round(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0, 1)
    a.commits_every_5_s(5_000, 20_000, 0, 1)
    heard(record, B)
    a.loses(20_000, BOTH, 1)
    a.commits_every_5_s(25_000, 60_000, 0)
    (interval,) = (i for i in record.replay().intervals if i.queue_id == 1)
    assert (interval.end_earliest, interval.end_latest) == (20_000, 20_005)
    assert record.owners(0, 40_000) == ((A,), True, (A,))
    assert record.owners(1, 40_000) == ((), True, ())


def test_a_round_without_a_new_sub_version_changed_nothing(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    for at_ms in range(21_000, 100_000, 20_000):
        a.lists(at_ms, A)
        a.heartbeat(at_ms + 5_000)
    assert record.owners(0, 80_000) == ((A,), True, (A,))


def test_an_idle_question_for_an_offset_is_no_new_take_over(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    for at_ms in range(10_000, 60_000, 10_000):
        a.asks_offset(at_ms, 0, stored=None)
    assert len(record.replay().intervals) == 1


def test_an_idle_question_after_a_round_that_changed_nothing_is_no_new_take_over(record: Record) -> None:
    """Polls ask for offsets that were never stored: the topic lost another queue before, and nothing came back."""
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0, 1)
    a.loses(20_000, BOTH, 1)
    a.lists(22_000, *BOTH)
    a.asks_offset(22_600, 0, stored=None)
    a.heartbeat(23_000)
    a.commits(40_000, 0)
    assert [(i.queue_id, i.begin_earliest) for i in record.replay().intervals] == [(0, 1_001), (1, 1_001)]


def test_a_queue_without_a_stored_offset_leaves_by_the_sub_version_alone(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.lists(1_000, A)
    a.asks_offset(1_001, 0, stored=None)
    a.heartbeat(1_005, changed_at=1_004)
    a.pulls(1_500, 0)
    a.lists(20_000, *BOTH)
    a.heartbeat(20_005, changed_at=20_004)
    a.heartbeat(50_000)
    (interval,) = record.replay().intervals
    assert (interval.end_earliest, interval.end_latest) == (20_000, 20_005)


def test_a_persist_run_that_leaves_a_queue_out_says_it_is_gone(record: Record) -> None:
    a = record.client(A, 1, consume_type="CONSUME_ACTIVELY", lite=True)  # sends no new subVersion
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0, 1)
    a.commits_every_5_s(5_000, 16_000, 0, 1)
    heard(record, B)
    a.lists(18_000, *BOTH)
    a.commits_every_5_s(20_000, 40_000, 0)
    a.lists(38_000, *BOTH)
    (interval,) = (i for i in record.replay().intervals if i.queue_id == 1)
    assert (interval.end_earliest, interval.end_latest) == (18_000, 20_000)
    assert record.owners(0, 30_000) == ((A,), True, (A,))


def test_a_late_one_way_commit_is_no_absence(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0, 1)
    a.commits(5_000, 0, 1)
    a.commits(10_000, 1)
    a.commits(10_600, 0)
    a.commits(15_000, 1)
    a.commits(15_600, 0)
    assert record.owners(1, 12_000) == ((A,), True, (A,))


def test_a_queue_regained_has_two_intervals(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.commits_every_5_s(5_000, 20_000, 0)
    heard(record, B)
    a.loses(20_000, BOTH, 0)
    a.takes(40_000, ALONE, 0)
    a.commits_every_5_s(45_000, 60_000, 0)
    first, _ = record.replay().intervals
    assert (first.begin_earliest, first.end_earliest) == (1_001, 20_000)
    assert record.owners(0, 30_000) == ((), True, ())
    assert record.owners(0, 50_000) == ((A,), True, (A,))


def test_a_process_missing_from_its_own_list_drops_everything(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.commits_every_5_s(5_000, 20_000, 0)
    a.loses(20_000, (B,), 0)
    a.heartbeat(50_000)
    (interval,) = record.replay().intervals
    assert interval.end_cause.startswith("not_in_list")


def test_a_broadcasting_consumer_may_hold_what_it_was_not_seen_to_pull(record: Record) -> None:
    a = record.client(A, 1, message_model="BROADCASTING")
    b = record.client(B, 2, message_model="BROADCASTING")
    a.heartbeat(0)
    b.heartbeat(100)
    a.pulls(1_000, 0, 1)
    b.pulls(1_000, 0)
    for at_ms in range(30_000, 100_000, 30_000):
        a.heartbeat(at_ms)
        b.heartbeat(at_ms)
        a.pulls(at_ms, 0, 1)
    assert record.owners(0, 40_000) == ((A, B), True, (A, B))
    assert record.owners(1, 40_000) == ((A,), False, (A, B))


def test_nothing_is_certain_around_the_last_record_unless_the_broker_stopped(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.unregisters(10_000)
    assert record.owners(0, 20_000)[1] is False
    record.facts.append(BrokerStopping(at_ms=20_000, source=BROKER))
    assert record.owners(0, 20_000) == ((), True, ())


def test_nothing_is_certain_before_and_after_all_that_is_on_record(record: Record) -> None:
    """A broker that stopped may have been started again since, with its log in another place."""
    record.facts.append(BrokerStarted(at_ms=-5_000, source=BROKER))
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.unregisters(10_000)
    record.facts.append(BrokerStopping(at_ms=20_000, source=BROKER))
    assert [record.owners(0, at_ms)[1] for at_ms in (-5_001, -5_000, 20_000, 20_001)] == [False, True, True, False]
    assert record.replay().silent_at(-5_001) is not None
    assert record.replay().silent_at(20_000) is None


def test_an_ordered_queue_may_be_dropped_before_it_leaves(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.locks(900, 0, granted=True)
    a.takes(1_000, ALONE, 0)
    a.commits_every_5_s(5_000, 20_000, 0)
    a.lists(20_000, *BOTH)
    a.lists(21_000, *BOTH)
    a.loses(22_000, BOTH, 0)
    a.heartbeat(60_000)
    (interval,) = record.replay().intervals
    assert interval.end_earliest <= 20_000
    assert interval.end_latest == 22_005


def test_a_round_under_way_may_add_a_queue_after_its_consumer_asked_to_leave(record: Record) -> None:
    """ConsumeMessageOrderlyService waits up to a second before the table is gone; the rebalance thread still runs."""
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.commits_every_5_s(5_000, 20_000, 0)
    a.lists(20_000, A)
    a.unregisters(20_010)
    a.asks_offset(20_020, 1)
    heard(record, B)
    assert record.owners(1, 20_015) == ((), True, ())
    assert record.owners(1, 20_100) == ((), False, (A,))
    assert record.owners(1, 40_000) == ((), True, ())


def test_a_farewell_commit_handled_after_the_next_topics_list_belongs_to_the_round_before(record: Record) -> None:
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, ALONE, 0)
    a.commits_every_5_s(5_000, 20_000, 0)
    a.lists(20_000, *BOTH)
    a.lists(20_010, *BOTH)
    a.heartbeat(20_020, changed_at=20_008)
    a.commits(20_090, 0)
    heard(record, B)
    a.takes(40_000, ALONE, 0)
    assert record.owners(0, 30_000) == ((), True, ())


def test_a_pull_consumer_may_hold_what_it_does_not_ask_for(record: Record) -> None:
    """Its application asks for offsets and messages of any queue, when it likes."""
    a = record.client(A, 1, consume_type="CONSUME_ACTIVELY")
    a.heartbeat(0)
    a.lists(1_000, A)
    a.asks_offset(3_000, 0)
    a.pulls(3_001, 0)
    a.commits_every_5_s(6_000, 30_000, 0)
    heard(record, B)
    assert record.owners(0, 2_000) == ((), False, (A,))
    assert record.owners(0, 4_000) == ((), False, (A,))
    assert record.owners(0, 12_000) == ((), False, (A,))
