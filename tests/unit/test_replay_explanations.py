"""Causes, divergence, exposures, figures and what-ifs of small told histories."""

from __future__ import annotations

import pytest

from rebalance.facts import BrokerStarted, BrokerStopping, CommitRolledBack, Evidence, Fact, UnreadRecord
from rebalance.facts.heartbeats import heartbeats_of
from rebalance.replay import replay
from rebalance.strategies.consistent_hash import ConsistentHash
from rebalance.what_if import what_if
from tests.support.generate_sessions import WEEK_MS, generate_group
from tests.support.groups import split_by_group
from tests.support.rebalance_facts import BROKER, GROUP, TOPIC, Record, queue

A, B = "a@1", "b@2"
BOTH = (A, B)
ALL = tuple(range(4))


@pytest.fixture
def handed_over() -> Record:
    """A alone holds 0-3, B joins and takes 2 and 3, then leaves and A takes them back."""
    record = Record()
    a, b = record.client(A, 1), record.client(B, 2)
    a.heartbeat(0)
    a.takes(1_000, (A,), *ALL)
    a.commits_every_5_s(5_000, 20_000, *ALL)
    b.heartbeat(20_000)
    a.loses(20_010, BOTH, 2, 3)
    b.takes(20_800, BOTH, 2, 3)
    a.commits_every_5_s(25_000, 65_000, 0, 1)
    b.commits_every_5_s(25_500, 60_000, 2, 3)
    b.unregisters(60_000)
    a.takes(60_010, (A,), 2, 3)
    a.commits_every_5_s(65_000, 100_000, *ALL)
    return record


def test_gains_and_losses_name_who_joined_and_left(handed_over: Record) -> None:
    rows = {(i.client_id, i.queue_id, i.begin_latest > 50_000): i for i in handed_over.replay().intervals}
    assert rows[A, 0, False].cause == f"client_started {A}"
    assert rows[A, 2, False].end_cause == f"client_started {B}"
    assert rows[B, 2, False].end_cause == f"client_left {B}"
    assert rows[A, 2, True].cause == f"client_left {B}"


def test_a_broker_event_told_by_wire_and_log_is_one_incident_with_the_tightest_evidence(handed_over: Record) -> None:
    for at_ms, kind in ((-1_000, BrokerStarted), (110_000, BrokerStopping)):
        logged = kind(at_ms=at_ms - 600, source=BROKER, evidence=Evidence("broker.log", at_ms), late_ms=999)
        wired = kind(at_ms=at_ms, source=BROKER, evidence=Evidence("wire", at_ms))
        handed_over.facts += [logged, wired]
    del handed_over.facts[0]
    rows = [row for row in handed_over.replay().incidents if row.kind.startswith("broker")]
    assert [(r.kind, r.earliest_ms, r.latest_ms, r.evidence) for r in rows] == [
        ("broker_started", -1_000, -1_000, "wire:-1000"),
        ("broker_stopped", 110_000, 110_000, "wire:110000"),
    ]


def test_a_broker_that_comes_up_twice_has_two_incidents(handed_over: Record) -> None:
    handed_over.facts += [BrokerStarted(at_ms=at_ms, source=BROKER, late_ms=999) for at_ms in (20_000, 24_000)]
    rows = [row for row in handed_over.replay().incidents if row.kind == "broker_started"]
    assert [(row.earliest_ms, row.latest_ms) for row in rows] == [(-1_000, -1_000), (20_000, 20_999), (24_000, 24_999)]


def test_a_broker_that_comes_up_without_having_stopped_was_killed_in_between(handed_over: Record) -> None:
    """Clients that waited for it are heard shortly before it says that it is up."""
    last_ms = max(fact.at_ms for fact in handed_over.facts)
    late = record_client(handed_over)
    late.heartbeat(last_ms + 59_900)
    handed_over.facts.append(BrokerStarted(at_ms=last_ms + 60_000, source=BROKER))
    rows = [row for row in handed_over.replay().incidents if row.kind == "broker_vanished"]
    assert [(row.subject, row.earliest_ms, row.latest_ms) for row in rows] == [(BROKER, last_ms, last_ms + 60_000)]


