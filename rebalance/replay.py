"""The door: facts in, a replayed history of ownership out. Pure: the same facts give the same rows.

Facts are put in one total order (at_ms, priority, position in the input), split by group, joined to processes, and each
process's queue table is read out of its rounds (`rebalance.table`).
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from rebalance.client import ClientProcess
from rebalance.collect import GroupRecord
from rebalance.doubts import Doubt, doubts_of
from rebalance.events import BrokerStarted, BrokerStopping, ClientFact, Fact, GroupFact, RouteSeen, UnreadRecord
from rebalance.group import set_ends
from rebalance.model import Settings
from rebalance.ownership import OwnershipIndex, QueueOwners
from rebalance.table import ROUND_MS, QueueTable, Tenure

SETTLE_MS = 250
_ALWAYS = (-(1 << 62), 1 << 62)


class GroupReplay:
    """One group's replayed history."""

    def __init__(
        self,
        group: str,
        processes: list[ClientProcess],
        tenures: list[Tenure],
        doubts: list[Doubt],
        known: tuple[int, int],
    ) -> None:
        self.group = group
        self.processes = processes
        self.tenures = tenures
        self.doubts = doubts
        self.index = OwnershipIndex(group, tenures, doubts, known=known, settle_ms=SETTLE_MS)


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
    known = _known_span(ordered, starts, stops, settings)
    groups = []
    for group in sorted(records):
        processes = records[group].processes()
        if not processes:
            continue
        set_ends(processes, starts, settings)
        for process in processes:
            process.seen_from_start = known[0] == _ALWAYS[0] or process.newborn or process.log_from_start
        tenures = [tenure for process in processes for tenure in QueueTable(process, down).tenures()]
        groups.append(GroupReplay(group, processes, tenures, doubts_of(processes, tenures, down, known[0]), known))
    return Replay(groups)


def _known_span(
    ordered: list[Fact], starts: dict[str, list[int]], stops: dict[str, list[int]], settings: Settings
) -> tuple[int, int]:
    """The span the facts speak for: open towards a side where every broker was down, since nobody consumed there.

    A record that starts in the middle speaks once every living process has heartbeated and persisted its offsets.
    """
    if not ordered:
        return 0, 0
    first: dict[str, Fact] = {}
    for fact in ordered:
        if not isinstance(fact, ClientFact | RouteSeen | UnreadRecord):
            first.setdefault(fact.source, fact)
    born = all(isinstance(fact, BrokerStarted) for fact in first.values())
    gone = bool(first) and all(stops.get(broker, [0])[-1] > starts.get(broker, [0])[-1] for broker in first)
    warm_up_ms = settings.heartbeat_broker_interval_ms + settings.persist_consumer_offset_interval_ms
    return (_ALWAYS[0] if born else ordered[0].at_ms + warm_up_ms, _ALWAYS[1] if gone else ordered[-1].at_ms - ROUND_MS)


def _down_spans(
    starts: dict[str, list[int]], stops: dict[str, list[int]], settings: Settings
) -> dict[str, list[tuple[int, int]]]:
    """When each broker was away, as its clients may still see it: they learn of its return at their next route poll."""
    late = settings.poll_name_server_interval_ms + settings.rebalance_wait_interval_ms
    return {
        broker: [(at, min((s + late for s in starts.get(broker, ()) if s > at), default=1 << 62)) for at in times]
        for broker, times in stops.items()
    }
