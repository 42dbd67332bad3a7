"""Clocks of clients against the clock of a record that only brokers kept."""

from __future__ import annotations

import pytest

from rebalance.facts import Evidence, SubscriptionChanged
from rebalance.facts.input_notes import CLOCK_DIFFERS
from rebalance.processes.client_clock import HeardChange, ahead_ms
from rebalance.replay import replay
from tests.support.rebalance_facts import BROKER, GROUP, TOPIC, Record

HOUR_MS = 3_600_000
STARTED = [0, 40_000, 90_000, 200_000]


@pytest.mark.parametrize(
    ("heard", "ahead"),
    [
        ([], None),
        ([(0, 3), (40_000, 2), (90_000, 5)], None),
        ([(0, 3), (40_000, 2), (90_000, -4_999)], None),
        ([(0, 3), (40_000, -7_000)], 7_000),
        ([(0, HOUR_MS), (40_000, HOUR_MS + 3), (90_000, HOUR_MS + 900)], -HOUR_MS),
        ([(0, HOUR_MS), (40_000, HOUR_MS + 3)], None),
        ([(0, HOUR_MS), (40, HOUR_MS + 3), (90, HOUR_MS + 900)], None),  # heard when their broker came back
        ([(0, 29_995), (40_000, 12_000), (90_000, 20_000)], None),  # waited for the next heartbeat
    ],
)
def test_only_what_is_shown_counts(heard: list[tuple[int, int]], ahead: int | None) -> None:
    assert ahead_ms(HeardChange(*change) for change in heard) == ahead


def subjects(record: Record) -> set[tuple[str | None, str, str]]:
    return {(n.group, n.subject, n.detail) for n in record.replay().notes if n.kind == CLOCK_DIFFERS}


@pytest.mark.parametrize(
    ("ahead", "told"), [(HOUR_MS, "at least 3599996 ms ahead of"), (-HOUR_MS, "3600004 ms behind")]
)
def test_a_capture_on_another_clock_than_its_clients_has_a_note(ahead: int, told: str) -> None:
    record = Record()
    client = record.client("c1", 1, sub_version=ahead - 500)
    client.heartbeat(0)
    for at_ms in STARTED:
        client.lists(at_ms + 1_000, "c1")
        client.heartbeat(at_ms + 1_005, changed_at=at_ms + 1_001 + ahead)
    assert subjects(record) == {(GROUP, "c1", f"by subVersions the clients' clock is {told} the record")}


def test_a_broker_log_on_another_clock_has_a_note() -> None:
    facts = [
        SubscriptionChanged(
            at_ms=at_ms, source=BROKER, evidence=Evidence("broker.log", number), late_ms=999, group=GROUP, topic=TOPIC,
            change="replaced", sub_version=at_ms + HOUR_MS,
        )
        for number, at_ms in enumerate(STARTED, start=1)
    ]  # fmt: skip
    record = Record()
    record.client("c1", 1).heartbeat(0)
    rows = replay([*record.facts, *facts])
    assert [note.subject for note in rows.notes if note.kind == CLOCK_DIFFERS] == [BROKER]
