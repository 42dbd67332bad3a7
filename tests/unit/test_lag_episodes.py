"""The split of a lag's area into causes, and the status words, on curves that are made up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parsers.values.utc import utc
from pipelines.answers.episodes.conditions import (
    Behind,
    Conditions,
    StoreTimes,
    Told,
    conditions_of,
    joined,
    shares,
    store_times,
)
from pipelines.answers.episodes.curve import TopicCurve, curves_of
from pipelines.answers.episodes.episodes import NO_USUAL, episode_rows, status_rows
from pipelines.answers.episodes.shares import CAUSES, split
from pipelines.answers.episodes.status import NOT_TOLD, ONE_INSTANT, Commits, StatusWord, burrow_status, status_of
from pipelines.recordings.store_broker import broker_among
from pipelines.recordings.store_log import read_store_logs
from recovery.query.lag_cause import LagCause

STEP_MS = 1_000


def curve(ends: list[list[int]], offsets: list[list[int]]) -> TopicCurve:
    at = np.arange(len(ends[0]), dtype=np.int64) * STEP_MS
    queues = tuple(range(len(ends)))
    known = np.ones((len(ends), len(at)), bool)
    return TopicCurve((None, "G", "T"), queues, at, np.array(ends, np.int64), np.array(offsets, np.int64), known)


def lag_row(second: int, queue_id: int, end: int | None, offset: int, reason: str | None = None) -> dict[str, Any]:
    status = "unknown" if end is None else "number"
    row = {"broker": None, "group": "G", "topic": "T", "queue_id": queue_id, "at": utc(second * 1000)}
    return row | {"broker_offset": end, "consumer_offset": offset, "status": status, "reason": reason}


def causes(given: TopicCurve, conditions: Conditions) -> dict[LagCause, float]:
    quiet = np.zeros(len(given.at_ms) - 1, bool)
    quiet[:3] = True
    area = split(given, conditions, quiet).area.sum(axis=(1, 2))
    return {cause: float(part) for cause, part in zip(CAUSES, area, strict=True) if part > 0}


STEADY = [0, 100, 200, 300, 400, 500, 600, 700]
OWNED = Conditions(owned={("G", "T", 0): [(0, 99_000)]}, groups={"G": 0})


def test_the_parts_are_the_whole() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        ends = np.cumsum(rng.integers(0, 300, (3, 40)), axis=1)
        offsets = np.minimum(np.cumsum(rng.integers(-50, 300, (3, 40)), axis=1), ends)
        given = curve(ends.tolist(), offsets.tolist())
        spans = joined((int(at), int(at) + 4_000) for at in rng.integers(0, 40_000, 5))
        conditions = Conditions(
            owned={("G", "T", 1): spans}, groups={"G": 0}, behind=[Behind(*span, 90.0) for span in spans]
        )
        lag = given.lag
        whole = ((lag[:, :-1] + lag[:, 1:]) / 2).sum(axis=0)
        found = split(given, conditions, np.ones(39, bool)).area
        assert (found >= 0).all()
        assert found.sum(axis=(0, 1)) == pytest.approx(whole)


def test_nobody_had_the_queue() -> None:
    given = curve([STEADY], [[0, 100, 200, 300, 300, 300, 600, 700]])
    away = Conditions(owned={("G", "T", 0): [(0, 3_000), (5_000, 99_000)]}, groups={"G": 0})
    assert set(causes(given, away)) == {LagCause.OWNERSHIP_GAP}
    assert set(causes(given, OWNED)) == {LagCause.SLOW_CLIENT}
    assert set(causes(given, Conditions())) == {LagCause.UNEXPLAINED}


def test_traffic_in_one_queue_and_in_all() -> None:
    more = [0, 100, 200, 300, 900, 1500, 1600, 1700]
    offsets = [0, 100, 200, 300, 400, 500, 600, 700]
    owned = Conditions(owned={("G", "T", queue): [(0, 99_000)] for queue in (0, 1)}, groups={"G": 0})
    assert set(causes(curve([more, STEADY], [offsets, STEADY]), owned)) == {LagCause.HOT_QUEUE}
    assert set(causes(curve([more, more], [offsets, offsets]), owned)) == {LagCause.BURST}


def test_an_offset_that_went_back() -> None:
    given = curve([STEADY], [[0, 100, 200, 300, 50, 500, 600, 700]])
    found = causes(given, OWNED)
    assert max(found, key=lambda cause: found[cause]) is LagCause.OFFSET_MOVED


def test_what_was_added_last_is_read_first() -> None:
    """A gap leaves 200 messages; the commits' own delay comes and goes on top of them, and takes nothing of it."""
    offsets = [0, 100, 200, 300, 300, 300, 390, 500, 590, 700]
    ends = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]
    away = Conditions(owned={("G", "T", 0): [(0, 3_000), (5_000, 99_000)]}, groups={"G": 0})
    found = causes(curve([ends], [offsets]), away)
    assert found[LagCause.OWNERSHIP_GAP] == pytest.approx(50 + 150 + 4 * 200, rel=0.02)


