"""Folders of a recorded cluster, as a user hands them over: who owned a queue is what the consumers' own tables say."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.recordings.recordings import facts_of, find_recordings
from rebalance.replay import replay
from tests.support.ownership_judge import instants, judge
from tests.support.rebalance_sessions import certain_share, sessions


@pytest.mark.parametrize("part", [".", "logs", "wire"])
@sessions
def test_ownership_from_a_folder(session: Path, part: str) -> None:
    places = sorted(session.glob("wire*")) if part == "wire" else [session / part]
    said: list[str] = []
    facts = (fact for recording in find_recordings(places) for fact in facts_of(recording, said.append))
    verdict = judge(session, replay(facts), instants(session, 100, seed=7))
    assert verdict.wrong == []
    assert verdict.certain_share >= certain_share(session, part)
    assert said == []
