"""Bounds on a client clock's lead, from what both sides recorded."""

from __future__ import annotations

from rebalance.facts import (
    BrokerStarted,
    ChannelConnected,
    ClientUnregistered,
    ConsumerStarting,
    Fact,
    Notified,
    SubscriptionChanged,
    SubscriptionVersionBumped,
)
from rebalance.facts.clock_offset import ClockOffset, by_clock, clock_ahead, was_set, wrong_clocks


def client(lead_ms: int) -> list[Fact]:
    """A client that starts at 10 s, hears of its own join 40 ms later, and changes its queues at 20 s, broker time."""
    starting = ConsumerStarting(at_ms=9_000 + lead_ms, source="c1", group="g", client_id="c", process=1)
    heard = [
        Notified(at_ms=at_ms + lead_ms, source="c1", group="g", client_id="c", process=1) for at_ms in (10_040, 15_000)
    ]
    version = 20_000 + lead_ms
    bumped = SubscriptionVersionBumped(
        at_ms=version,
        source="c1",
        group="g",
        client_id="c",
        process=1,
        topic="T",
        old_sub_version=1,
        new_sub_version=version,
    )
    return [starting, *heard, bumped]


def broker(lead_ms: int, *, late_ms: int = 0) -> list[Fact]:
    """The broker of that client; it heard of the change 25 ms later."""
    at_ms = 20_025 // (late_ms + 1) * (late_ms + 1)
    return [
        BrokerStarted(at_ms=1_000, source="b"),
        ChannelConnected(at_ms=10_000, source="b", group="g", remote="r", client_id="c"),
        SubscriptionChanged(
            at_ms=at_ms,
            late_ms=late_ms,
            source="b",
            group="g",
            topic="T",
            change="replace",
            sub_version=20_000 + lead_ms,
        ),
    ]


def test_the_lead_lies_between_what_was_sent_and_what_was_heard() -> None:
    assert clock_ahead(client(0), broker(0)) == ClockOffset(-25, 40)
    assert clock_ahead(client(5_000), broker(5_000)) == ClockOffset(4_975, 5_040)
    assert clock_ahead(client(-90_000), broker(-90_000)) == ClockOffset(-90_025, -89_960)


def test_lines_stamped_to_the_second_give_wider_bounds() -> None:
    assert clock_ahead(client(5_000), broker(5_000, late_ms=999)) == ClockOffset(4_001, 5_040)


def test_one_bound_is_no_estimate() -> None:
    assert clock_ahead(client(0)[:1], broker(0)) is None  # sent, nothing heard
    assert clock_ahead(client(0), broker(0)[2:]) is None
    assert clock_ahead(client(0)[1:], broker(0)) is None  # the start is not in the log: which notification was first?
    assert clock_ahead([], []) is None


def test_a_record_that_begins_in_the_middle_may_have_missed_the_registration() -> None:
    assert clock_ahead(client(0), broker(0)[1:]) is None


def test_a_clock_that_was_set_in_between_gives_bounds_that_contradict_each_other() -> None:
    before, after = client(0), client(60_000)
    lead = clock_ahead([*before[:3], after[3]], broker(60_000))
    assert lead == ClockOffset(59_975, 40)
    assert was_set(lead)


def test_facts_of_a_clock_that_is_proven_wrong_are_moved() -> None:
    right, wrong = client(0), client(5_000)
    assert wrong_clocks([*right, *broker(0)]) == {}
    facts = [*wrong, *broker(5_000)]
    leads = wrong_clocks(facts)
    assert leads == {"c1": ClockOffset(4_975, 5_040)}
    moved = by_clock(facts, leads)
    assert moved[len(wrong) :] == broker(5_000)
    for fact, truth in zip(moved, right, strict=False):
        assert fact.at_ms - fact.early_ms <= truth.at_ms <= fact.at_ms + fact.late_ms
        assert fact.early_ms == 65


def test_facts_of_a_clock_that_was_set_are_left_out() -> None:
    facts = [*client(0)[:3], client(60_000)[3], *broker(60_000)]
    assert by_clock(facts, wrong_clocks(facts)) == broker(60_000)


def test_the_last_line_and_the_end_tell_of_a_clock_too() -> None:
    last = Notified(at_ms=90_000, source="c1", group="g", client_id="c", process=1)
    left = ClientUnregistered(at_ms=30_000, source="b", group="g", remote="r", client_id="c")
    facts = [*client(0), last, *broker(0), left]
    assert wrong_clocks(facts) == {"c1": ClockOffset(59_000, 40)}
    joined_again = ChannelConnected(at_ms=40_000, source="b", group="g", remote="r2", client_id="c")
    assert wrong_clocks([*facts, joined_again]) == {}
