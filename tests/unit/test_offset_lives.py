"""Which life of its topic a group's offset is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from parsers.store.store_file import QueueKey
from recovery.lives.offset_lives import OffsetLife, doubtful_offsets
from tests.support.life_logs import (
    decided,
    in_turn,
    known,
    log_of,
    run,
    served,
)


def doubts(root: Path, offsets: dict[int, int], ends: tuple[int, int] = (8, 8)) -> dict[int, tuple[OffsetLife, int]]:
    """Of a group of a topic whose former life had 10 messages in each of two queues, and whose present one `ends`."""
    puts = [*in_turn("T", 2, 10), *run("T", 0, 0, ends[0]), *run("T", 1, 0, ends[1])]
    records = log_of(root, puts)
    lives = decided(root, known("T"), served(records, *range(20, len(records))))
    living = {("T", queue_id): (0, end) for queue_id, end in enumerate(ends)}
    found = doubtful_offsets(lives, {("G", "T"): offsets}, living)
    return {each.queue_id: (each.life, each.skipped) for each in found}


def test_an_offset_beyond_the_living_queue_is_of_the_former_life(tmp_path: Path) -> None:
    assert doubts(tmp_path, {0: 10, 1: 9}) == {0: (OffsetLife.FORMER, 8), 1: (OffsetLife.FORMER, 8)}


def test_an_offset_that_both_lives_have_is_open(tmp_path: Path) -> None:
    assert doubts(tmp_path, {0: 5, 1: 8}) == {0: (OffsetLife.UNKNOWN, 5), 1: (OffsetLife.UNKNOWN, 8)}


def test_a_group_at_the_end_of_every_queue_consumes_the_present_life(tmp_path: Path) -> None:
    assert doubts(tmp_path, {0: 8, 1: 8}) == {}


def test_where_both_lives_end_alike_the_end_proves_nothing(tmp_path: Path) -> None:
    assert doubts(tmp_path, {0: 10, 1: 10}, (10, 10)) == {0: (OffsetLife.UNKNOWN, 10), 1: (OffsetLife.UNKNOWN, 10)}


def test_a_group_beyond_the_former_life_on_one_queue_is_believed_on_the_others(tmp_path: Path) -> None:
    assert doubts(tmp_path, {0: 12, 1: 4}, (15, 15)) == {}


def test_an_offset_that_no_life_reached_is_left_to_the_other_rules(tmp_path: Path) -> None:
    assert doubts(tmp_path, {0: 11}) == {}


class AskedOnly(Mapping[QueueKey, tuple[int, int]]):
    """The ends of a store's queues, which may be asked for one by one alone."""

    def __init__(self, ends: dict[QueueKey, tuple[int, int]]) -> None:
        self._ends = ends

    def __getitem__(self, key: QueueKey) -> tuple[int, int]:
        return self._ends[key]

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[QueueKey]:
        raise AssertionError("all queues of the store were gone through for one group")


def test_a_group_asks_for_the_ends_of_its_topic_alone(tmp_path: Path) -> None:
    puts = [*in_turn("T", 2, 10), *run("T", 0, 0, 8), *run("T", 1, 0, 8)]
    records = log_of(tmp_path, puts)
    lives = decided(tmp_path, known("T"), served(records, *range(20, len(records))))
    ends = AskedOnly({("T", 0): (0, 8), ("T", 1): (0, 8)})
    (found,) = doubtful_offsets(lives, {("G", "T"): {0: 9}}, ends)
    assert (found.life, found.end) == (OffsetLife.FORMER, 8)