def test_an_episode_is_what_is_beyond_the_usual() -> None:
    given = curve([STEADY], [[0, 100, 200, 300, 300, 300, 600, 700]])
    assert list(episode_rows([given], OWNED, least=500)) == []
    (row,) = episode_rows([given], OWNED, least=100)
    assert (row["peak_messages"], row["cause"], row["worst_queue_id"]) == (200, "slow_client", 0)
    assert (row["begin"].timestamp(), row["end"].timestamp()) == (3, 6)


def test_a_group_that_is_behind_all_the_time() -> None:
    """No instant tells what is usual for it; it began before the record, and is not over."""
    ends = [1_000_000 + 10 * place for place in range(41)]
    (row,) = episode_rows([curve([ends], [[10 * place for place in range(41)]])], OWNED)
    assert (row["begin"], row["end"], row["cause"]) == (None, None, "unexplained")
    assert row["reason"].startswith("it was behind already")


def test_an_episode_longer_than_the_quiet_before_it_begins_where_the_lag_does() -> None:
    ends = [100 * place for place in range(41)]
    (row,) = episode_rows([curve([ends], [[min(end, 500) for end in ends]])], OWNED)
    assert (row["begin"].timestamp(), row["end"]) == (5, None)


@pytest.mark.parametrize(("behind", "ends_at"), [(0, 7), (340, None)])
def test_an_episode_is_over_once_the_group_is_not_behind(behind: int, ends_at: int | None) -> None:
    """Not where it is less behind than before, and also where the very last instant shows that it caught up."""
    (row,) = episode_rows([curve([[0, 0, *[5_000] * 6]], [[*[0] * 7, 5_000 - behind]])], OWNED)
    assert (row["end"] and row["end"].timestamp()) == ends_at


def test_a_queue_is_known_from_its_first_instant_to_its_last() -> None:
    rows = [lag_row(second, 0, 100 * second, 100 * second) for second in range(6)]
    rows += [lag_row(second, 1, None if second == 3 else 500, 100, "gone") for second in (2, 3, 4)]
    rows += [lag_row(second, 2, None, 7, "no end") for second in range(6)]
    (found,) = curves_of(rows)
    assert found.known[1].tolist() == [False, False, True, False, True, False]
    assert found.lag[1].tolist() == [0, 0, 400, 400, 400, 0]
    words = list(status_rows([found], OWNED))
    assert [(word["status"], word["instants"], word["reason"]) for word in words] == [
        ("OK", 6, None),
        (None, 2, "gone"),
        (None, 0, "no end"),
    ]


def test_what_speaks_against_an_offset_is_said() -> None:
    rows = [lag_row(second, 0, 5, 9, "ahead") for second in range(3)]
    rows += [lag_row(second, 1, 900, 9, "it pops") for second in range(3)]
    (found,) = curves_of(rows)
    assert [(word["status"], word["reason"]) for word in status_rows([found], OWNED)] == [
        (None, "ahead"),
        ("STOP", "it pops"),
    ]
    (row,) = episode_rows([found], OWNED)
    assert row["reason"].endswith("ahead; it pops")


def test_the_groups_of_a_broker_itself_are_left_out() -> None:
    own = [row | {"group": "CID_RMQ_SYS_TRANS"} for row in (lag_row(0, 0, 900, 0), lag_row(1, 0, 900, 0))]
    assert list(curves_of(own)) == []


def test_dispatch_is_behind_between_the_lines_around() -> None:
    lines = [(60_000, 0), (120_000, 1 << 20), (180_000, 0), (240_000, 99), (9_000_000, 1 << 17)]
    found = conditions_of((), (), Told(behind=lines, record_size=1024.0)).behind
    assert found == [
        Behind(60_000, 120_000, 1024.0),
        Behind(120_000, 180_000, 1024.0),
        Behind(8_939_000, 9_000_000, 128.0),
        Behind(9_000_000, 9_061_000, 128.0),
    ]
    assert shares([(60_000, 180_000)], np.array([0, 50_000, 70_000, 180_000, 200_000])).tolist() == [0, 0.5, 1, 0]
    assert conditions_of((), (), Told(behind=lines)).behind == []


