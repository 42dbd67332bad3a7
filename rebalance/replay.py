"""The door: facts in, a replayed history of ownership out. Pure: the same facts give the same rows.

Facts are put in one total order (at_ms, priority, position in the input), split by group, joined to processes, and each
process's queue table is read out of its rounds (`rebalance.table`).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from rebalance.client import ClientProcess
from rebalance.collect import GroupRecord
from rebalance.events import BrokerStarted, BrokerStopping, Fact, GroupFact
from rebalance.group import set_ends
from rebalance.model import Settings
from rebalance.ownership import OwnershipIndex, QueueOwners
from rebalance.table import QueueTable, Tenure

SETTLE_MS = 250
_ALWAYS = (-(1 << 62), 1 << 62)


class GroupReplay:
    """One group's replayed history."""

    def __init__(self, group: str, processes: list[ClientProcess], tenures: list[Tenure], known: tuple[int, int]) -> None:
        self.group = group
        self.processes = processes
        self.tenures = tenures
        self.index = OwnershipIndex(group, tenures, known=known, settle_ms=SETTLE_MS)


class Replay:
    """Everything the facts tell; groups in name order."""

    def __init__(self, groups: list[GroupReplay]) -> None:
        self.groups = groups

    def ownership_at(self, at_ms: int) -> list[QueueOwners]:
        """Owners of every known queue at one instant (epoch ms), groups and queues in order."""
        return [owners for group in self.groups for owners in group.index.at(at_ms)]


def replay(facts: Iterable[Fact], *, settings: Settings | None = None) -> Replay:
    """Replays any mix of facts; their order in the input matters only where instants are equal."""
    settings = settings or Settings()
    ordered = sorted(facts, key=attrgetter("at_ms"))
    starts: dict[str, list[int]] = {}
    stops: dict[str, list[int]] = {}
    records: dict[str, GroupRecord] = {}
    for fact in ordered:
        if isinstance(fact, GroupFact):
            record = records.get(fact.group)
            if record is None:
                record = records[fact.group] = GroupRecord(fact.group)
            record.add(fact)
        elif isinstance(fact, BrokerStarted):
            starts.setdefault(fact.source, []).append(fact.at_ms)
        elif isinstance(fact, BrokerStopping):
            stops.setdefault(fact.source, []).append(fact.at_ms)
    down = _down_spans(starts, stops, settings)
    known = _known_span(ordered, starts, stops)
    groups = []
    for group in sorted(records):
        processes = records[group].processes()
        if not processes:
            continue
        set_ends(processes, starts, settings)
        tenures = [tenure for process in processes for tenure in QueueTable(process, down).tenures()]
        groups.append(GroupReplay(group, processes, tenures, known))
    return Replay(groups)


def _known_span(ordered: list[Fact], starts: dict[str, list[int]], stops: dict[str, list[int]]) -> tuple[int, int]:
    """The span the facts speak for: open towards a side where every broker was down, since nobody consumed there."""
    if not ordered:
        return 0, 0
    first: dict[str, Fact] = {}
    for fact in ordered:
        first.setdefault(fact.source, fact)
    born = all(isinstance(fact, BrokerStarted) for fact in first.values())
    gone = all(stops.get(broker, [0])[-1] > starts.get(broker, [0])[-1] for broker in first)
    return (_ALWAYS[0] if born else ordered[0].at_ms, _ALWAYS[1] if gone else ordered[-1].at_ms)


def _down_spans(
    starts: dict[str, list[int]], stops: dict[str, list[int]], settings: Settings
) -> dict[str, list[tuple[int, int]]]:
    """When each broker was away, as its clients may still see it: they learn of its return at their next route poll."""
    late = settings.poll_name_server_interval_ms + settings.rebalance_wait_interval_ms
    return {
        broker: [(at, min((s + late for s in starts.get(broker, ()) if s > at), default=1 << 62)) for at in times]
        for broker, times in stops.items()
    }