def test_rounds_tell_the_list_and_what_is_new_in_it(handed_over: Record) -> None:
    (group,) = handed_over.replay().groups
    answered = [(answer.at_ms, life, answer) for life in group.history.lives for answer in life.process.lists]
    rounds = [
        (life.client_id, len(answer.client_ids or ()), [str(cause) for cause in group.causes.of_list(life, answer)])
        for _, life, answer in sorted(answered, key=lambda round_: (round_[0], round_[1].client_id))
    ]
    assert rounds[1] == (A, 2, [f"client_started {B}"])
    assert rounds[-1] == (A, 1, [f"client_left {B}"])


def test_targets_are_those_of_the_strategy_that_fits(handed_over: Record) -> None:
    history = handed_over.replay()
    assert {(a.client_id, a.strategy, len(a.target)) for a in history.assignments} == {
        (A, "AVG", 4), (A, "AVG", 2), (B, "AVG", 2)
    }  # fmt: skip
    assert history.divergence == []
    assert history.anomalies == []


def test_a_member_with_another_strategy_diverges() -> None:
    record = Record()
    queues = [queue(n) for n in range(6)]
    members = ("a@1", "b@2", "c@3")
    hashed = [mq.queue_id for mq in ConsistentHash().allocate(GROUP, "c@3", queues, list(members)) or []]
    shares = {"a@1": [0, 1], "b@2": [2, 3, 4, 5], "c@3": hashed}
    first = record.client("b@2", 2)
    first.heartbeat(-800)
    first.takes(-700, ("b@2",), 4, 5)
    clients = {name: record.client(name, port) for port, name in enumerate(members, start=11)}
    clients["b@2"] = first
    for name, client in clients.items():
        client.heartbeat(0)
        client.takes(1_000, members, *(n for n in shares[name] if name != "b@2" or n < 4))
        client.commits_every_5_s(5_000, 60_000, *shares[name])
    assert hashed != [4, 5]
    causes = {row.client_id: row.cause for row in record.replay().divergence}
    assert causes["c@3"] == "strategy_differs"


def test_messages_between_the_stored_offset_and_the_next_owners_progress_are_exposed() -> None:
    record = Record()
    a, b = record.client(A, 1), record.client(B, 2)
    a.heartbeat(0)
    b.heartbeat(0)
    a.takes(1_000, BOTH, 0)
    b.takes(1_000, BOTH, 1)
    a.commits(5_000, 0, queue_offset=100)
    b.lists(7_000, B)
    b.asks_offset(7_001, 0, stored=100)
    b.heartbeat(7_005, changed_at=7_004)
    b.commits(10_000, 0, queue_offset=130)
    b.commits(15_000, 0, queue_offset=140)
    (exposure,) = record.replay().exposures
    assert (exposure.from_queue_offset, exposure.to_queue_offset) == (100, 140)
    assert exposure.clients == BOTH


def test_messages_between_a_reset_and_the_place_reached_before_are_exposed() -> None:
    """MQClientInstance#resetOffset: the queue is dropped, the lower offset committed, the queue taken again."""
    record = Record()
    a = record.client(A, 1)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    for at_ms, queue_offset in ((15_000, 200), (20_000, 200), (22_000, 50), (25_000, 210), (30_000, 300)):
        a.commits(at_ms, 0, queue_offset=queue_offset)
    (exposure,) = record.replay().exposures
    assert (exposure.kind, exposure.from_queue_offset, exposure.to_queue_offset) == ("rewind", 50, 300)


def test_an_offset_that_a_stale_owner_set_back_bounds_nothing() -> None:
    """A wakes and commits what it had done before B: whoever is there consumes what B did again."""
    record = Record()
    a, b = record.client(A, 1), record.client(B, 2)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    a.commits(10_000, 0, queue_offset=100)
    b.heartbeat(140_000)
    b.takes(140_010, (B,), 0)
    for at_ms, queue_offset in ((145_000, 200), (150_000, 300), (155_000, 400)):
        b.commits(at_ms, 0, queue_offset=queue_offset)
    a.loses(156_000, BOTH, 0)
    b.loses(156_010, BOTH, 0)
    a.lists(156_500, *BOTH)
    a.asks_offset(156_501, 0, stored=1)
    a.heartbeat(156_505, changed_at=156_504)
    for at_ms, queue_offset in ((160_000, 150), (165_000, 420), (170_000, 500)):
        a.commits(at_ms, 0, queue_offset=queue_offset)
    reached = {e.to_queue_offset for e in record.replay().exposures if e.clients == (B, A)}
    assert reached == {500}


