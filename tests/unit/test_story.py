"""The story of one message: each piece of evidence becomes a step, and what no evidence tells is said."""

from __future__ import annotations

from dataclasses import replace

from pipelines.answers.journey.step import StoredRecord
from pipelines.answers.journey.steps import Commit, KeptOffset, Trail, story
from rebalance.diagnosis.intervals import OwnershipInterval

MESSAGE = StoredRecord("Orders", 3, 10, 5000, 1_000, "1.2.3.4:5", "AA", "U1", 0, "none")


def trail(**changes: object) -> Trail:
    return replace(Trail(MESSAGE, [MESSAGE], 5000, ["index/1"]), **changes)


def told(given: Trail) -> list[tuple[str, str | None, int | None, bool]]:
    return [(step.step, step.group, step.at_ms, step.certain) for step in story(given)]


def owner(client: str, begin: tuple[int | None, int], end: tuple[int, int | None]) -> OwnershipInterval:
    return OwnershipInterval(
        "G", "Orders", "b", 3, client, 1, begin[0], begin[1], end[0], end[1], None, "started", "left", "f:1", "f:2"
    )


def test_without_consumers_it_says_so() -> None:
    assert told(trail()) == [
        ("stored", None, 1_000, True),
        ("queued", None, None, True),
        ("indexed", None, None, True),
        ("consumed", None, None, False),
    ]


def test_the_brokers_check_past_a_half_message_is_no_consumption() -> None:
    half = replace(MESSAGE, topic="RMQ_SYS_TRANS_HALF_TOPIC", transaction_type="prepared")
    commits = [Commit(2_000, "CID_RMQ_SYS_TRANS", None, 99, "wire:1")]
    kept = [KeptOffset(3_000, "CID_RMQ_SYS_TRANS", 99)]
    steps = story(trail(message=half, records=[half], commits=commits, kept=kept))
    assert "committed" not in {step.step for step in steps}
    (last,) = [step for step in steps if step.step == "consumed"]
    assert (last.group, last.certain) == (None, False)
    assert "`transactions`" in last.what
    (last,) = [s for s in story(trail(message=half, records=[half, MESSAGE])) if s.step == "consumed"]
    assert last.what == "nothing tells who consumed it"


def test_a_message_no_unit_points_to_is_invisible() -> None:
    words = [step.what for step in story(trail(unit_points_to=None)) if step.step == "queued"]
    assert words == ["no unit 10: consumers cannot see it"]
    words = [step.what for step in story(trail(unit_points_to=77)) if step.step == "queued"]
    assert words == ["unit 10 points to 77 instead: consumers cannot see it"]
    prepared = replace(MESSAGE, transaction_type="prepared")
    words = [step.what for step in story(trail(message=prepared, unit_points_to=None)) if step.step == "queued"]
    assert words[0].startswith("not queued")


def test_the_first_commit_past_it_counts() -> None:
    commits = [
        Commit(900, "G", "c0", 99, "before it was stored"),
        Commit(1_500, "G", "c1", 10, "up to it, not past it"),
        Commit(2_500, "G", "c2", 12, "later"),
        Commit(2_000, "G", "c1", 11, "w:7"),
    ]
    committed = [step for step in story(trail(commits=commits)) if step.step == "committed"]
    assert [(step.at_ms, step.client_id, step.evidence) for step in committed] == [(2_000, "c1", "w:7")]


def test_kept_offsets_give_a_window() -> None:
    kept = [KeptOffset(2_000, "G", 10), KeptOffset(3_000, "G", 15), KeptOffset(3_000, "H", None)]
    assert told(trail(kept=kept)) == [
        ("stored", None, 1_000, True),
        ("queued", None, None, True),
        ("indexed", None, None, True),
        ("committed", "G", 3_000, False),
        ("consumed", "H", 3_000, True),
    ]
    assert "not yet in the copy before" in next(s.what for s in story(trail(kept=kept)) if s.step == "committed")
    behind = next(step for step in story(trail(kept=[KeptOffset(2_000, "G", 10)])) if step.step == "consumed")
    assert behind.what == "not yet: next is 10"


def test_owners_between_storing_and_commit() -> None:
    intervals = [
        owner("gone", (None, 100), (500, 600)),
        owner("sure", (800, 900), (1_500, 1_600)),
        owner("maybe", (1_500, 1_600), (9_000, None)),
        owner("late", (4_000, 4_100), (9_000, None)),
    ]
    commits = [Commit(2_000, "G", "x", 11, "w:7", "b")]
    owned = [step for step in story(trail(intervals=intervals, commits=commits, broker="b")) if step.step == "owned"]
    assert [(step.client_id, step.certain) for step in owned] == [("sure", True), ("maybe", False)]


def test_whoever_took_the_queue_over_at_the_message_or_below_got_it_again() -> None:
    """What began after the commit past it began behind it, unless that commit was on its way."""
    later = {"on its way": (2_400, None), "behind": (9_000, None), "at it": (9_000, 10), "past it": (9_000, 11)}
    for name, (begin_ms, start) in later.items():
        again = replace(owner(name, (begin_ms, begin_ms), (90_000, None)), start_queue_offset=start)
        given = trail(commits=[Commit(2_000, "G", "c1", 11, "w:7", "b")], intervals=[again], broker="b")
        owners = [step.client_id for step in story(given) if step.step == "owned" and "came again" in step.what]
        assert owners == ([name] if name in ("on its way", "at it") else [])


def test_copies_are_retries_and_dead_letters() -> None:
    records = [
        MESSAGE,
        replace(MESSAGE, topic="SCHEDULE_TOPIC_XXXX", stored_ms=1_100),
        replace(MESSAGE, topic="%RETRY%G", group="G", stored_ms=1_200, reconsume_times=1),
        replace(MESSAGE, topic="%DLQ%G", group="G", stored_ms=1_300),
    ]
    steps = [(step.step, step.group) for step in story(trail(records=records)) if step.at_ms is not None]
    assert steps == [("stored", None), ("stored", None), ("retried", "G"), ("given_up", "G")]


def test_another_broker_has_a_queue_of_that_number() -> None:
    commits = [Commit(2_000, "G", "c1", 11, "w:7", "b"), Commit(1_500, "G", "c2", 40, "w:8", "other")]
    committed = [step for step in story(trail(commits=commits)) if step.step == "committed"]
    assert [(step.client_id, step.certain) for step in committed] == [("c2", False), ("c1", False)]
    assert "on other, which may be another broker" in committed[0].what
    known = [step for step in story(trail(commits=commits, broker="b")) if step.step == "committed"]
    assert [(step.client_id, step.certain) for step in known] == [("c1", True)]


def test_recordings_of_one_broker_are_certain_only_if_it_is_the_message_s() -> None:
    commits = [Commit(2_000, "G", "c1", 11, "w:7", "b")]
    intervals = [owner("sure", (800, 900), (1_500, 1_600))]
    for broker, certain in ((None, False), ("other", False), ("b", True)):
        steps = story(trail(commits=commits, intervals=intervals, broker=broker))
        told = {step.step: step for step in steps if step.step in ("owned", "committed")}
        assert {name: step.certain for name, step in told.items()} == {"owned": certain, "committed": certain}, broker
        assert ("on b, which may be another broker" in told["committed"].what) == (not certain), broker
