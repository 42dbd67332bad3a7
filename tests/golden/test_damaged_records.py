"""Recordings of real clusters that were cut, lost in part, doubled, or written by a wrong clock: what is still said is
true, and what is no longer known is said to be unknown, with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rebalance.diagnosis.incidents import CLIENT_SILENT
from rebalance.facts import Fact
from rebalance.facts.input_notes import CLOCK_DIFFERS, CLOCK_WENT_BACK, REORDERED
from rebalance.ownership.notes import NOT_OBSERVED, SILENT, STARTS_IN_THE_MIDDLE
from rebalance.replay import Replay, replay
from tests.support.damaged_records import (
    Files,
    Lines,
    each,
    facts_of_files,
    hole,
    hole_begins,
    in_blocks,
    lacking,
    log_files,
    moved,
    set_clock,
    upto,
    wire_files,
    without,
)
from tests.support.ownership_judge import Verdict, instants, judge_named
from tests.support.rebalance_sessions import JAVA_SESSIONS, SESSIONS, sessions

QUIET = next(path for path in SESSIONS if "quiet" in path.name)
HIDING = (
    "e-550-same-clientid",
    "g-533-broadcast-lite",
    "m-533-go-ordered-kill",
    "n-497-ordered-brokers-killed",
    "o-533-brokers-killed",
    "s-550-frozen",
)
"""Clusters in which a hole of one client's log may hide a change, as docs/ownership.md says of such holes."""
HOLES = {"b-550-two-brokers": 5}
"""How many holes are tried, where not 8: of 8 there, two give a wrong certain answer or an anomaly that was none."""
ORDERLY = [path for path in JAVA_SESSIONS if "-killed" not in path.name]
HOLE_SECONDS = (5, 10, 20, 45, 90, 150)
UNNOTICED = (("n-497-ordered-brokers-killed", 5), ("o-533-brokers-killed", 90), ("o-533-brokers-killed", 150))
"""Holes of so many seconds in which a client, or all of a group's, was heard alone: docs/ownership.md says so."""
HOUR_MS = 3_600_000
YOUNG_MS = 15_000  # of a record's first client, younger than that, nobody can tell a hole from its end


def judged(session: Path, facts: Sequence[Fact]) -> tuple[Replay, Verdict]:
    history = replay(list(facts))
    return history, judge_named(session, history, instants(session, 40, seed=7))


def kinds(history: Replay) -> set[str]:
    return {note.kind for note in history.notes}


@pytest.mark.parametrize("files", [wire_files, log_files], ids=["wire", "logs"])
@pytest.mark.parametrize("tenths", range(1, 10, 2))
@sessions
def test_a_record_cut_anywhere(session: Path, tenths: int, files: object) -> None:
    assert callable(files)
    whole: Files = files(session)
    for damage in (upto(tenths), without(tenths)):
        _, verdict = judged(session, facts_of_files(each(whole, damage)))
        assert verdict.wrong == []


@sessions
def test_one_log_that_is_lost_or_cut(session: Path) -> None:
    whole = log_files(session)
    for name in whole:
        for damage in (upto(0), upto(5), without(5)):
            _, verdict = judged(session, facts_of_files(each(whole, damage, only=name)))
            assert verdict.wrong == []


@pytest.mark.parametrize("tenths", [(2, 4), (4, 6), (6, 8)])
@pytest.mark.parametrize("session", [p for p in SESSIONS if p.name not in HIDING], ids=lambda path: path.name)
def test_one_log_with_a_hole(session: Path, tenths: tuple[int, int]) -> None:
    whole = log_files(session)
    for name in whole:
        if name.startswith("c"):
            _, verdict = judged(session, facts_of_files(each(whole, lacking(*tenths), only=name)))
            assert verdict.wrong == [], name


@pytest.mark.parametrize(
    ("session", "seconds"),
    [
        pytest.param(session, seconds, id=f"{session.name}-{seconds}")
        for session in SESSIONS
        for seconds in HOLE_SECONDS
        if (session.name, seconds) not in UNNOTICED
    ],
)
def test_a_hole_in_every_capture(session: Path, seconds: int) -> None:
    """Whatever happened while the recorders were down, and whatever anomalies they would have seen."""
    whole = wire_files(session)
    told = {(found.kind, found.topic, found.queue_id) for found in replay(facts_of_files(whole)).anomalies}
    for begin_ms in hole_begins(session, seconds * 1_000, HOLES.get(session.name, 8)):
        if seconds > 20 and begin_ms < min(instants(session, 40, seed=7)) + YOUNG_MS:
            continue
        damaged = each(whole, hole(begin_ms, begin_ms + seconds * 1_000))
        history, verdict = judged(session, facts_of_files(damaged))
        assert verdict.wrong == [], f"{begin_ms}: {verdict.wrong[:2]}"
        assert not {(found.kind, found.topic, found.queue_id) for found in history.anomalies} - told