def test_clustering_consumers_are_exposed_beside_a_broadcasting_one(handed_over: Record) -> None:
    alone = handed_over.replay().exposures
    handed_over.client("c@3", 3, message_model="BROADCASTING").heartbeat(30_000)
    assert alone
    assert handed_over.replay().exposures == alone


def test_a_broker_that_crashed_forgets_the_commits_since_it_wrote_its_offsets() -> None:
    """A client's log names a commit, then one that stands still: nobody may have taken either."""
    record = Record()
    a, b = record.client(A, 1), record.client(B, 2)
    a.heartbeat(0)
    a.takes(1_000, (A,), 0)
    for at_ms, queue_offset in ((10_000, 100), (15_000, 110), (20_000, 120), (25_000, 130), (30_000, 130)):
        a.commits(at_ms, 0, queue_offset=queue_offset)
    record.facts.append(BrokerStarted(at_ms=40_000, source=BROKER))
    a.unregisters(41_000)
    b.heartbeat(42_000)
    b.lists(43_000, B)
    b.asks_offset(43_001, 0, stored=None)
    b.heartbeat(43_005, changed_at=43_004)
    b.pulls(50_000, 0, queue_offset=140)
    (exposure,) = record.replay().exposures
    assert (exposure.from_queue_offset, exposure.to_queue_offset) == (110, 140)


def test_a_commit_below_the_stored_offset_is_a_rollback(handed_over: Record) -> None:
    late = record_client(handed_over)
    late.commits(70_000, 0, queue_offset=0)
    kinds = [(a.kind, a.detail) for a in handed_over.replay().anomalies if a.kind == "commit_rollback"]
    assert kinds == [("commit_rollback", "queue offset 0 after 1")]


def test_a_commit_of_the_only_owner_that_goes_back_is_not_late(handed_over: Record) -> None:
    """Queue 0 stayed with its owner, as under a reset or a correction; queue 2 had just changed hands; whose the other
    commit was nothing tells. A log that does not name its broker goes by its file."""
    handed_over.client(A, 1, broker="broker").heartbeat(0)
    for source in (BROKER, "broker"):
        assert causes_of_rollbacks(handed_over, source) == {0: "offset_went_back", 1: "unknown", 2: "late commit"}


def causes_of_rollbacks(record: Record, source: str) -> dict[int | None, str]:
    facts = list(record.facts)
    for queue_id, port in ((0, 1), (2, 1), (1, 7)):
        told = {"group": GROUP, "remote": f"10.0.0.1:{port}", "topic": TOPIC, "queue_id": queue_id}
        told |= {"requested_queue_offset": 3, "stored_queue_offset": 9, "evidence": Evidence("broker.log", queue_id)}
        facts.append(CommitRolledBack(at_ms=65_000, source=source, **told))
    return {a.queue_id: a.cause for a in replay(facts).anomalies if a.kind == "commit_rollback"}


def record_client(record: Record):  # type: ignore[no-untyped-def]  # a member of its own connection
    late = record.client("late@9", 9)
    late.heartbeat(69_000)
    return late


@pytest.mark.parametrize(
    ("stored", "pulled", "kind"), [(40, 40, "offset_rewind"), (None, 900, "offset_skip"), (100, 100, None)]
)
def test_a_take_over_away_from_the_committed_offset_is_an_anomaly(
    stored: int | None, pulled: int, kind: str | None
) -> None:
    record = Record()
    a, b = record.client(A, 1), record.client(B, 2)
    a.heartbeat(0)
    b.heartbeat(0)
    a.takes(1_000, BOTH, 0)
    a.commits(5_000, 0, queue_offset=100)
    b.lists(9_000, B)
    b.asks_offset(9_001, 0, stored=stored)
    b.heartbeat(9_005, changed_at=9_004)
    b.pulls(9_500, 0, queue_offset=pulled)
    assert [row.kind for row in record.replay().anomalies if row.kind.startswith("offset")] == ([kind] if kind else [])


def test_figures_count_moves_and_gaps(handed_over: Record) -> None:
    (row,) = handed_over.replay().metrics()
    assert (row.queues, row.processes, row.takeovers, row.moved_queues) == (4, 2, 8, 4)
    assert row.double_owned_ms == 0
    assert row.unowned_ms > 0


