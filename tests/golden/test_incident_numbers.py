"""Damaged units of expired messages: a start numbers their queue again, and what the forecast advises prevents it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from parsers.consumequeue.layout import CQ_UNIT
from recovery.forecast.forecast import Forecast, forecast
from recovery.verify.verify import verify
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import incident, incident_names
from tests.support.java_lab import needs_java, recover_all
from tests.support.opened import opened

ZEROS = bytes(CQ_UNIT.size)
FAR = (1 << 40).to_bytes(8, "big") + (100).to_bytes(4, "big") + bytes(8)
"""A unit that leads beyond the log's end: where a file begins with it, the start deletes the file."""
EXPIRED, LEFT = "TOff/0", "TOld/0"
"""A queue without a message in the log, and one with its last ones there."""
DAMAGES = {
    "one in the middle": {10: ZEROS},
    "the first leads beyond the log": {0: FAR},
    "one leads beyond the log": {20: FAR},
    "a run and one more": {**dict.fromkeys(range(1, 9), ZEROS), 40: FAR},
    "the first three": {0: FAR, 1: ZEROS, 2: ZEROS},
}
NO_SIZE = bytes(8) + (-1).to_bytes(4, "big", signed=True) + bytes(8)
"""A unit that recovery refuses, and that is not zeros."""
VERSIONS = ("4.9.8", "5.3.1", "5.3.3", "5.5.1")
NAMES = incident_names("offsets-reset")


@pytest.fixture
def root(name: str, tmp_path: Path) -> Path:
    copy_tree(incident(name).root, tmp_path / "store")
    return tmp_path / "store"


def newest(root: Path, queue: str) -> Path:
    return max((root / "consumequeue" / queue).iterdir())


def damage(root: Path, queue: str, units: dict[int, bytes]) -> None:
    file = newest(root, queue)
    stored = bytearray(file.read_bytes())
    for slot, unit in units.items():
        stored[slot * CQ_UNIT.size : (slot + 1) * CQ_UNIT.size] = unit
    file.write_bytes(stored)


def last_two(root: Path, unit: bytes) -> dict[int, bytes]:
    """The last two units of the queue, whose messages have expired."""
    sizes = CQ_UNIT.array(newest(root, EXPIRED).read_bytes())["msg_size"]
    end = int(sizes.argmin())
    return dict.fromkeys((end - 2, end - 1), unit)


def told(root: Path, version: str) -> Forecast:
    return forecast(*opened(root, version))


def follow(told: Forecast, root: Path) -> None:
    """What the advice says, and no more."""
    do = told.advice[0].repair.do
    assert do.startswith("copy consumequeue/ first; ")
    subprocess.run(
        ["sh", "-ec", do.partition("before the start: ")[2].strip("`")], cwd=root, check=True, capture_output=True
    )


def ends(told: Forecast) -> dict[str, int | None]:
    return {f"{topic}/{queue_id}": end for topic, queue_id, end in told.outcome.queue_ends}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("units", DAMAGES.values(), ids=list(DAMAGES))
def test_a_queue_that_would_be_numbered_again_goes_on_after_the_advice(
    name: str, root: Path, units: dict[int, bytes]
) -> None:
    version = incident(name).version
    whole = told(root, version)
    assert (whole.renumbered, whole.has_loss) == ((), False)
    damage(root, EXPIRED, units)
    damaged = told(root, version)
    (queue,) = damaged.renumbered
    assert (f"{queue.topic}/{queue.queue_id}", queue.was_next_queue_offset) == (EXPIRED, ends(whole)[EXPIRED])
    assert queue.next_queue_offset == ends(damaged)[EXPIRED] == min(units)
    assert [each.group for each in queue.skipping] == ["CG_off"]
    assert damaged.has_loss
    assert damaged.advice[0].then is not None
    assert damaged.advice[0].then.renumbered == 0
    follow(damaged, root)
    mended = told(root, version)
    assert (mended.renumbered, mended.outcome.queue_ends) == ((), whole.outcome.queue_ends)


@pytest.mark.parametrize("name", NAMES)
def test_damage_after_the_last_good_unit_is_known_as_far_as_it_is_written(name: str, root: Path) -> None:
    version = incident(name).version
    whole = told(root, version)
    damage(root, EXPIRED, last_two(root, NO_SIZE))
    damaged = told(root, version)
    (queue,) = damaged.renumbered
    assert (queue.was_next_queue_offset, queue.next_queue_offset) == (ends(whole)[EXPIRED], ends(damaged)[EXPIRED])
    assert queue.was_next_queue_offset - queue.next_queue_offset == 2
    assert [each.group for each in queue.skipping] == ["CG_off"]
    follow(damaged, root)
    mended = told(root, version)
    assert (mended.renumbered, mended.outcome.queue_ends) == ((), whole.outcome.queue_ends)


