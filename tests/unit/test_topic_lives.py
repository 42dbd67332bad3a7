"""The lives of topics on small logs: what starts again, what was deleted, what cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store.store import open_store
from recovery.lives.life import NEVER, Ground
from recovery.lives.numbering import FIRST, LAST, MESSAGES, NumberingNotes, joined_numbering
from recovery.lives.topics_known import TopicsKnown
from recovery.scan.log_runs import runs_between
from recovery.scan.scanner import LogScanner
from recovery.verify.checks.lives import OPEN, check_lives
from recovery.verify.settle.outline import Part
from tests.support.build_store import FIRST_MS, STEP_MS
from tests.support.life_logs import (
    EARLIER,
    LATER,
    RULES,
    SECOND,
    decided,
    event,
    in_turn,
    known,
    log_of,
    numbering,
    run,
    served,
    told,
    units,
)


def test_a_topic_that_starts_again_with_fewer_queues_has_two_lives(tmp_path: Path) -> None:
    records = log_of(tmp_path, [*in_turn("T", 4, 5), *in_turn("T", 2, 3)])
    lives = decided(tmp_path, known("T"), served(records, *range(20, 26)))
    former, living = lives.topics["T"]
    assert (former.state, former.messages, former.certain) == ("deleted", 20, True)
    assert (living.state, living.messages, living.first_physical_offset) == (
        "recreated",
        6,
        records[20].physical_offset,
    )
    starts = {0: 20, 1: 21, 2: 20, 3: 20}
    assert lives.living_from == {("T", queue_id): records[at].physical_offset for queue_id, at in starts.items()}


def test_a_queue_that_only_the_new_life_has_may_start_it(tmp_path: Path) -> None:
    puts = [*in_turn("T", 2, 4), ("T", 3, 0), ("T", 2, 0), ("T", 0, 0), ("T", 1, 0), ("T", 3, 1)]
    records = log_of(tmp_path, puts)
    _, living = decided(tmp_path, known("T"), served(records, 8, 9, 10, 11, 12)).topics["T"]
    assert living.first_physical_offset == records[8].physical_offset


def test_a_producer_that_goes_on_sending_may_meet_queues_that_are_not_deleted_yet(tmp_path: Path) -> None:
    puts = [*in_turn("T", 2, 20), ("T", 0, 0), ("T", 1, 20), ("T", 0, 1), ("T", 1, 0), ("T", 0, 2), ("T", 1, 1)]
    records = log_of(tmp_path, puts)
    lives = decided(tmp_path, known("T"), served(records, 40, 42, 43, 44, 45))
    assert [life.messages for life in lives.topics["T"]] == [41, 5]
    assert lives.life_at(("T", 1), records[41].physical_offset) == lives.topics["T"][0]
    assert lives.living_from == {("T", 0): records[40].physical_offset, ("T", 1): records[43].physical_offset}
    assert not lives.restarted


def test_three_lives_are_told_apart(tmp_path: Path) -> None:
    records = log_of(tmp_path, [*in_turn("T", 2, 3), *in_turn("T", 2, 2), *in_turn("T", 3, 1)])
    lives = decided(tmp_path, known("T"), served(records, 10, 11, 12)).topics["T"]
    assert [(life.messages, life.state) for life in lives] == [(6, "deleted"), (4, "deleted"), (3, "recreated")]


def test_a_life_may_begin_among_messages_that_the_log_lost(tmp_path: Path) -> None:
    records = log_of(tmp_path, [*run("T", 0, 0, 8), *run("lost", 0, 0, 12), *run("T", 0, 12, 20)])
    queues = units(records, {number: 8 + number for number in range(20)})
    former, living = decided(tmp_path, known("T"), queues).topics["T"]
    assert [(life.state, life.messages) for life in (former, living)] == [("deleted", 8), ("recreated", 8)]
    assert living.first_physical_offset == records[20].physical_offset


@pytest.mark.parametrize("first_unit", [0, 8, 16])
def test_messages_that_the_log_lost_begin_no_life(tmp_path: Path, first_unit: int) -> None:
    """The units before the gap lead to the messages there, or have expired; or the units lead elsewhere everywhere."""
    records = log_of(tmp_path, [*run("T", 0, 0, 8), *run("lost", 0, 0, 12), *run("T", 0, 20, 28)])
    of_queue = units(records, {number: number for number in range(first_unit, 28)})
    (life,) = decided(tmp_path, known("T"), of_queue).topics["T"]
    assert (life.state, life.messages) == ("alive", 16)
    misdirected = units(records, {number: 8 + number % 12 for number in range(28)})
    (life,) = decided(tmp_path, known("T"), misdirected).topics["T"]
    assert (life.state, life.messages) == ("alive", 16)


def test_a_damaged_number_starts_no_life(tmp_path: Path) -> None:
    puts = [*run("T", 0, 0, 5), ("T", 0, 0), *run("T", 0, 6, 9), ("T", 0, 2), *run("T", 0, 10, 12)]
    records = log_of(tmp_path, puts)
    for queues in ({}, served(records, *range(5))):
        lives = decided(tmp_path, known("T"), queues)
        assert len(lives.topics["T"]) == 1
        assert not lives.restarted


@pytest.mark.parametrize("wrong", [0, 3, 2**31 - 1])
def test_a_damaged_number_is_no_number_of_its_queue(wrong: int, tmp_path: Path) -> None:
    log_of(tmp_path, [*run("T", 0, 0, 5), ("T", 0, wrong), *run("T", 0, 6, 9)])
    assert numbering(tmp_path)["T", 0][:, [FIRST, LAST, MESSAGES]].tolist() == [[0, 8, 9]]


def test_a_queue_that_starts_again_alone_lost_its_files(tmp_path: Path) -> None:
    puts = [*in_turn("T", 2, 4), ("T", 0, 4), ("T", 1, 0), *run("T", 0, 5, 20), ("T", 1, 1)]
    records = log_of(tmp_path, puts)
    lives = decided(tmp_path, known("T"), served(records, 0, 2, 4, 6, 8, *range(9, len(records))))
    assert [life.state for life in lives.topics["T"]] == ["alive"]
    assert lives.restarted["T", 1].former.messages == 4
    assert lives.restarted["T", 1].lost_files
    assert lives.living_from == {("T", 1): records[9].physical_offset}


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("config", [known("T"), TopicsKnown()])
def test_messages_that_a_queue_holds_are_of_no_former_life(tmp_path: Path, config: TopicsKnown, first: int) -> None:
    """T was deleted, and queue 0 got no message before the next start dispatched its former ones again."""
    former = [("T", queue_id, offset) for offset in range(first, 8) for queue_id in range(3)]
    records = log_of(tmp_path, [*former, ("T", 1, 0), ("T", 2, 0), ("T", 1, 1)])
    behind, of_queue = range(len(former), len(records)), range(0, len(former), 3)
    whole, first_lost, last_lost = list(of_queue), list(of_queue)[2:], list(of_queue)[:-2]
    for held in (whole, first_lost, last_lost):
        lives = decided(tmp_path, config, served(records, *held, *behind))
        (life,) = lives.topics["T"]
        assert (life.state, life.certain, life.ground) == ("alive", False, Ground.SERVED_FROM_BEFORE)
        assert set(lives.restarted) == set(lives.living_from) == {("T", 1), ("T", 2)}
        assert [finding.evidence[1].startswith(OPEN) for finding in check_lives(lives).findings] == [True, True]
        assert lives.living_end(("T", 0), 99) == 99
        assert lives.living_firsts() == {("T", 0): first}, "the others are no queue's any more, or begin anew"
    assert [life.state for life in decided(tmp_path, config, served(records, *behind)).topics["T"]] == [
        "deleted",
        "recreated",
    ]


def test_of_a_bare_log_nobody_knows_which_queues_held_the_messages_before(tmp_path: Path) -> None:
    records = log_of(tmp_path, [*in_turn("T", 3, 8), ("T", 1, 0), ("T", 2, 0), ("T", 1, 1)])
    lives, (life,) = told(tmp_path, TopicsKnown(), {})
    assert (life.ground, life.certain, lives.undecided) == (Ground.BARE_LOG, False, (life,))
    assert set(lives.living_from) == {("T", 1), ("T", 2)}
    deleted = event("deleted", records[23].store_timestamp_ms - SECOND)
    assert [life.state for life in told(tmp_path, TopicsKnown(), {}, deleted)[1]] == ["deleted", "vanished"]


@pytest.mark.parametrize("first", [0, 3])
def test_a_queue_whose_units_go_on_behind_a_message_without_one_did_not_start_again(tmp_path: Path, first: int) -> None:
    """The message that got number 0 again is in no queue: dispatch took its unit for one that is there."""
    former = [("T", queue_id, offset) for offset in range(first, 8) for queue_id in range(2)]
    records = log_of(tmp_path, [*former, ("T", 0, 0), ("T", 1, 0), ("T", 0, 8), ("T", 0, 9), ("T", 1, 1)])
    end = len(former)
    held = [*range(0, end, 2), end + 1, end + 2, end + 3, end + 4]
    lives = decided(tmp_path, known("T"), served(records, *held))
    assert [life.state for life in lives.topics["T"]] == ["alive"]
    assert set(lives.restarted) == set(lives.living_from) == {("T", 1)}


def test_a_unit_of_a_message_behind_the_deletion_holds_none_before_it(tmp_path: Path) -> None:
    """A producer met queue 1 before it was deleted, and dispatch gave the message a unit of the new queue."""
    puts = [*in_turn("T", 2, 20), ("T", 0, 0), ("T", 1, 20), ("T", 0, 1)]
    records = log_of(tmp_path, puts)
    lives = decided(tmp_path, known("T"), served(records, 40, 41, 42))
    assert [life.state for life in lives.topics["T"]] == ["deleted", "recreated"]
    assert lives.living_from == {("T", queue_id): records[40].physical_offset for queue_id in (0, 1)}


def test_units_of_another_queue_hold_no_message_of_a_former_life(tmp_path: Path) -> None:
    """Two queue files were swapped: units of U stand where those of queue 0 were, each leading between its messages."""
    former = [(topic, queue_id, n) for n in range(8) for topic, queue_id in (("U", 0), ("T", 0), ("T", 1))]
    records = log_of(tmp_path, [*former, ("T", 0, 0), ("T", 1, 0), ("T", 0, 1), ("T", 1, 1), ("U", 0, 8)])
    of_u, of_t = [*range(0, 24, 3), 28], [25, 27]
    swapped = units(records, dict(enumerate(of_u))) | served(records, *of_t)
    lives = decided(tmp_path, known("T", "U"), swapped)
    assert [life.state for life in lives.topics["T"]] == ["deleted", "recreated"]
    assert not lives.restarted


def test_a_topics_json_older_than_the_messages_saw_no_deletion(tmp_path: Path) -> None:
    records = log_of(tmp_path, [*run("T", 0, 0, 4), *run("T", 0, 0, 2)])
    lives = decided(tmp_path, known("T", changed_ms=EARLIER), served(records, 4, 5))
    assert [life.state for life in lives.topics["T"]] == ["alive"]
    assert set(lives.restarted) == {("T", 0)}


@pytest.mark.parametrize(
    ("config", "ground"),
    [
        (known(), Ground.NOT_CONFIGURED),
        (known(changed_ms=FIRST_MS + STEP_MS), Ground.CONFIG_OLDER),
        (known("T"), Ground.CREATED_OR_LOST),
        (known("T", changed_ms=EARLIER), Ground.QUEUES_LOST),
        (TopicsKnown(frozenset({"Others"}), frozenset({"Others"}), None), Ground.CONFIG_OLDER),
        (TopicsKnown(), Ground.NO_CONFIG),
    ],
)
def test_a_topic_without_queues_is_deleted_only_where_the_configuration_shows_it(
    tmp_path: Path, config: TopicsKnown, ground: Ground
) -> None:
    records = log_of(tmp_path, [*in_turn("T", 2, 3), ("Others", 0, 0)])
    lives = decided(tmp_path, config, served(records, 6))
    (life,) = lives.topics["T"]
    assert life.ground is ground
    assert lives.is_deleted("T") == (ground is Ground.NOT_CONFIGURED)
    assert set(lives.living_from.values()) == ({NEVER} if ground is Ground.NOT_CONFIGURED else set())


@pytest.mark.parametrize(
    ("config", "ground"),
    [
        (known("T"), Ground.ALL_QUEUES_LOST),
        (known(), Ground.NOT_CONFIGURED),
        (TopicsKnown(frozenset({"DefaultCluster"}), frozenset(), LATER), Ground.NOTHING_LEFT),
        (TopicsKnown(), Ground.BARE_LOG),
    ],
)
def test_a_store_without_any_queue(tmp_path: Path, config: TopicsKnown, ground: Ground) -> None:
    log_of(tmp_path, in_turn("T", 2, 3))
    (life,) = decided(tmp_path, config, {}).topics["T"]
    assert life.ground is ground


def test_nobody_deletes_a_topic_of_the_brokers_own(tmp_path: Path) -> None:
    log_of(tmp_path, run("RMQ_SYS_TRANS_OP_HALF_TOPIC", 0, 0, 3))
    (life,) = decided(tmp_path, known(), {}).topics["RMQ_SYS_TRANS_OP_HALF_TOPIC"]
    assert (life.state, life.ground) == ("vanished", Ground.BROKERS_OWN)


def test_parts_of_a_log_join_to_the_numbering_of_the_whole(tmp_path: Path) -> None:
    log_of(tmp_path, [*in_turn("T", 3, 20), *in_turn("T", 3, 15), *run("U", 0, 0, 30)])
    whole = numbering(tmp_path)
    found = []
    for file in open_store(tmp_path).commitlog:
        for part in (Part(file, 0, 1500), Part(file, 1500, file.size)):
            scanner = LogScanner(RULES)
            notes = NumberingNotes(scanner.topics)
            for each in runs_between(part.file, part.start, part.end, lambda gap: None):
                notes.take(scanner.scan(each.data, each.positions))
            found.append(notes.close())
    joined = joined_numbering(found)
    assert joined.keys() == whole.keys()
    for key, rows in whole.items():
        assert joined[key][:, FIRST:].tolist() == rows[:, FIRST:].tolist()
    assert whole["T", 1][:, [FIRST, LAST, MESSAGES]].tolist() == [[0, 19, 20], [0, 14, 15]]
