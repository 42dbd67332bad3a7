"""Findings of a store that a broker writes to meanwhile: what is on its way is none, and what is wrong stays one."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.consumequeue.layout import CQ_UNIT
from parsers.store.store import Store, open_store
from recovery.knowledge.inference import StoreKnowledge
from recovery.knowledge.knowledge import knowledge_of
from recovery.query.ledger import LedgerRange
from recovery.verify import in_motion, ledger_in_motion
from recovery.verify.first_pass import files_of, first_pass
from recovery.verify.in_motion import (
    GONE,
    IN_PROGRESS,
    REACHED,
    REACHED_TIME,
    UNCLEANED,
    UNSETTLED,
    Moment,
    verify_in_motion,
    without_progress,
)
from recovery.verify.store_ledger import StoreLedger
from recovery.verify.verify import Verification, judged, verify
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.recovery_cases import golden_cases

CLEAN = "s551-clean"
HOLD = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 1)
    print(flush=True)
    sys.stdin.read()
"""
Step = Callable[[], object]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return copy_tree(golden_cases().base(CLEAN), tmp_path / "store")


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """What a broker does after each verification, in turn."""
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
    queue = max((root / "consumequeue/TopicB/0").iterdir())
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


@pytest.mark.parametrize("ahead", [0, 1])
def test_what_log_and_queue_have_come_to_by_then_is_not_beyond_them(root: Path, ahead: int) -> None:
    """A group's offset is of a message that came after the pass over the queues, and the checkpoint is right by now."""
    queue = max((root / "consumequeue/TopicB/0").iterdir())
    units = queue.read_bytes()
    end = next(at for at in range(0, len(units), CQ_UNIT.size) if not any(units[at : at + CQ_UNIT.size]))
    offset = (int(queue.name) + end) // CQ_UNIT.size + ahead
    (root / "config").mkdir(exist_ok=True)
    (root / "config/consumerOffset.json").write_text(json.dumps({"offsetTable": {"TopicB@Readers": {"0": offset}}}))
    checkpoint = latest(root, 0)
    newest = newest_ms(root) + ahead
    dispatched = undispatched(root)
    stored = log_from(root, CQ_UNIT.unpack(units, end - 3 * CQ_UNIT.size)["physical_offset"])
    checkpoint()
    store = open_store(root)
    known, since = knowledge_of(store), Moment.of(store)
    found = verify(store, known)
    beyond = {"consumer_offset_above_max", "checkpoint_later_than_data"}
    assert beyond <= {finding.kind for finding in found.findings}
    stored()
    dispatched()
    (root / "checkpoint").write_bytes(struct.pack(">q", newest) + (root / "checkpoint").read_bytes()[8:])
    now = open_store(root)
    left = without_progress(found, now, known, since, Moment.of(now))
    assert beyond & {finding.kind for finding in left.findings} == (beyond if ahead else set())
    why = {state.why.partition(": ")[2] for state in left.explained}
    assert ({REACHED, REACHED_TIME} <= why) is (not ahead)


def newest_ms(root: Path) -> int:
    """The latest store time of the log."""
    batches = read_commitlog(open_store(root))
    return max(int(batch.column("store_timestamp").cast("int64").to_numpy().max()) for batch in batches) // 1000


def log_from(root: Path, physical_offset: int) -> Step:
    """Take the log from there on away; a call brings it back, as a broker stores messages."""
    kept = {log: log.read_bytes() for log in sorted((root / "commitlog").iterdir())}
    for log, whole in kept.items():
        at = min(max(0, physical_offset - int(log.name)), len(whole))
        log.write_bytes(whole[:at] + bytes(len(whole) - at))
    return lambda: [log.write_bytes(whole) for log, whole in kept.items()]


@pytest.fixture
def expired(root: Path) -> Path:
    """Log files are gone whose queue files are there. Its cleaner is due for two rounds of ten seconds."""
    for log in sorted((root / "commitlog").iterdir())[:2]:
        log.unlink()
    assert [finding.kind for finding in look(root).findings] == ["log_head_missing"]
    return root


