"""Folders of a recorded cluster, as a user hands them over: who owned a queue is what the consumers' own tables say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.recordings import facts_of, find_recordings
from rebalance.replay import replay
from tests.support.fixtures import FIXTURES, GOLDEN, needs_fixtures
from tests.support.ownership_judge import instants, judge

CERTAIN = 0.9


def sessions() -> Iterator[object]:
    committed = sorted((GOLDEN / "rebalance" / "sessions").iterdir())
    yield from (pytest.param(path, id=path.name) for path in committed)
    folder = FIXTURES / "rebalance" / "sessions"
    names = {path.name for path in committed}
    beside = (pytest.mark.fixtures, needs_fixtures)
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name not in names:
            yield pytest.param(path, id=path.name, marks=beside)


@pytest.mark.parametrize("part", [".", "logs", "wire"])
@pytest.mark.parametrize("session", list(sessions()))
def test_ownership_from_a_folder(session: Path, part: str) -> None:
    places = sorted(session.glob("wire*")) if part == "wire" else [session / part]
    said: list[str] = []
    facts = (fact for recording in find_recordings(places) for fact in facts_of(recording, said.append))
    verdict = judge(session, replay(facts), instants(session, 100, seed=7))
    assert verdict.wrong == []
    assert verdict.certain_share >= CERTAIN
    assert said == []
