"""When brokers came up and went down: what wire captures and logs say of one event, drawn together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

from rebalance.facts import BrokerStarted, BrokerStopping, Evidence, Fact
from rebalance.model.timing import BROKER_EVENT_MS

BROKER_STARTED = "broker_started"
BROKER_STOPPED = "broker_stopped"
BROKER_VANISHED = "broker_vanished"  # it came up again and was not seen to go down: killed, or crashed
_AT_MS = attrgetter("at_ms")


class BrokerEvent(NamedTuple):
    """A start or stop of a broker; the true instant lies in the window (epoch ms), the narrowest that any record
    gives."""

    kind: str
    broker: str
    earliest_ms: int
    latest_ms: int
    evidence: Evidence


def broker_events(facts: Iterable[BrokerStarted | BrokerStopping]) -> list[BrokerEvent]:
    """One row per event, by kind, broker and time; of several statements of one event the tightest stays."""
    found: list[BrokerEvent] = []
    for event in sorted(_event(fact) for fact in facts):
        last = found[-1] if found else None
        if last is None or last[:2] != event[:2] or event.earliest_ms > last.latest_ms + BROKER_EVENT_MS:
            found.append(event)
        elif _spread_ms(event) < _spread_ms(last):
            found[-1] = event
    return found


def crashes(events: Iterable[BrokerEvent], ordered: Sequence[Fact]) -> list[BrokerEvent]:
    """Brokers that came up again without a stop: from the last sign of the run before to the start.

    Args:
        ordered: all facts, in time order.
    """
    found: list[BrokerEvent] = []
    before: BrokerEvent | None = None
    for event in sorted(events, key=lambda e: (e.broker, e.latest_ms)):
        if before is not None and before.broker != event.broker:
            before = None
        if event.kind == BROKER_STARTED and (before is None or before.kind == BROKER_STARTED):
            last_ms = _last_sign_ms(ordered, event)
            if last_ms is not None and (before is None or last_ms >= before.latest_ms):
                found.append(BrokerEvent(BROKER_VANISHED, event.broker, last_ms, event.earliest_ms, event.evidence))
        before = event
    return found


def _last_sign_ms(ordered: Sequence[Fact], start: BrokerEvent) -> int | None:
    """When the run before a start was last heard; clients that waited are heard shortly before it says it is up."""
    later_ms = start.earliest_ms
    for index in range(bisect_left(ordered, later_ms, key=_AT_MS) - 1, -1, -1):
        fact = ordered[index]
        if fact.source == start.broker:
            if later_ms - fact.at_ms > BROKER_EVENT_MS:
                return fact.at_ms
            later_ms = fact.at_ms
    return None


def instants_of(kind: str, events: Iterable[BrokerEvent]) -> dict[str, list[int]]:
    """The events of one kind as instants by broker, in time order."""
    instants: dict[str, list[int]] = {}
    for event in events:
        if event.kind == kind:
            instants.setdefault(event.broker, []).append(event.earliest_ms)
    return instants


def _event(fact: BrokerStarted | BrokerStopping) -> BrokerEvent:
    kind = BROKER_STARTED if isinstance(fact, BrokerStarted) else BROKER_STOPPED
    return BrokerEvent(kind, fact.source, fact.at_ms - fact.early_ms, fact.at_ms + fact.late_ms, fact.evidence)


def _spread_ms(event: BrokerEvent) -> int:
    return event.latest_ms - event.earliest_ms
