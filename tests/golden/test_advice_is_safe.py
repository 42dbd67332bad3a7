"""What forecast advises can be followed to the letter: what it says can be read can, and each cost is counted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import read_segment
from parsers.store.store import open_store
from parsers.store.store_file import StoreFile
from recovery.forecast.advice import Advice
from recovery.forecast.forecast import Forecast, forecast
from recovery.verify.verify import verify
from tests.support.opened import opened
from tests.support.random_damage import damaged_store

COPY = "copy commitlog/"


@pytest.fixture
def root() -> Iterator[Path]:
    with damaged_store("s533-clean", []) as root:
        yield root


def told(root: Path) -> Forecast:
    return forecast(*opened(root, "5.3.3"))


def log(root: Path) -> list[StoreFile]:
    return [file for file in open_store(root).commitlog if any(file.path.read_bytes())]


def places(root: Path) -> list[int]:
    """Physical offsets of all messages."""
    batches = read_commitlog(open_store(root), columns=["physical_offset"])
    return [at for batch in batches for at in batch["physical_offset"].to_pylist()]


def rows(file: StoreFile) -> int:
    return sum(batch.num_rows for batch in read_segment(file, columns=["queue_id"]))


def moves(advice: Forecast, file: StoreFile) -> Advice:
    return next(
        each
        for each in advice.advice
        if f"commitlog/{file.name}" in each.repair.files and each.repair.do.startswith("move")
    )


def test_moving_a_log_file_away_costs_its_messages(root: Path) -> None:
    middle = log(root)[1]
    os.truncate(middle.path, middle.size // 2)
    moved = moves(told(root), open_store(root).commitlog[1])
    cut = open_store(root).commitlog[1]
    assert moved.then is not None
    assert moved.then.lost_messages == rows(cut) > 0
    assert f"{rows(cut)} readable messages of the moved log files are not served" in moved.repair.costs
    assert not moved.then.losses_are_known  # the record that was cut in two


def test_a_message_that_is_whole_once_its_file_is_extended_is_promised(root: Path) -> None:
    """The cut is in its properties: a broker that finds zeros in their place serves it."""
    last, end = log(root)[-1], places(root)[-3]
    os.truncate(last.path, end - (last.base_offset or 0) - 5)
    (advice,) = [each for each in told(root).advice if each.repair.do.startswith("extend")]
    assert advice.then is not None
    assert advice.then.log_end == end
    os.truncate(last.path, last.size)
    assert told(root).outcome == advice.then


def test_a_checkpoint_is_not_to_be_removed_where_the_log_would_end_in_an_older_file(root: Path) -> None:
    late = (1 << 42).to_bytes(8, "big")
    with (root / "checkpoint").open("r+b") as file:
        file.write(late)
    with log(root)[0].path.open("r+b") as file:
        file.seek(places(root)[10] + 4)  # a magic code
        file.write(late)
    found = {each.kind: each.rule.repair for each in verify(*opened(root, "5.3.3")).findings}
    assert told(root).outcome.lost_messages == 0
    assert told(root).advice == ()
    assert found["checkpoint_later_than_data"].startswith("None needed without an `abort` file")
    (root / "checkpoint").unlink()
    (root / "abort").touch()
    assert told(root).outcome.lost_messages > 0


def test_a_copy_of_a_log_file_costs_nothing(root: Path) -> None:
    """Its messages are in the log as well."""
    first = log(root)[0]
    (first.path.parent / "copy-of-0").write_bytes(first.path.read_bytes())
    found = [each for each in told(root).advice if "commitlog/copy-of-0" in each.repair.files]
    assert [each.then and each.then.lost_messages for each in found] == [0]
    assert [each.then and each.then.losses_are_known for each in found] == [True]


def test_zeros_cannot_be_read_from_a_copy(root: Path) -> None:
    """The end of the log never reached the disk; the queues have units for it."""
    last = log(root)[-1]
    (root / "abort").touch()
    newest = places(root)[-1]
    with last.path.open("r+b") as file:
        file.seek(newest - (last.base_offset or 0))
        file.write(bytes(last.size - file.tell()))
    found = told(root)
    assert [loss.readable for loss in found.lost if loss.what == "message"] == [False]
    assert not any(each.repair.do.startswith(COPY) for each in found.advice)


def test_messages_behind_damage_can_be_read_from_a_copy(root: Path) -> None:
    (root / "abort").touch()
    (root / "checkpoint").unlink()
    messages_at = places(root)
    damaged = messages_at[-10]
    last = next(file for file in log(root) if (file.base_offset or 0) <= damaged < (file.base_offset or 0) + file.size)
    with last.path.open("r+b") as file:
        file.seek(damaged - (last.base_offset or 0))
        file.write(bytes(60))
    found = told(root)
    messages = [loss for loss in found.lost if loss.what == "message"]
    assert {loss.physical_offset for loss in messages if loss.readable} == set(messages_at[-9:])
    assert found.outcome.readable_messages == 9
    copies = [each.repair.do for each in found.advice if each.repair.do.startswith(COPY)]
    assert [f"9 of the {len(messages)} messages" in copy for copy in copies] == [True]
