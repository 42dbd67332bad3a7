"""Copies of compacted topics beside the log: silent on what brokers left, a finding for each altered byte."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.commitlog.record.layout import HEAD
from parsers.consumequeue.batch import BATCH_UNIT, Units
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import units as units_of
from parsers.store.places import COMPACTION_POSITIONS
from parsers.store.store import Store, open_store
from parsers.values.java import LONG_MAX
from recovery.scan.intervals import Intervals
from recovery.verify.compaction_columns import MOST_HOLES, holes_between, judge_compaction
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.support.build_store import overwrite
from tests.support.copies import copy_tree
from tests.support.kind_damages import LONG
from tests.support.opened import opened
from tests.support.stores import store_names, store_root

LOG = "compaction/compactionLog/Latest/0/00000000000000000000"
QUEUE = "compaction/compactionCq/Latest/0/00000000000000000000"
NAMES = store_names("compaction-before", "compaction-after")
NOT_LOOKED_AT = range(BATCH_UNIT.offsets["compact_offset"], BATCH_UNIT.size)


@pytest.fixture(params=["5.3.3-compaction-before", "5.5.0-compaction-after"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    copy = tmp_path / "store"
    copy_tree(store_root(request.param), copy, ignore=shutil.ignore_patterns("timerwheel"))
    return copy


def judged(root: Path) -> tuple[Finding, ...]:
    return judge_compaction(*opened(root), Intervals.of(())).findings


def flip(path: Path, at: int) -> None:
    overwrite(path, at, bytes([path.read_bytes()[at] ^ 0x10]))


@pytest.mark.parametrize("name", NAMES)
def test_silent_on_what_a_broker_left(name: str) -> None:
    assert verify(*opened(store_root(name))).findings == ()


def test_every_altered_byte_of_a_copy_is_in_a_finding(root: Path) -> None:
    written = int(_units(root)[-1]["physical_offset"] + _units(root)[-1]["msg_size"])
    for at in [*range(0, HEAD.size, 4), *Random(7).sample(range(written), 10)]:
        flip(root / LOG, at)
        found = judged(root)
        covers = [
            place for one in found for place in one.places
            if place.file == LOG and place.file_pos <= at < place.file_pos + place.length
        ]  # fmt: skip
        assert covers, at
        flip(root / LOG, at)
    assert judged(root) == ()


def test_every_altered_unit_is_a_finding(root: Path) -> None:
    units = len(_units(root))
    for at in Random(7).sample(range(units * BATCH_UNIT.size), 20):
        if at % BATCH_UNIT.size in NOT_LOOKED_AT:
            continue
        flip(root / QUEUE, at)
        assert "compaction_unit_wrong" in {one.kind for one in judged(root)}, at
        flip(root / QUEUE, at)


def test_a_changed_original(root: Path) -> None:
    store = open_store(root)
    offset = int(_units(root)[3]["queue_offset"])
    place = _ordinary_unit(store, offset)
    overwrite(root / f"commitlog/{0:020d}", place + HEAD.offsets["flag"], b"\1\2\3\4")
    (found,) = judged(root)
    assert (found.kind, found.span.queue_offset, found.span.physical_offset) == (
        "compaction_copy_differs",
        offset,
        place,
    )


def test_a_unit_that_leads_to_another_message_says_nothing_of_the_copy(root: Path) -> None:
    unit = CQ_UNIT.size * int(_units(root)[3]["queue_offset"])
    overwrite(root / f"consumequeue/Latest/0/{0:020d}", unit, bytes(LONG))
    assert judged(root) == ()


def test_names_that_do_not_fit(root: Path) -> None:
    (root / QUEUE).rename(root / "taken-away")
    assert "compaction_files_apart" in {one.kind for one in judged(root)}


def test_without_positions_nothing_is_called_missing(root: Path) -> None:
    for name in COMPACTION_POSITIONS:
        (root / "compaction" / name).unlink(missing_ok=True)
    assert {one.kind for one in judged(root)} == {"compaction_positions_wrong"}


def test_a_message_that_was_never_copied(tmp_path: Path) -> None:
    """The last unit and its copy are taken away, and one that follows is left: no pass has come so far."""
    root = tmp_path / "store"
    copy_tree(store_root("5.3.3-compaction-before"), root, ignore=shutil.ignore_patterns("timerwheel"))
    taken, at = _units(root)[5], 5 * BATCH_UNIT.size
    overwrite(root / QUEUE, at, (root / QUEUE).read_bytes()[at + BATCH_UNIT.size : at + 2 * BATCH_UNIT.size])
    overwrite(root / LOG, int(taken["physical_offset"]), bytes(int(taken["msg_size"])))
    missing = [one for one in judged(root) if one.kind == "compaction_message_missing"]
    assert [one.span.queue_offset for one in missing] == [int(taken["queue_offset"])]


def _units(root: Path) -> Units:
    view = BATCH_UNIT.array(memoryview((root / QUEUE).read_bytes()))
    return view[view["msg_size"] > 0]


def _ordinary_unit(store: Store, queue_offset: int) -> int:
    return int(units_of(store.queues["Latest", 0][0])[queue_offset]["physical_offset"])


@given(st.sets(st.integers(-5, 45)), st.integers(-3, 10), st.integers(-3, 40))
def test_holes_are_the_numbers_that_are_not_there(there: set[int], after: int, end: int) -> None:
    found = holes_between(np.array(sorted(there), np.int64), after, end)
    assert found.tolist() == [number for number in range(after + 1, end) if number not in there]


def test_an_end_beyond_any_queue_asks_for_no_memory() -> None:
    """A unit's own number says where a queue of copies ends, and one altered byte makes that anything."""
    found = holes_between(np.array([5], np.int64), -1, LONG_MAX)
    assert len(found) == MOST_HOLES
    assert found[:7].tolist() == [0, 1, 2, 3, 4, 6, 7]


