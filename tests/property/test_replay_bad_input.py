"""Damaged records: cut, reordered, doubled, thinned, with jumping clocks or other versions' fields.

Wider answers, never a crash.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rebalance.facts import Fact
from rebalance.readers.wire.facts import facts_from_wire
from rebalance.replay import Replay, replay
from rebalance.what_if import what_if
from tests.support.fixtures import GOLDEN
from tests.support.groups import split_by_group
from tests.support.ownership_judge import instants, judge
from tests.support.rebalance_sessions import json_lines, wire_facts
from tests.support.session_logs import log_facts

SESSIONS = [GOLDEN / "rebalance" / "sessions" / name for name in ("c-497-ordered-kill", "h-533-quiet")]
WIRE = {session: sorted(wire_facts(session), key=lambda fact: fact.at_ms) for session in SESSIONS}
LOGS = {session: log_facts(session) for session in SESSIONS}
RECORDS = list(json_lines(SESSIONS[0] / "wire.jsonl.gz"))
sessions = st.sampled_from(SESSIONS)
shares = st.floats(0, 1)
chances = st.integers(0, 2**32).map(random.Random)


def everything(history: Replay) -> tuple[object, ...]:
    """All rows of a replay."""
    rows = (history.intervals, history.assignments, history.divergence, history.incidents)
    return (*rows, history.anomalies, history.exposures, history.notes, history.metrics(), what_if(history))


@given(sessions, shares, shares)
def test_a_capture_cut_at_both_ends_is_never_wrong(session: Any, one: float, other: float) -> None:
    facts = WIRE[session]
    begin, end = sorted((int(one * len(facts)), int(other * len(facts))))
    history = replay(facts[begin:end])
    everything(history)
    for group in history.groups:
        verdict = judge(session, history, instants(session, 20, begin), within=group.index.known)
        assert not verdict.wrong, verdict.wrong[:3]


@given(sessions, chances)
def test_order_of_the_input_does_not_matter(session: Any, chance: random.Random) -> None:
    facts = list(WIRE[session])
    chance.shuffle(facts)
    at_ms = instants(session, 20, 1)
    shuffled, ordered = replay(facts), replay(WIRE[session])
    assert {row.client_id for row in shuffled.intervals} == {row.client_id for row in ordered.intervals}
    verdict = judge(session, shuffled, at_ms)
    assert not verdict.wrong, verdict.wrong[:3]


@given(sessions, chances, shares)
def test_doubled_facts_change_no_answer(session: Any, chance: random.Random, share: float) -> None:
    facts = [copy for fact in WIRE[session] for copy in [fact] * (1 + (chance.random() < share))]
    verdict = judge(session, replay(facts), instants(session, 20, 2))
    assert not verdict.wrong, verdict.wrong[:3]


@given(sessions, chances, st.sampled_from([WIRE, LOGS]), st.integers(0, 60_000))
def test_windows_stay_in_order_whatever_the_stamps(session: Any, chance: random.Random, told: Any, by_ms: int) -> None:
    """Stamps of one source moved, or of facts here and there: what contradicts itself leaves a window, not a hole."""
    facts = told[session]
    source = chance.choice(facts).source if chance.random() < 0.5 else None
    moved = [
        replace(fact, at_ms=fact.at_ms + chance.randrange(-by_ms, by_ms + 1))
        if fact.source == source or (source is None and chance.random() < 0.2)
        else fact
        for fact in facts
    ]
    history = replay([*moved, *(WIRE[session] if told is LOGS else ())])
    for row in history.intervals:
        assert row.begin_earliest is None or row.begin_earliest <= row.begin_latest
        assert row.end_latest is None or row.end_earliest <= row.end_latest
    assert all(incident.earliest_ms <= incident.latest_ms for incident in history.incidents)
    assert all((row.from_ms or 0) <= (row.until_ms or 1 << 62) for row in history.exposures)


@given(sessions, chances, shares, st.booleans())
def test_thinned_records_give_rows(session: Any, chance: random.Random, share: float, logs: bool) -> None:
    facts = [fact for fact in (LOGS if logs else WIRE)[session] if chance.random() < share]
    everything(replay(facts))


@given(sessions, chances, st.integers(-600_000, 600_000))
def test_jumping_clocks_give_rows_and_a_note(session: Any, chance: random.Random, jump_ms: int) -> None:
    facts = list(WIRE[session])
    at = chance.randrange(len(facts))
    moved: list[Fact] = [*facts[:at], *(replace(fact, at_ms=fact.at_ms + jump_ms) for fact in facts[at:])]
    history = replay(moved)
    everything(history)
    if jump_ms < -60_000 and at > 0 and facts[at].evidence.record > facts[at - 1].evidence.record:
        assert any(note.kind == "clock_went_back" for note in history.notes)


@given(sessions, st.booleans())
def test_the_same_facts_give_the_same_rows(session: Any, logs: bool) -> None:
    facts = (LOGS if logs else WIRE)[session]
    assert everything(replay(facts)) == everything(replay(list(facts)))


@given(sessions)
def test_groups_by_themselves_give_the_same_intervals(session: Any) -> None:
    whole = replay(WIRE[session]).intervals
    common, groups = split_by_group(WIRE[session])
    assert [row for own in groups.values() for row in replay(common + own).intervals] == whole


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_damaged_wire_records_become_facts_or_unread_records(data: st.DataObject) -> None:
    records: list[Any] = [dict(record) for record in data.draw(st.lists(st.sampled_from(RECORDS), max_size=12))]
    for record in records:
        for field in data.draw(st.lists(st.sampled_from([*record, "header", "body"]), max_size=2)):
            if data.draw(st.booleans()):
                record.pop(field, None)
            else:
                record[field] = data.draw(json_values)
    records += data.draw(st.lists(json_values, max_size=2))
    everything(replay(list(facts_from_wire(records, broker="b", file="w"))))
