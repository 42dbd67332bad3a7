"""Facts of the recorded logs against what the clusters did: tables inside the consumers, requests at the brokers."""

from __future__ import annotations

from pathlib import Path

from rebalance.facts import (
    ChannelConnected,
    ClientFact,
    ConsumerShutdown,
    Fact,
    HeartbeatReceived,
    LockBatchAnswered,
    QueueAdded,
    QueueLockDecided,
    QueueRemoved,
    UnreadRecord,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.logs import LogSummary
from tests.support.ownership_judge import GroupQueue
from tests.support.rebalance_sessions import java_sessions, sessions, truth_runs, wire_facts
from tests.support.session_logs import log_facts, zone_of

SAMPLED_MS = 100
HANDLED_MS = 250  # the capture sees a request before it is handled; a broker's first one loads classes
LATE_SAMPLE_MS = 400  # a loaded machine samples late


def table_history(facts: list[Fact], log: str) -> list[tuple[int, frozenset[MessageQueue]]]:
    """The queue table of a consumer after each line of its log that changed it; runs begin with an empty one."""
    history: list[tuple[int, frozenset[MessageQueue]]] = [(0, frozenset())]
    run = 0
    for fact in facts:
        if not isinstance(fact, ClientFact) or fact.source != log:
            continue
        table = history[-1][1] if fact.process == run else frozenset()
        run = fact.process
        if isinstance(fact, QueueAdded):
            history.append((fact.at_ms, table | {fact.queue}))
        elif isinstance(fact, QueueRemoved):
            history.append((fact.at_ms, table - {fact.queue}))
        elif table != history[-1][1]:
            history.append((fact.at_ms, table))
    return history


@java_sessions
def test_lines_give_the_tables_the_consumers_had(session: Path) -> None:
    facts = log_facts(session, jvm_zone_ms=zone_of(session))
    samples = 0
    for run in truth_runs(session):
        history = table_history(facts, run.name)
        for at_ms, present, _ in run.tables:
            if run.shutdown_ms is not None and at_ms >= run.shutdown_ms:
                continue
            before = [table for ms, table in history if ms <= at_ms - LATE_SAMPLE_MS][-1:]
            during = [table for ms, table in history if at_ms - LATE_SAMPLE_MS < ms <= at_ms + SAMPLED_MS]
            assert present in before + during, (run.name, at_ms)
            samples += 1
    assert samples > 3


@sessions
def test_every_first_heartbeat_is_a_connection_in_the_log(session: Path) -> None:
    wire = [fact for fact in wire_facts(session) if isinstance(fact, HeartbeatReceived)]
    joined = {(f.source, f.group, f.remote): f for f in log_facts(session) if isinstance(f, ChannelConnected)}
    firsts = {(f.source, f.group, f.remote): f for f in reversed(wire)}
    assert joined.keys() == firsts.keys()
    for key, line in joined.items():
        assert line.client_id == firsts[key].client_id
        assert line.client_version == firsts[key].client_version
        assert 0 <= line.at_ms - firsts[key].at_ms <= HANDLED_MS, key


@sessions
def test_lock_lines_are_the_answers_the_broker_gave(session: Path) -> None:
    granted: dict[GroupQueue, list[tuple[int, int, str]]] = {}
    for fact in log_facts(session):
        if isinstance(fact, QueueLockDecided) and fact.decision in ("locked", "taken_over"):
            when = fact.at_ms - fact.early_ms, fact.at_ms + fact.late_ms
            granted.setdefault((fact.group, fact.queue), []).append((*when, fact.client_id))
    holder: dict[GroupQueue, str | None] = {}
    changes = 0
    for answer in wire_facts(session):
        if isinstance(answer, LockBatchAnswered):
            for queue in answer.granted or ():
                locked = answer.group, queue
                if holder.get(locked) != answer.client_id:
                    asked_ms = answer.asked_at_ms or answer.at_ms
                    assert any(
                        begin - 50 <= answer.at_ms and asked_ms <= end + 50 and client_id == answer.client_id
                        for begin, end, client_id in granted[locked]
                    )
                    holder[locked] = answer.client_id
                    changes += 1
    assert changes <= sum(map(len, granted.values()))
    assert changes or not granted


@sessions
def test_nothing_is_unreadable_and_every_line_is_counted(session: Path) -> None:
    summaries: list[LogSummary] = []
    facts = log_facts(session, summaries)
    assert not [fact for fact in facts if isinstance(fact, UnreadRecord)]
    assert not [fact for fact in facts if isinstance(fact, ClientFact) and fact.client_id is None]
    assert [fact for fact in facts if isinstance(fact, ConsumerShutdown)]
    for summary in summaries:
        assert summary.lines == summary.recognised + summary.unrecognised + summary.continued + summary.headless