def test_what_if_recomputes_every_span_of_membership(handed_over: Record) -> None:
    as_it_was = what_if(handed_over.replay())
    assert [(row.members, row.largest_share, row.smallest_share, row.moved_queues) for row in as_it_was] == [
        (1, 4, 4, 0), (2, 2, 2, 2), (1, 4, 4, 2)
    ]  # fmt: skip
    crowded = what_if(handed_over.replay(), more_clients=4, more_queues=1)
    assert [(row.members, row.queues, row.smallest_share) for row in crowded] == [(5, 5, 1), (6, 5, 0), (5, 5, 1)]
    with pytest.raises(ValueError, match="not below 0"):
        what_if(handed_over.replay(), more_clients=-1)


def test_what_waits_is_shared_out_with_the_queues(handed_over: Record) -> None:
    """AVG gives the first member of two the queues 0 and 1, the other one 2 and 3."""
    replay = handed_over.replay()
    (history,) = (group.history for group in replay.groups)
    waiting = {(history.group, queue): (100, 20, 3, 0)[queue.queue_id] for queue in history.queues}
    rows = what_if(replay, strategy="AVG", backlog=waiting)
    assert [(row.largest_backlog, row.smallest_backlog) for row in rows] == [(123, 123), (120, 3), (123, 123)]
    circle = what_if(replay, strategy="AVG_BY_CIRCLE", backlog=waiting)
    assert [(row.largest_backlog, row.smallest_backlog) for row in circle] == [(123, 123), (103, 20), (123, 123)]
    crowded = what_if(replay, strategy="AVG", more_clients=4, more_queues=1, backlog=waiting)
    assert {(row.largest_backlog, row.smallest_backlog) for row in crowded} == {(100, 0)}
    of_another_topic = {"messageQueueList": [["OTHER", "broker-a", 0]]}
    configured = what_if(replay, strategy="CONFIG", params=of_another_topic, backlog=waiting)
    assert {(row.largest_backlog, row.smallest_backlog) for row in configured} == {(None, None)}
    waiting.popitem()
    assert {row.largest_backlog for row in what_if(replay, backlog=waiting)} == {None}


def test_heartbeats_are_rows_and_a_run_of_equal_ones_may_be_one() -> None:
    runs, each = (
        generate_group(clients=3, queues=6, restarts=1, span_ms=WEEK_MS // 70, coalesced=coalesced).facts
        for coalesced in (True, False)
    )
    assert sum(row.refreshes + 1 for row in heartbeats_of(runs)) == len(list(heartbeats_of(each)))
    assert len(runs) < len(each) / 4
    assert windows(runs) == windows(each)


def windows(facts: list[Fact]) -> list[tuple[object, ...]]:
    return [
        (i.queue_id, i.client_id, i.begin_latest, i.end_earliest, i.end_latest, i.cause)
        for i in replay(facts).intervals
    ]


@pytest.mark.parametrize("coalesced", [True, False])
def test_a_generated_group_is_replayed_as_it_was_played(coalesced: bool) -> None:
    generated = generate_group(clients=8, queues=20, restarts=6, span_ms=WEEK_MS // 20, coalesced=coalesced)
    history = replay(generated.facts)
    played = sorted((mq.queue_id, client_id, since) for mq, client_id, since, _ in generated.owned)
    assert sorted((i.queue_id, i.client_id, i.begin_earliest) for i in history.intervals) == played
    assert history.anomalies == []
    assert {a.strategy for a in history.assignments} == {"AVG"}


def test_groups_replayed_alone_give_the_same_rows(handed_over: Record) -> None:
    other = generate_group("other", clients=3, queues=6, restarts=0, span_ms=WEEK_MS // 100).facts
    whole = replay(handed_over.facts + other)
    common, groups = split_by_group(handed_over.facts + other)
    alone = [replay(common + own) for own in groups.values()]
    assert [row for history in alone for row in history.intervals] == whole.intervals


def test_notes_say_why_answers_are_wide() -> None:
    record = Record(facts=[])
    a = record.client(A, 1, first_request=1_000)
    a.heartbeat(0)
    a.lists(1_000, A, B)
    a.commits(50_000, 0)
    record.facts.append(UnreadRecord(at_ms=3, source="s", reason="no ts"))
    notes = {(note.kind, note.subject): note.detail for note in record.replay().notes}
    assert "nothing is certain before 1970-01-01 00:00:35Z" in notes["starts_in_the_middle", ""]
    assert "not heard yet" in notes["not_observed", B]
    assert "no ts" in notes["unread_records", ""]
    assert record.owners(0, 40_000) == ((A,), False, (A, B))
    assert TOPIC in record.replay().groups[0].history.topics()