def test_dispatch_explains_no_more_than_the_broker_said() -> None:
    given = curve([STEADY], [[0, 100, 200, 300, 300, 300, 300, 300]])
    found = causes(given, Conditions(behind=[Behind(0, 9_000, 100.0)]))
    assert found[LagCause.DISPATCH_DELAY] == pytest.approx(50 + 3 * 100)
    assert found[LagCause.UNEXPLAINED] == pytest.approx(50 + 150 + 250)


def test_what_logs_do_not_cover_is_not_known() -> None:
    at_ms = np.arange(8, dtype=np.int64) * STEP_MS
    found = Conditions(owned={("G", "T", 0): [(0, 99_000)]}, groups={"G": 1_000}, until_ms=4_000)
    nobody, somebody = found.ownership(("G", "T", 0), at_ms)
    assert (nobody.tolist(), somebody.tolist()) == ([0] * 7, [0, 1, 1, 1, 0, 0, 0])
    assert [found.is_owned(("G", "T", 0), at) for at in (500, 2_000, 5_000)] == [None, True, None]
    nobody, somebody = found.ownership(("G", "T", 1), at_ms)
    assert (nobody.tolist(), somebody.tolist()) == ([0, 1, 1, 1, 0, 0, 0], [0] * 7)
    by_broker = Conditions(absent={"G": [(2_000, 3_000)]}, covered=[(1_000, 4_000)])
    nobody, somebody = by_broker.ownership(("G", "T", 0), at_ms)
    assert (nobody.tolist(), somebody.tolist()) == ([0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0])
    assert [by_broker.is_owned(("G", "T", 0), at) for at in (500, 1_500, 2_500, 5_000)] == [None, True, False, None]