def test_a_hole_in_every_capture_has_a_reason() -> None:
    middle_ms = min(instants(QUIET, 40, seed=7)) + 40_000
    for seconds in (6, 15, 60):
        damaged = each(wire_files(QUIET), hole(middle_ms, middle_ms + seconds * 1_000))
        history, verdict = judged(QUIET, facts_of_files(damaged))
        assert SILENT in kinds(history)
        assert verdict.certain_share > 0.35
        assert history.anomalies == []
        assert history.divergence == []
        assert not any(incident.kind == CLIENT_SILENT for incident in history.incidents)
        assert {interval.begin_latest for interval in history.intervals if interval.begin_latest > middle_ms} == set()


@sessions
def test_every_file_twice(session: Path) -> None:
    for whole in (wire_files(session), log_files(session)):
        _, verdict = judged(session, facts_of_files(each(whole, lambda lines: lines + lines)))
        assert verdict.wrong == []
        copies = {f"old-{name}" if name.startswith("c") else f"{name}.old": lines for name, lines in whole.items()}
        if not any(name.startswith("wire") for name in whole):
            _, verdict = judged(session, facts_of_files({**whole, **copies}))
            assert verdict.wrong == []


@pytest.mark.parametrize(
    "damage",
    [
        *(pytest.param(moved(n), id=f"{n} moved") for n in (1, 30)),
        *(pytest.param(in_blocks(n), id=f"blocks of {n}") for n in (1, 25)),
    ],
)
@pytest.mark.parametrize("session", ORDERLY, ids=lambda path: path.name)
def test_entries_out_of_order(session: Path, damage: Callable[[Lines], list[bytes]]) -> None:
    whole = log_files(session)
    for name in [*whole, ""]:
        history, verdict = judged(session, facts_of_files(each(whole, damage, only=name)))
        assert verdict.wrong == [], name
    assert kinds(history) & {REORDERED, CLOCK_WENT_BACK}


def test_a_shuffled_log_tells_what_it_told() -> None:
    whole = log_files(QUIET)
    history, verdict = judged(QUIET, facts_of_files(each(whole, moved(30), only="c2")))
    (note,) = [note for note in history.notes if note.kind == REORDERED]
    assert note.subject.startswith("c2/")
    assert CLOCK_WENT_BACK not in kinds(history)
    assert verdict.certain_share >= 0.9


@pytest.mark.parametrize("shift_ms", [HOUR_MS, -HOUR_MS, 90_000, -90_000])
def test_one_client_with_a_wrong_clock(shift_ms: int) -> None:
    history, verdict = judged(QUIET, facts_of_files(each(log_files(QUIET), set_clock(shift_ms), only="c1")))
    assert verdict.wrong == []
    assert verdict.certain_share > 0.85
    (note,) = [note for note in history.notes if note.kind == CLOCK_DIFFERS]
    assert note.subject == "c1"


@pytest.mark.parametrize("tenths", [3, 6])
@pytest.mark.parametrize("shift_ms", [HOUR_MS, -HOUR_MS])
def test_one_clock_that_was_set(shift_ms: int, tenths: int) -> None:
    history, verdict = judged(QUIET, facts_of_files(each(log_files(QUIET), set_clock(shift_ms, tenths), only="c2")))
    assert verdict.wrong == []
    assert CLOCK_DIFFERS in kinds(history)


def test_a_broker_s_clock_that_was_set_forward_leaves_a_silence() -> None:
    history, _ = judged(QUIET, facts_of_files(each(wire_files(QUIET), set_clock(HOUR_MS, 5))))
    assert SILENT in kinds(history)


@sessions
def test_a_capture_on_another_clock_than_all_its_clients(session: Path) -> None:
    history, _ = judged(session, facts_of_files(wire_files(session)))
    assert CLOCK_DIFFERS not in kinds(history)
    history, _ = judged(session, facts_of_files(each(wire_files(session), set_clock(-HOUR_MS))))
    assert CLOCK_DIFFERS in kinds(history)


def test_what_is_not_known_has_a_reason() -> None:
    history, _ = judged(QUIET, facts_of_files(each(wire_files(QUIET), without(5))))
    assert STARTS_IN_THE_MIDDLE in kinds(history)
    history, _ = judged(QUIET, facts_of_files(each(log_files(QUIET), upto(5), only="c1")))
    assert NOT_OBSERVED in kinds(history)
    assert "its log ends here" in " ".join(note.detail for note in history.notes)