@pytest.mark.parametrize("name", NAMES)
def test_units_that_became_zeros_are_known_by_the_offset_of_a_group(name: str, root: Path) -> None:
    version = incident(name).version
    whole = told(root, version)
    damage(root, EXPIRED, last_two(root, ZEROS))
    damaged = told(root, version)
    (queue,) = damaged.renumbered
    assert (queue.was_next_queue_offset, queue.next_queue_offset) == (ends(whole)[EXPIRED], ends(damaged)[EXPIRED])
    assert queue.was_next_queue_offset - queue.next_queue_offset == 2
    assert [each.group for each in queue.skipping] == ["CG_off"]
    assert not any(each.repair.do.startswith("copy consumequeue/") for each in damaged.advice)


@pytest.mark.parametrize("name", NAMES)
def test_damage_that_goes_on_in_the_next_file_is_known_too(name: str, root: Path) -> None:
    """The last unit of a full file, and all those of the file behind it."""
    version, file = incident(name).version, newest(root, EXPIRED)
    size, whole = file.stat().st_size // 4, ends(told(root, version))[EXPIRED]
    assert whole is not None
    units = range(size // CQ_UNIT.size - 1, whole - int(file.name) // CQ_UNIT.size)
    damage(root, EXPIRED, dict.fromkeys(units, NO_SIZE))
    for queue_file in [path for path in (root / "consumequeue").rglob("*") if path.is_file()]:
        stored = queue_file.read_bytes()
        for at in range(0, len(stored), size):
            if at == 0 or any(stored[at : at + size]):
                queue_file.with_name(f"{int(queue_file.name) + at:020d}").write_bytes(stored[at : at + size])
    settings = {"mappedFileSizeConsumeQueue": str(size)}
    (queue,) = forecast(*opened(root, version, config=settings)).renumbered
    assert (queue.was_next_queue_offset, queue.next_queue_offset) == (whole, int(file.name) // CQ_UNIT.size + units[0])


@pytest.mark.parametrize("name", NAMES)
def test_the_words_name_the_queue_the_numbers_and_the_group(name: str, root: Path) -> None:
    damage(root, EXPIRED, DAMAGES["one in the middle"])
    called = call("forecast", root, "--version", incident(name).version, "--format", "table")
    words = " ".join(called.out.decode().split())
    assert "lost by it the numbers of 1 queue, which new messages get again" in words
    (queue,) = told(root, incident(name).version).renumbered
    (group,) = queue.skipping
    skips = f"below their offset new messages are skipped by {group.group} (it stands at {group.consumer_offset:,})"
    assert f"{EXPIRED}: from 10 on, {queue.was_next_queue_offset:,} before; {skips}" in words
    assert called.code == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_unit_of_a_message_that_is_left_is_written_over(name: str, root: Path) -> None:
    """Dispatch makes such a unit again, and a copy of another one would hide its message."""
    version = incident(name).version
    (whole,) = (row for row in told(root, version).before_dispatch or () if f"{row.topic}/{row.queue_id}" == LEFT)
    assert whole.min_queue_offset is not None
    live = whole.min_queue_offset - int(newest(root, LEFT).name) // CQ_UNIT.size
    damage(root, LEFT, {max(live, 0) + 1: ZEROS})
    assert told(root, version).renumbered
    assert not any(each.repair.do.startswith("copy consumequeue/") for each in told(root, version).advice)


@needs_java
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", NAMES)
def test_the_store_classes_number_the_queues_so(name: str, version: str, tmp_path: Path) -> None:
    """Damaged, and mended as advised, after an orderly exit and after a crash."""
    stores, expected = dict[Path, dict[str, object]](), dict[Path, dict[str, int | None]]()
    for number, units in enumerate((*DAMAGES.values(), last_two(incident(name).root, NO_SIZE))):
        for exits in ("clean", "crash"):
            for is_mended in (False, True):
                root = tmp_path / f"{number}-{exits}-{is_mended}"
                copy_tree(incident(name).root, root)
                damage(root, EXPIRED, units)
                if exits == "crash":
                    (root / "abort").touch()
                if is_mended:
                    follow(told(root, version), root)
                played = told(root, version)
                stores[root], expected[root] = settings(played), ends(played)
                assert bool(played.renumbered) is not is_mended
    found = recover_all(stores, version)
    numbers = {root: {queue: row["max"] for queue, row in found[root]["quiet"]["queues"].items()} for root in stores}
    for root, queues in numbers.items():
        assert {queue: queues.get(queue) for queue in expected[root]} == expected[root], root.name


def settings(played: Forecast) -> dict[str, Any]:
    names = ("mappedFileSizeCommitLog", "mappedFileSizeConsumeQueue", "maxHashSlotNum", "maxIndexNum")
    return {name: played.settings.as_config()[name] for name in names}


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_that_no_log_file_could_hold_is_of_no_expired_message(name: str, root: Path) -> None:
    huge = (236).to_bytes(8, "big") + (1 << 30).to_bytes(4, "big") + bytes(8)
    damage(root, EXPIRED, {154: huge})
    found = verify(*opened(root, incident(name).version)).findings
    assert "unit_into_deleted_log" in {each.kind for each in found}
