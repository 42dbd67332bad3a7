"""What the record cannot rule out: queues a process may hold although no request of it names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rebalance.client import ClientProcess
from rebalance.model import MessageQueue
from rebalance.table import Tenure


class Doubt(NamedTuple):
    """A client that may hold `queues` in [from_ms, until_ms) (None: open), and why."""

    client_id: str
    queues: frozenset[MessageQueue]
    from_ms: int | None
    until_ms: int | None
    reason: str

    def covers(self, queue: MessageQueue, at_ms: int) -> bool:
        return (
            queue in self.queues
            and (self.from_ms is None or at_ms >= self.from_ms)
            and (self.until_ms is None or at_ms < self.until_ms)
        )


def doubts_of(
    processes: Sequence[ClientProcess],
    tenures: Iterable[Tenure],
    down: Mapping[str, Sequence[tuple[int, int]]],
    known_from_ms: int,
) -> list[Doubt]:
    """All doubts of one group."""
    seen: dict[int, set[MessageQueue]] = {}
    for tenure in tenures:
        seen.setdefault(id(tenure.process), set()).add(tenure.queue)
    queues = frozenset(queue for held in seen.values() for queue in held)
    return [
        *_silent_members(processes, queues),
        *(doubt for p in processes if p.broadcasting for doubt in _unpulled(p, queues - seen.get(id(p), set()))),
        *_unreachable(processes, queues, down, known_from_ms),
    ]


def _silent_members(processes: Sequence[ClientProcess], queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """Clients that a broker lists and that were not heard before: frozen, cut off, or beyond what was captured."""
    listed = {cid for p in processes for answer in p.lists for cid in answer.client_ids or ()}
    heard: dict[str, list[ClientProcess]] = {}
    for process in processes:
        heard.setdefault(process.client_id, []).append(process)
    for client_id in sorted(listed):
        known = heard.get(client_id, [])
        if not any(process.seen_from_start for process in known):
            until = min((process.first_ms for process in known), default=None)
            yield Doubt(client_id, queues, None, until, "listed as a member, not heard yet")


def _unpulled(process: ClientProcess, queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """A broadcasting consumer holds every queue of its route, and asks for no offset when it adds one."""
    end = process.end
    until = end.latest_ms if end is not None else None
    mine = frozenset(queue for queue in queues if queue.topic in process.versions)
    if mine:
        yield Doubt(process.client_id, mine, process.first_ms, until, "broadcasting, queue not seen pulled")


def _unreachable(
    processes: Sequence[ClientProcess],
    queues: frozenset[MessageQueue],
    down: Mapping[str, Sequence[tuple[int, int]]],
    known_from_ms: int,
) -> Iterable[Doubt]:
    """Queues of a broker that went away before processes older than the record could show that they hold them."""
    for broker, spans in sorted(down.items()):
        first_down = min((span for span in spans), default=None)
        if first_down is None or first_down[0] > known_from_ms:
            continue
        unreachable = frozenset(queue for queue in queues if queue.broker_name == broker)
        for process in processes:
            if unreachable and not process.seen_from_start:
                yield Doubt(
                    process.client_id, unreachable, None, first_down[1], f"{broker} was down when the record began"
                )
