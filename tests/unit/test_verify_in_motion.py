"""Findings of a store that a broker writes to meanwhile: what is on its way is none, and what is wrong stays one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.consumequeue.layout import CQ_UNIT
from parsers.store import Store, open_store
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.knowledge import knowledge_of
from recovery.verify import in_motion
from recovery.verify.in_motion import IN_PROGRESS, verify_in_motion
from recovery.verify.verify import Verification, verify
from tests.support.recovery_cases import golden_cases

CLEAN = "s551-clean"
Step = Callable[[], object]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(golden_cases().base(CLEAN), tmp_path / "store"))


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """What a broker does behind each verification, in turn."""
    steps: list[Step] = []

    def stepping(store: Store, known: StoreKnowledge) -> Verification:
        found = verify(store, known)
        if steps:
            steps.pop(0)()
        return found

    monkeypatch.setattr(in_motion, "verify", stepping)
    return steps


def look(root: Path) -> Verification:
    store = open_store(root)
    return verify_in_motion(store, knowledge_of(store))


def undispatched(root: Path, *, units: int = 3) -> Step:
    """Take the last units of a queue away; a call brings them back, as dispatch does."""
    queue = next((root / "consumequeue/TopicB/0").iterdir())
    whole = queue.read_bytes()
    end = max(at for at in range(0, len(whole), CQ_UNIT.size) if any(whole[at : at + CQ_UNIT.size])) + CQ_UNIT.size
    kept = end - units * CQ_UNIT.size
    queue.write_bytes(whole[:kept] + bytes(len(whole) - kept))
    return lambda: queue.write_bytes(whole)


def spoilt(root: Path) -> None:
    """Another byte in the body of an early message."""
    log = min((root / "commitlog").iterdir())
    content = bytearray(log.read_bytes())
    content[90] ^= 0xFF
    log.write_bytes(content)


def test_what_was_only_on_its_way_is_no_finding(root: Path, meanwhile: list[Step]) -> None:
    meanwhile.append(undispatched(root))
    found = look(root)
    assert found.findings == ()
    passing = [state for state in found.explained if state.what == IN_PROGRESS]
    assert passing
    assert all(state.places for state in passing)


def test_what_is_wrong_is_found_although_a_broker_writes(root: Path, meanwhile: list[Step]) -> None:
    spoilt(root)
    alone = look(root).findings
    meanwhile.append(undispatched(root))
    assert alone
    assert look(root).findings == alone


def test_units_that_stay_away_are_found(root: Path, meanwhile: list[Step]) -> None:
    undispatched(root)
    checkpoint = root / "checkpoint"
    meanwhile.append(lambda: checkpoint.write_bytes(checkpoint.read_bytes()))
    store = open_store(root)
    assert verify(store, knowledge_of(store)).findings
    assert look(root).findings == verify(store, knowledge_of(store)).findings


def test_a_store_that_stands_still_is_compared_once(root: Path, meanwhile: list[Step]) -> None:
    spoilt(root)
    meanwhile += [lambda: None, lambda: pytest.fail("compared again")]
    assert look(root).findings


def test_a_store_that_is_gone_afterwards_keeps_its_findings(root: Path, meanwhile: list[Step]) -> None:
    spoilt(root)
    meanwhile.append(lambda: shutil.rmtree(root))
    assert look(root).findings
