"""The recorded clusters ran on one clock: the bounds found for each consumer hold 0."""

from __future__ import annotations

import gzip
from pathlib import Path

from rebalance.facts.clock_offset import ClockOffset, clock_ahead, wrong_clocks
from rebalance.readers.logs import facts_from_log
from tests.support.rebalance_sessions import java_sessions, sessions, wire_facts
from tests.support.session_logs import log_facts


@java_sessions
def test_bounds_hold_the_truth(session: Path) -> None:
    by_logs = [fact for fact in log_facts(session) if fact.source.startswith("broker")]
    by_wire = wire_facts(session)
    widths = []
    for path in sorted(session.glob("logs/c?/rocketmq_client.log.gz")):
        lines = gzip.decompress(path.read_bytes()).splitlines()
        told = list(facts_from_log(lines, source=path.parent.name))
        for brokers in (by_logs, by_wire):
            ahead = clock_ahead(told, brokers)
            if ahead is not None:
                widths.append(ahead.max_ms - ahead.min_ms)
                assert ahead.min_ms <= 0 <= ahead.max_ms
                moved = facts_from_log(lines, source="c", clock_ahead=ClockOffset(5_000, 5_000))
                assert [fact.at_ms for fact in moved] == [fact.at_ms - 5_000 for fact in told]
    if not session.name.startswith("g-"):  # broadcasting and lite pull change no subVersion
        assert len(widths) >= 4
        assert sorted(widths)[len(widths) // 2] < 1_200


@sessions
def test_a_recording_of_one_clock_is_left_alone(session: Path) -> None:
    assert wrong_clocks([*wire_facts(session), *log_facts(session)]) == {}
