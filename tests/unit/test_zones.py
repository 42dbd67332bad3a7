"""Client logs without a time zone, set right by the broker's record of the same client."""

from __future__ import annotations

import pytest

from rebalance.facts import ConsumerStarting, Fact, QueueAdded
from rebalance.facts.time_zone import in_zone
from tests.support.rebalance_facts import GROUP, Record, queue

HOUR_MS = 3_600_000
A = "a@1"
UNKNOWN = {"early_ms": 14 * HOUR_MS, "late_ms": 12 * HOUR_MS}


def log_in_zone(zone_ms: int) -> list[Fact]:
    """A start at 700 and a gain at 2,345, printed in a zone that the log does not tell."""
    told = {"source": "c1", "group": GROUP, "client_id": A, "process": 1, **UNKNOWN}
    return [
        ConsumerStarting(at_ms=700 + zone_ms, **told),
        QueueAdded(at_ms=2_345 + zone_ms, queue=queue(0), **told),
    ]


@pytest.mark.parametrize("zone_ms", [0, 8 * HOUR_MS, -HOUR_MS * 9 // 2, HOUR_MS * 23 // 4])
def test_a_start_just_before_the_registration_tells_the_zone(zone_ms: int) -> None:
    record = Record()
    record.client(A, 1).heartbeat(1_000)
    placed = [f for f in in_zone([*record.facts, *log_in_zone(zone_ms)]) if f.source == "c1"]
    assert [(f.at_ms, f.early_ms, f.late_ms) for f in placed] == [(700, 0, 0), (2_345, 0, 0)]
    record.facts += log_in_zone(zone_ms)
    (interval,) = record.replay().intervals
    assert (interval.begin_earliest, interval.begin_latest) == (2_345, 2_345)


def test_without_a_broker_that_knows_the_client_the_spread_stays() -> None:
    facts = log_in_zone(8 * HOUR_MS)
    assert list(in_zone(facts)) == facts
    record = Record()
    record.client(A, 1).heartbeat(7 * 60_000)  # no zone brings the start to within a minute before it
    assert list(in_zone([*record.facts, *facts]))[-2:] == facts
