"""What two states of a configuration file differ in, and what becomes of a group: rules without a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from parsers.config.document import Document
from parsers.store.store_file import StoreFile
from recovery.lives.config_states import (
    BACKWARDS,
    MADE_BY_A_START,
    NOT_COUNTED,
    ConfigState,
    Happening,
    changes_between,
    state_of,
    told_settings,
)
from recovery.lives.group_life import GroupLeft, GroupState, Seen, judge_group
from recovery.lives.life import TopicLives
from recovery.lives.story import LifeEvent, story
from recovery.lives.topics_known import TopicsKnown

FILE = StoreFile(Path("topics.json"), "config", 0, 0)
LEFT = GroupLeft("G", True, False, 1, 0, 0, None, 0, 0, None)
ABSENT, CONNECTED = Seen(False, 5, 9, 9), Seen(True, None, 9, 9)


def state(counter: int | None, changed_ms: int, **queues: int) -> ConfigState:
    entries = {name: {"readQueueNums": str(count)} for name, count in queues.items()}
    return ConfigState(entries, changed_ms + 50, changed_ms, counter, f"file {counter}")


def test_one_count_is_one_instant() -> None:
    (change,) = changes_between([state(8, 200, A=4, B=4), state(7, 100, A=4)])
    assert (change.name, change.happening, change.after_ms, change.until_ms) == ("B", Happening.CREATED, 200, 200)
    assert change.why_unsure == ""


def test_what_a_start_adds_is_not_counted() -> None:
    """TopicConfigManager#init puts system topics without nextVersion."""
    beside = {"User": 4, "rmq_sys_new": 1}
    found = {change.name: change for change in changes_between([state(0, 100), state(1, 900, **beside)])}
    assert {name: (change.after_ms, change.until_ms) for name, change in found.items()} == {
        "User": (100, 900),
        "rmq_sys_new": (100, 950),
    }
    assert found["User"].why_unsure == NOT_COUNTED
    (alone,) = changes_between([state(0, 100), state(1, 900, rmq_sys_new=1)])
    assert (alone.after_ms, alone.until_ms, alone.why_unsure) == (100, 950, MADE_BY_A_START)


def test_more_counts_are_a_window() -> None:
    found = {change.name: change for change in changes_between([state(1, 100, A=4, B=2), state(9, 900, A=8, C=1)])}
    assert [found[name].happening for name in "ABC"] == [Happening.CHANGED, Happening.DELETED, Happening.CREATED]
    assert {(change.after_ms, change.until_ms) for change in found.values()} == {(100, 900)}
    assert "8 times" in found["A"].why_unsure
    assert found["B"].why_unsure == found["C"].why_unsure == ""


@pytest.mark.parametrize("counter", [None, 3, 4])
def test_a_count_that_does_not_rise_is_not_certain(counter: int | None) -> None:
    (change,) = changes_between([state(4, 100, A=4), state(counter, 900, A=8)])
    assert change.why_unsure == BACKWARDS


def test_a_file_says_what_a_line_says() -> None:
    """The permission as letters, the attributes by their keys."""
    stored = {"readQueueNums": 4, "perm": 6, "order": False, "attributes": {"b": "2", "a": "1"}, "topicName": "T"}
    document = Document(FILE, {"topicConfigTable": {"T": stored, "odd": 3}, "dataVersion": {"counter": 2}})
    told = {"topicName": "T", "readQueueNums": "4", "perm": "RW-", "order": "false", "attributes": "{b=2, a=1}"}
    assert state_of("topic", document, 7, "f").entries == {"T": told_settings("topic", told)}


def test_without_times_the_counters_say_which_file_is_the_older() -> None:
    """The .bak was written last: when it was put aside."""
    newer = replace(state(8, 100, A=4, B=4), changed_ms=None)
    older = replace(state(7, 900, A=4), changed_ms=None)
    assert [(change.name, change.happening) for change in changes_between([newer, older])] == [("B", Happening.CREATED)]


def test_the_first_brokers_name_the_time_of_a_change_otherwise() -> None:
    document = Document(FILE, {"topicConfigTable": {}, "dataVersion": {"counter": 9, "timestatmp": 1795332936190}})
    assert document.data_version.timestamp == 1795332936190


def line(happening: Happening, at_ms: int, queues: int | None) -> LifeEvent:
    after = None if queues is None else {"readQueueNums": str(queues)}
    return LifeEvent(
        "topic", "A", happening, at_ms, at_ms + 999, None, after, None, certain=True, reason=None, evidence=str(at_ms)
    )


def told(*lines: LifeEvent, states: tuple[ConfigState, ...] = ()) -> list[tuple[Happening, str]]:
    changes = list(changes_between(states))
    found = story(lines, {"topic": changes, "group": []}, TopicLives(), TopicsKnown())
    return [(event.happening, event.evidence) for event in found if event.name == "A"]


def test_a_difference_that_a_line_told_is_told_once() -> None:
    states = state(1, 50_000), state(2, 100_000, A=4)
    assert told(line(Happening.CREATED, 100_000, 4), states=states) == [(Happening.CREATED, "100000")]


def test_a_difference_that_the_lines_do_not_end_with_is_told_beside_them() -> None:
    """The log was cut: its last line is of 4 queues, the file has 8."""
    states = state(1, 50_000), state(3, 200_000, A=8)
    both = [(Happening.CREATED, "100000"), (Happening.CREATED, "file 1 and file 3")]
    assert told(line(Happening.CREATED, 100_000, 4), states=states) == both


def test_what_is_created_behind_a_deletion_is_created_again() -> None:
    lines = line(Happening.CREATED, 0, 4), line(Happening.DELETED, 5_000, None), line(Happening.CREATED, 9_000, 2)
    assert [happening for happening, _ in told(*lines)] == [
        Happening.CREATED,
        Happening.DELETED,
        Happening.CREATED_AGAIN,
    ]


def test_only_an_absent_group_with_nothing_left_loses_nothing() -> None:
    assert judge_group(LEFT, ABSENT).loses_nothing is True
    assert judge_group(LEFT, Seen()).loses_nothing is None
    assert judge_group(LEFT, CONNECTED).loses_nothing is False
    assert judge_group(replace(LEFT, unread=3), ABSENT).loses_nothing is False
    assert judge_group(replace(LEFT, dead_letters=3), Seen()).loses_nothing is False
    assert judge_group(replace(LEFT, doubtful_offsets=1, unread=None), ABSENT).loses_nothing is None
    assert judge_group(replace(LEFT, unread=None, why_unread="w"), ABSENT).reason == "w"
    assert judge_group(replace(LEFT, is_system=True), ABSENT).state is GroupState.SYSTEM
