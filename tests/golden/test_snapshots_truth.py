"""Polled snapshots and configuration histories of the recorded clusters against what their consumers held."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rebalance.facts import ConnectionsSeen, GroupConfigSeen, QueueTableSeen, RouteSeen, UnreadRecord
from rebalance.model.message_queue import MessageQueue
from rebalance.ownership.notes import NOT_OBSERVED
from rebalance.readers.polled_states import facts_from_groups, facts_from_polls, facts_from_topics
from rebalance.replay import replay
from tests.support.ownership_judge import instants, judge
from tests.support.rebalance_sessions import json_lines, sessions_with, truth_runs, wire_facts

polled = sessions_with("truth/polls.jsonl.gz")
SAMPLED_MS = 300  # the truth is looked at every 100 ms


@polled
def test_polled_tables_are_tables_the_client_had(session: Path) -> None:
    facts = list(facts_from_polls(json_lines(session / "truth" / "polls.jsonl.gz"), source="b"))
    runs = truth_runs(session)
    seen = [fact for fact in facts if isinstance(fact, QueueTableSeen)]
    for fact in seen:
        begin, end = fact.at_ms - fact.early_ms, fact.at_ms + SAMPLED_MS
        shown = [frozenset[MessageQueue]()]
        for run in runs:
            if run.client_id == fact.client_id:  # an id that is used twice has two tables
                shown += [present for at_ms, present, _ in run.tables if at_ms <= begin][-1:]
                shown += [present for at_ms, present, _ in run.tables if begin < at_ms <= end]
        assert any(a & b <= set(fact.queues) <= a | b for a, b in zip(shown, [*shown[1:], shown[-1]], strict=True))
    assert len(seen) > 10
    assert [fact for fact in facts if isinstance(fact, ConnectionsSeen) and fact.connections]
    assert all(fact.reason.startswith("the poll failed") for fact in facts if isinstance(fact, UnreadRecord))


@polled
def test_polls_and_a_capture_agree(session: Path) -> None:
    """A poll names no member and no queue that the capture does not show too."""
    polls = list(facts_from_polls(json_lines(session / "truth" / "polls.jsonl.gz"), source="b"))
    alone, together = (
        [note for note in replay(facts).notes if note.kind == NOT_OBSERVED]
        for facts in (wire_facts(session), wire_facts(session) + polls)
    )
    assert alone == together


@polled
def test_whoever_owned_a_queue_is_possible_by_polls_alone(session: Path) -> None:
    """But for clients that lived between two polls."""
    polls = list(facts_from_polls(json_lines(session / "truth" / "polls.jsonl.gz"), source="b"))
    polled = {member.client_id for fact in polls if isinstance(fact, ConnectionsSeen) for member in fact.connections}
    verdict = judge(session, replay(polls), instants(session, 300, seed=7))
    between = {run.client_id for run in truth_runs(session)} - polled
    verdict.wrong = [wrong for wrong in verdict.wrong if not any(client_id in wrong for client_id in between)]
    assert not verdict.wrong, verdict.wrong[:5]
    assert verdict.certain == 0


def copies(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for path in sorted(folder.glob("*.json.gz")):
        yield int(path.name.split(".")[0]), json.loads(gzip.decompress(path.read_bytes()))


@sessions_with("offsets")
def test_histories_tell_topics_and_groups(session: Path) -> None:
    for broker in sorted((session / "offsets").glob("broker-*")):
        routes = list(facts_from_topics(copies(broker / "topics"), source=broker.name))
        groups = list(facts_from_groups(copies(broker / "subscriptionGroup"), source=broker.name))
        mine = {f.group for f in groups if isinstance(f, GroupConfigSeen) and f.group.startswith("cg_")}
        assert mine
        topics = {fact.topic for fact in routes if isinstance(fact, RouteSeen)}
        assert {f"%RETRY%{group}" for group in mine} <= topics
        assert all(isinstance(fact, RouteSeen) for fact in routes)