def test_the_share_of_a_step_is_what_its_spans_cover() -> None:
    rng = np.random.default_rng(7)
    at_ms = np.cumsum(rng.integers(1, 50, 60))
    spans = joined((int(begin), int(begin) + int(size)) for begin, size in rng.integers(0, 900, (40, 2)) // [1, 50])
    covered = np.zeros(2_000, bool)
    for begin, end in spans:
        covered[begin:end] = True
    known = [covered[begin:end].mean() for begin, end in pairwise(at_ms.tolist())]
    assert shares(spans, at_ms).tolist() == pytest.approx(known)


def test_traffic_is_not_usual_for_itself() -> None:
    """A record that is one episode does not tell a burst from what always comes in."""
    (row,) = episode_rows([curve([[1_000 + end for end in STEADY]], [[0] * 8])], OWNED)
    assert row["cause"] == "unexplained"
    assert NO_USUAL in row["reason"]


HUNDREDS = [100_000, 200_000, 300_000, 400_000, 500_000]
CLIMB, GROWS = [1000, 2000, 3000, 4000, 5000], [0, 50, 100, 150, 200]
CAUGHT_UP = [792748079 + number for number in range(15)]
CAUGHT_UP_MS = [
    *(1512224618356, 1512224619362, 1512224620366, 1512224621367, 1512224622370, 1512224623373, 1512224624378),
    *(1512224625379, 1512224626383, 1512224627383, 1512224628383, 1512224629388, 1512224630391, 1512224631394),
    1512224632397,
]
BACK, BACK_LAGS = [1000, 2000, 3000, 2000, 4000], [100, 150, 200, 1250, 300]


@pytest.mark.parametrize(
    ("commits", "ends", "lag", "now_s", "word"),
    [
        (Commits(HUNDREDS, CLIMB, GROWS), [5200], 200, 600, "OK"),
        (Commits(HUNDREDS, CLIMB, GROWS), [5200], 200, 900, "OK"),
        (Commits(HUNDREDS, CLIMB, GROWS), [5200], 200, 1000, "STOP"),
        (Commits(HUNDREDS, CLIMB, [50, 100, 150, 200, 250]), [5250], 250, 1000, "STOP"),
        (Commits(HUNDREDS, [1000] * 5, GROWS), [1200], 200, 600, "OK"),
        (Commits(HUNDREDS, [1000] * 5, [100, 150, 200, 250, 300]), [1300], 300, 600, "STALL"),
        (Commits(HUNDREDS, [1000] * 5, [100] * 5), [1100], 100, 600, "STALL"),
        (Commits(HUNDREDS, BACK, BACK_LAGS), [4300], 300, 600, "OK"),
        (Commits(HUNDREDS, CLIMB, [50, 100, 150, 200, 250]), [5250], 0, 1000, "OK"),
        (
            Commits(CAUGHT_UP_MS, CAUGHT_UP, [0] * 15),
            [792749024, 792749000, 792748800, 792748600, 792748500],
            931,
            1512224650,
            "STOP",
        ),
        (
            Commits(CAUGHT_UP_MS, CAUGHT_UP, [0] * 15),
            [792748094, 792748093, 792748093, 792748093],
            1,
            1512224650,
            "OK",
        ),
        (Commits(HUNDREDS, [*BACK[:4], 2500], BACK_LAGS), [4300], 300, 600, "REWIND"),
    ],
)
def test_burrows_own_cases(commits: Commits, ends: list[int], lag: int, now_s: int, word: str) -> None:
    """`tests` of core/internal/evaluator/caching_test.go @ced55ba: 0 to 10 and 15, those without an allowed lag and
    with the lag of each commit."""
    assert burrow_status(commits, ends, lag, now_s * 1000) == word


MINUTE_MS = 60_000


@pytest.mark.parametrize(
    ("offsets", "lags", "owned", "word"),
    [
        ([1, 2, 3], [5, 0, 5], True, "OK"),
        ([1, 2, 3], [5, 5, 0], None, "OK"),
        ([4, 2, 3], [5, 6, 5], None, "REWIND"),
        ([5, 4, 6, 7, 8], [5, 6, 5, 5, 5], True, "OK"),
        ([100] * 8 + [0, 0], [*range(0, 40, 5), 10**6, 10**6], True, "REWIND"),
        ([3, 3, 3], [5, 6, 7], True, "STALL"),
        ([3, 3, 3], [5, 6, 7], False, "STOP"),
        ([2, 3, 3], [5, 6, 7], False, "WARN"),
        ([2, 3, 3, 3], [5, 6, 7, 8], False, "STOP"),
        ([100] * 10, [0, *range(10**5, 10**5 + 9)], False, "STOP"),
        ([100] * 10, [0, *range(10**5, 10**5 + 9)], True, "OK"),
        ([1, 2, 3], [5, 5, 6], True, "WARN"),
        ([1, 2, 3], [5, 4, 6], True, "OK"),
    ],
)
def test_status_words(offsets: list[int], lags: list[int], owned: bool | None, word: str) -> None:
    ends = [offset + lag for offset, lag in zip(offsets, lags, strict=True)]
    at_ms = [place * MINUTE_MS for place in range(len(offsets))]
    assert status_of(at_ms, ends, offsets, owned=owned) == (word, None)


def test_a_group_that_was_there_a_moment_ago_has_not_stopped() -> None:
    at_ms = [place * STEP_MS for place in range(10)]
    assert status_of(at_ms, [100, *[200] * 9], [100] * 10, owned=False)[0] is StatusWord.OK


def test_a_table_alone_cannot_tell_a_stall_from_a_stop() -> None:
    assert status_of([0, 1, 2], [8, 9, 10], [3, 3, 3], owned=None) == (StatusWord.STALL, NOT_TOLD)


def test_one_instant_has_no_word() -> None:
    assert status_of([0], [8], [3], owned=True) == (None, ONE_INSTANT)


def test_ownership_is_of_one_broker() -> None:
    """Two brokers have a queue of one number; where a store does not say which of them it is of, none is taken."""
    assert broker_among({"broker"}, {"a"}) == {"a", "broker"}
    assert broker_among({"a"}, {"a", "b"}) == {"a"}
    assert broker_among(set(), {"a"}) == {"a"}
    assert broker_among({"a"}, set()) == {"a"}
    assert broker_among({"a", "b"}, {"a", "b"}, "b") == {"b"}
    assert broker_among({"broker"}, {"a", "b"}, "b") == {"b", "broker"}
    assert broker_among({"a", "b"}, {"a", "b"}, "c") is None
    assert broker_among({"broker"}, {"a", "b"}) is None
    assert broker_among(set(), {"a", "b"}) is None
    assert broker_among({"a", "b"}, {"a"}) is None


@pytest.mark.parametrize(
    ("span", "said"),
    [((4_500, 6_000), "file_deleted 1"), ((6_000, 8_000), ""), ((6_000, 12_000), None), ((0, 3_000), None)],
)
def test_of_a_time_that_store_log_does_not_reach_over_its_silence_says_nothing(
    span: tuple[int, int], said: str | None
) -> None:
    conditions = Conditions(store_times=StoreTimes({"file_deleted": [5_000]}, (4_000, 9_000)))
    assert conditions.said_by_store(*span) == said


def test_a_store_log_without_an_entry_is_none(tmp_path: Path) -> None:
    log = tmp_path / "store.log"
    log.write_bytes(b"")
    assert store_times(read_store_logs([log], pytest.fail)) is None
    log.write_text("2026-11-21 23:11:00 INFO main - nobody knows this text\n2026-11-21 23:12:00 INFO main - nor this\n")
    told = store_times(read_store_logs([log], pytest.fail))
    assert told is not None
    assert (dict(told.by_kind), told.span[1] - told.span[0]) == ({}, 60_000)
