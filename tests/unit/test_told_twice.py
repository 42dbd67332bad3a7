"""What a wire capture and a log both tell is counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rebalance.facts import Fact, OffsetCommitted
from rebalance.facts.wire_and_log import told_twice
from rebalance.replay import Replay, replay
from tests.support.fixtures import GOLDEN
from tests.support.rebalance_sessions import wire_facts
from tests.support.session_logs import log_facts

SESSIONS = sorted((GOLDEN / "rebalance" / "sessions").iterdir())
sessions = pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.name)


@dataclass(frozen=True)
class Telling:
    at_ms: int
    late_ms: int = 0
    what: str = "refused"


def pairs(wired: list[int], logged: list[int]) -> list[tuple[int | None, int | None]]:
    lines = [Telling(at_ms, 999) for at_ms in logged]
    told = told_twice([Telling(at_ms) for at_ms in wired], lines, lambda telling: telling.what)
    return [(a.at_ms if a else None, b.at_ms if b else None) for a, b in told]


def test_a_request_and_its_line_are_one() -> None:
    assert pairs([10_400], [10_000]) == [(10_400, 10_000)]
    assert pairs([10_400, 30_400], [10_000, 30_000]) == [(10_400, 10_000), (30_400, 30_000)]


def test_a_line_tells_of_one_request_only() -> None:
    assert pairs([10_100, 10_200], [10_000]) == [(10_100, 10_000), (10_200, None)]
    assert pairs([10_100], [10_000, 10_000]) == [(10_100, 10_000), (None, 10_000)]


def test_what_is_too_far_apart_is_two() -> None:
    assert pairs([10_000], [8_000]) == [(10_000, None), (None, 8_000)]
    assert pairs([10_000], [11_001]) == [(10_000, None), (None, 11_001)]


def test_what_is_not_the_same_is_two() -> None:
    told = told_twice([Telling(0, what="refused a")], [Telling(0, what="refused b")], lambda telling: telling.what)
    assert len(list(told)) == 2


def by_source(session: Path) -> tuple[Replay, Replay, Replay]:
    wired, logged = wire_facts(session), log_facts(session)
    return replay(wired), replay(logged), replay(wired + logged)


def refusals(history: Replay) -> Counter[object]:
    return Counter((r.queue, r.client_id) for group in history.groups for r in group.history.locks.refusals)


def rollbacks(history: Replay) -> Counter[object]:
    return Counter((r.queue, r.queue_offset) for group in history.groups for r in group.history.rollbacks)


@sessions
@pytest.mark.parametrize("told", [refusals, rollbacks])
def test_both_records_together_tell_no_more_than_the_fuller_one(session: Path, told: object) -> None:
    assert callable(told)
    wired, logged, both = map(told, by_source(session))
    assert both == wired | logged


def commits_twice(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Each commit is told again by another record."""
    for fact in facts:
        yield fact
        if isinstance(fact, OffsetCommitted):
            yield replace(fact, evidence=fact.evidence._replace(file="another.jsonl"))


@sessions
def test_a_commit_in_two_records_is_one_sighting(session: Path) -> None:
    """Told twice, it would look like two owners' progress, and leave less exposed."""
    wired = list(wire_facts(session))
    assert replay(commits_twice(wired)).exposures == replay(wired).exposures