@pytest.fixture
def lock(expired: Path) -> Iterator[Path]:
    """What another process holds, as a broker does."""
    lock = expired / "lock"
    lock.write_bytes(b"lock")
    os.utime(lock, (0, 0))
    command = [sys.executable, "-S", "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield lock
        process.communicate()


def test_files_that_a_broker_which_writes_has_yet_to_delete_are_no_finding(
    expired: Path, meanwhile: list[Step]
) -> None:
    meanwhile.append(undispatched(expired, units=1))
    found = look(expired)
    assert found.findings == ()
    assert any(UNCLEANED in state.why for state in found.explained)


def test_files_that_an_idle_broker_has_yet_to_delete_are_no_finding_for_as_long_as_that_takes(
    expired: Path, lock: Path
) -> None:
    found = look(expired)
    assert found.findings == ()
    assert any(UNCLEANED in state.why for state in found.explained)
    log = expired / "commitlog"
    os.utime(log, (0, log.stat().st_mtime - 3600))
    assert [finding.kind for finding in look(expired).findings] == ["log_head_missing"]
    os.utime(lock)
    assert look(expired).findings == (), "it has just started"


def test_queue_files_that_are_deleted_while_they_are_compared_have_no_units(expired: Path) -> None:
    store = open_store(expired)
    known = knowledge_of(store)
    files = files_of(store, known)
    for queue in (expired / "consumequeue").glob("*/*"):
        min(queue.iterdir()).unlink()
    assert judged(store, known, files, first_pass(store, known, files)).findings


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


def index_count(root: Path, less: int) -> Step:
    """A step that writes the newest index header, its count too small by so many."""
    index = max((root / "index").iterdir())
    whole = index.read_bytes()
    (count,) = struct.unpack_from(">i", whole, 36)
    return lambda: index.write_bytes(whole[:36] + struct.pack(">i", count - less) + whole[40:])


def latest(root: Path, later_ms: int) -> Step:
    """A step that writes the checkpoint, later than any message."""
    checkpoint = root / "checkpoint"
    return lambda: checkpoint.write_bytes(struct.pack(">q", 2_000_000_000_000 + later_ms) + checkpoint.read_bytes()[8:])


@pytest.mark.parametrize("damage", [index_count, latest])
def test_what_stays_wrong_in_bytes_that_a_broker_rewrites_is_found(
    root: Path, meanwhile: list[Step], damage: Callable[[Path, int], Step]
) -> None:
    first, *others = (damage(root, value) for value in (5, 4, 3, 2))
    first()
    alone = look(root).findings
    assert alone
    meanwhile += others
    found = look(root)
    assert [finding.kind for finding in found.findings] == [finding.kind for finding in alone]
    assert not any(UNSETTLED in finding.evidence for finding in found.findings)
    first()
    meanwhile[:] = others
    ended = call("verify", str(root))
    assert ended.code == 1
    assert "agree" not in ended.err


def test_damage_that_comes_behind_the_first_look_is_found(root: Path, meanwhile: list[Step]) -> None:
    back = undispatched(root)
    meanwhile.append(lambda: (back(), spoilt(root)))
    found = look(root)
    spoilt(root)
    spoilt(root)
    assert found.findings == look(root).findings
    assert [state.why for state in found.explained if state.what == IN_PROGRESS]
    assert all(GONE in state.why for state in found.explained if state.what == IN_PROGRESS)


def test_what_no_look_settles_stays_a_finding_that_says_so(root: Path, meanwhile: list[Step]) -> None:
    queue = max((root / "consumequeue/TopicB/0").iterdir())
    whole = queue.read_bytes()
    back = undispatched(root)
    meanwhile += [
        lambda: (back(), undispatched(root, units=4)),
        lambda: (queue.write_bytes(whole), undispatched(root, units=5)),
        lambda: queue.write_bytes(whole),
    ]
    found = look(root)
    assert found.findings
    assert all(UNSETTLED in finding.evidence for finding in found.findings)
    assert not meanwhile, "three looks"


def test_files_are_not_said_to_agree_where_something_passed(root: Path, meanwhile: list[Step]) -> None:
    meanwhile.append(undispatched(root))
    ended = call("verify", str(root))
    assert ended.code == 0
    assert "agree;" not in ended.err
    assert "no disagreement was found again; " in ended.err


def test_a_store_that_stands_still_is_compared_once(root: Path, meanwhile: list[Step]) -> None:
    spoilt(root)
    meanwhile += [lambda: None, lambda: pytest.fail("compared again")]
    assert look(root).findings


def test_a_store_that_is_gone_afterwards_keeps_its_findings(root: Path, meanwhile: list[Step]) -> None:
    spoilt(root)
    meanwhile.append(lambda: shutil.rmtree(root))
    assert look(root).findings


def test_the_ledger_is_sure_of_no_loss_while_a_broker_writes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    back = undispatched(root)
    store = open_store(root)
    still = _open_ranges(ledger_in_motion.ledger_in_motion(store, knowledge_of(store)))
    assert still
    assert any(found.certain for found in still)
    made = ledger_in_motion.store_ledger

    def meanwhile(store: Store, known: StoreKnowledge) -> StoreLedger:
        found = made(store, known)
        back()
        return found

    monkeypatch.setattr(ledger_in_motion, "store_ledger", meanwhile)
    moved = _open_ranges(ledger_in_motion.ledger_in_motion(store, knowledge_of(store)))
    assert [(found.first, found.end, found.state) for found in moved] == [(f.first, f.end, f.state) for f in still]
    assert not any(found.certain for found in moved)
    assert all(ledger_in_motion.MOVED in (found.reason or "") for found in moved)


def _open_ranges(ledger: StoreLedger) -> list[LedgerRange]:
    ranges = [found for queue in ledger.queues for found in queue.ranges]
    return [found for found in ranges if found.state not in ledger_in_motion.HOLDS]