@pytest.mark.parametrize(
    "content", [b'{"queueOffsetMap":{"Latest_0":', b'{"queueOffsetMap":{"Latest_0":"x"}}', b"", None]
)
def test_a_position_that_cannot_be_read_is_told(root: Path, content: bytes | None) -> None:
    for name in COMPACTION_POSITIONS:
        (root / "compaction" / name).unlink(missing_ok=True)
    if content is not None:
        (root / "compaction" / COMPACTION_POSITIONS[0]).write_bytes(content)
    (one,) = judged(root)
    assert (one.kind, one.places[0].file) == ("compaction_positions_wrong", "compaction/position-checkpoint")
    (root / "abort").touch()
    assert bool(judged(root)) is (content is not None), "a killed broker may not have come to write it"


def test_a_broker_without_compaction_writes_no_positions(root: Path) -> None:
    """One that was killed before it wrote any, and came back with enableCompaction=false, stops in order without."""
    for name in COMPACTION_POSITIONS:
        (root / "compaction" / name).unlink(missing_ok=True)
    for enabled, kinds in ("true", {"compaction_positions_wrong"}), ("false", set[str]()):
        found = verify(*opened(root, "5.3.3", config={"enableCompaction": enabled})).findings
        assert {one.kind for one in found if one.kind.startswith("compaction_")} == kinds


def test_a_position_ahead_of_its_queue_is_told(root: Path) -> None:
    end = int(_units(root)[-1]["queue_offset"]) + 10**6
    (root / "compaction" / COMPACTION_POSITIONS[0]).write_text(f'{{"queueOffsetMap":{{"Latest_0":{end}}}}}')
    assert "compaction_positions_wrong" in {one.kind for one in judged(root)}


def test_the_positions_of_a_store_without_copies_are_read_too(tmp_path: Path) -> None:
    root = copy_tree(store_root("5.3.3-lmq"), tmp_path / "store")
    assert not judged(root)
    (root / "compaction" / COMPACTION_POSITIONS[0]).write_bytes(b"{")
    assert [one.kind for one in judged(root)] == ["compaction_positions_wrong"]


def test_damage_of_the_log_is_no_fault_of_the_units_that_lead_into_it(root: Path) -> None:
    third = _units(root)[3]
    overwrite(root / LOG, int(third["physical_offset"]), bytes(int(third["msg_size"])))
    assert {one.kind for one in judged(root)} == {"compaction_log_damaged"}
