"""Generated groups of any shape: what the replay calls certain is what was played, and the rest is possible."""

from __future__ import annotations

import gc
import random

from hypothesis import given
from hypothesis import strategies as st

from rebalance.diagnosis.exposures import HAND_OVER
from rebalance.facts import ConsumerListAnswered, Fact, PullSeen
from rebalance.replay import Replay, replay
from tests.support.generate_sessions import START_MS, GeneratedGroup, generate_group

HOUR_MS = 3_600_000
shapes = st.fixed_dictionaries(
    {
        "clients": st.integers(1, 7),
        "queues": st.integers(1, 12),
        "restarts": st.integers(0, 8),
        "seed": st.integers(0, 10_000),
        "coalesced": st.booleans(),
        "kill_share": st.sampled_from([0.0, 0.5, 1.0]),
    }
)


def judged(generated: GeneratedGroup, history: Replay, seed: int) -> int:
    """Compares answers at random instants; returns how many were certain."""
    chance, certain = random.Random(seed), 0
    end_ms = generated.facts[-1].at_ms
    for at_ms in (chance.randrange(START_MS, end_ms) for _ in range(40)):
        for answer in history.ownership_at(at_ms):
            truth = {
                client_id
                for queue, client_id, since, until in generated.owned
                if queue.queue_id == answer.queue_id and since <= at_ms and (until is None or at_ms < until)
            }
            assert truth <= set(answer.possible), (at_ms, answer, truth)
            assert set(answer.owners) <= truth, (at_ms, answer, truth)
            assert not answer.certain or set(answer.owners) == truth, (at_ms, answer, truth)
            certain += answer.certain
    return certain


@given(shapes)
def test_a_complete_record_is_answered_as_played(shape: dict[str, int]) -> None:
    generated = generate_group(span_ms=HOUR_MS, **shape)
    history = replay(generated.facts)
    assert judged(generated, history, shape["seed"]) > 0
    assert not [row for row in history.intervals if row.end_latest is not None and row.end_latest < row.end_earliest]
    assert not [
        row for row in history.intervals if row.begin_earliest is not None and row.begin_latest < row.begin_earliest
    ]


@given(shapes, st.integers(0, 100))
def test_spans_of_exposures_end_after_they_begin(shape: dict[str, int], begins_at: int) -> None:
    """Also in a record that starts in the middle."""
    generated = generate_group(span_ms=HOUR_MS, **shape)
    facts = generated.facts[len(generated.facts) * begins_at // 200 :]
    exposures = replay(facts).exposures
    assert not [row for row in exposures if (row.from_ms or 0) > (row.until_ms or 1 << 62)]
    assert not [row for row in exposures if row.kind == HAND_OVER and None in (row.from_ms, row.until_ms)]


@given(shapes, st.sampled_from([PullSeen, ConsumerListAnswered]))
def test_without_one_kind_of_request_nothing_certain_is_wrong(shape: dict[str, int], missing: type[Fact]) -> None:
    generated = generate_group(span_ms=HOUR_MS, **shape)
    judged(generated, replay([fact for fact in generated.facts if type(fact) is not missing]), shape["seed"])


def test_a_replay_leaves_nothing_to_collect() -> None:
    """Spark's workers replay group after group without the cyclic collector.

    What other threads of the process leave in the meantime is none of the replay's.
    """
    facts = generate_group("group", clients=9).facts
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        history = replay(facts)
        assert history.intervals
        assert history.assignments
        assert not history.divergence
        assert not history.anomalies
        del history
        gc.collect()
        assert [one for one in gc.garbage if type(one).__module__.startswith("rebalance.")] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
