"""Client logs whose time zone nothing in them tells, set right by the brokers' records of the same clients.

A 4.x client prints local time. Where its log holds no epoch time, its facts carry a spread of many hours; a consumer
registers with a broker within a minute of its start, and zones differ by multiples of 15 minutes, so one shift fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rebalance.facts import ChannelConnected, ClientFact, Fact, HeartbeatReceived
from rebalance.model.timing import REGISTERS_MS, STAMP_MS, ZONE_STEP_MS


def of_unknown_zone(fact: Fact) -> bool:
    """Whether a fact's spread is that of an unknown zone."""
    return fact.early_ms + fact.late_ms >= ZONE_STEP_MS


def in_zone(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Shifts and narrows the facts of a log without a zone where brokers' records prove how; keeps all others."""
    everything = list(facts)
    shifts = _shifts(everything)
    stamped_to_ms = {f.source for f in everything if of_unknown_zone(f) and f.at_ms % 1_000}
    for fact in everything:
        shift_ms = shifts.get(fact.source) if of_unknown_zone(fact) else None
        if shift_ms is None:
            yield fact
        else:
            late_ms = 0 if fact.source in stamped_to_ms else 999
            yield replace(fact, at_ms=fact.at_ms + shift_ms, early_ms=0, late_ms=late_ms)


def _shifts(facts: list[Fact]) -> dict[str, int]:
    """Per log, the one shift that puts the start of its clients just before their registration."""
    registered: dict[str, int] = {}
    first: dict[tuple[str, str], int] = {}
    for fact in facts:
        if isinstance(fact, HeartbeatReceived | ChannelConnected) and fact.client_id is not None:
            registered[fact.client_id] = min(fact.at_ms, registered.get(fact.client_id, fact.at_ms))
        elif isinstance(fact, ClientFact) and fact.client_id is not None and of_unknown_zone(fact):
            key = (fact.source, fact.client_id)
            first[key] = min(fact.at_ms, first.get(key, fact.at_ms))
    found: dict[str, set[int]] = {}
    for (source, client_id), started_ms in first.items():
        if client_id in registered:
            found.setdefault(source, set()).update(_fitting(started_ms, registered[client_id]))
    return {source: shifts.pop() for source, shifts in found.items() if len(shifts) == 1}


def _fitting(started_ms: int, registered_ms: int) -> Iterator[int]:
    """Multiples of ZONE_STEP_MS that bring a start to at most a minute before a registration."""
    shift_ms = -(-(registered_ms - REGISTERS_MS - started_ms) // ZONE_STEP_MS) * ZONE_STEP_MS
    if started_ms + shift_ms <= registered_ms + STAMP_MS:
        yield shift_ms
