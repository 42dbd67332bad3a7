"""What the record cannot rule out: queues a process may hold although no request of it names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rebalance.client import ClientProcess
from rebalance.log_cover import Spans, first_commits, untold
from rebalance.model import MessageQueue
from rebalance.table import Tenure

NOT_ON_RECORD = "(a member that is not on record)"
_NEARLY_MS = 5_000  # between a client's start, its registration, and the log lines of both


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
    queues: frozenset[MessageQueue],
    down: Mapping[str, Sequence[tuple[int, int]]],
    known_from_ms: int,
    captured: frozenset[str],
    logs: Spans,
) -> list[Doubt]:
    """All doubts of one group.

    Args:
        queues: all it may hold.
        captured: brokers whose requests are on record.
        logs: from when to when each log speaks.
    """
    committed = first_commits(processes) if logs else {}
    seen: dict[int, set[MessageQueue]] = {}
    for tenure in tenures:
        seen.setdefault(id(tenure.process), set()).add(tenure.queue)
    return [
        *_silent_members(processes, queues),
        *(doubt for p in processes if p.broadcasting for doubt in _unpulled(p, queues - seen.get(id(p), set()))),
        *_unreachable(processes, queues, down, known_from_ms),
        *(doubt for process in processes for doubt in _unobserved(process, queues, captured, logs, committed)),
        *_uncounted(processes, queues),
    ]


def _unobserved(
    process: ClientProcess,
    queues: frozenset[MessageQueue],
    captured: frozenset[str],
    logs: Spans,
    committed: Mapping[MessageQueue, int],
) -> Iterable[Doubt]:
    """Queues whose coming and going neither the process's log nor a capture of their broker would show."""
    seen = any(channel.broker in captured for channel in process.channels)
    dark = frozenset(queue for queue in queues if not seen or queue.broker_name not in captured)
    if dark and process.has_log:
        yield from (Doubt(process.client_id, *open_) for open_ in untold(process, dark, logs, committed))
    elif dark:
        until = process.end.latest_ms if process.end is not None else None
        start = process.first_ms if process.seen_from_start else None
        yield Doubt(process.client_id, dark, start, until, "a member; what it held is not on record")


def _uncounted(processes: Sequence[ClientProcess], queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """Members that a client's log counts and that nothing else tells of."""
    for process in processes:
        for result in process.results:
            alive = [p for p in processes if p.first_ms <= result.at_ms + _NEARLY_MS and p.may_live(result.at_ms)]
            if result.cid_all_size is not None and result.cid_all_size > len(alive):
                reason = f"{result.cid_all_size} members by {process.client_id}, {len(alive)} on record"
                yield Doubt(NOT_ON_RECORD, queues, None, None, reason)
                return


def _silent_members(processes: Sequence[ClientProcess], queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """Clients that a broker lists and that were not heard before: frozen, cut off, or beyond what was captured."""
    lists = {answer.client_ids for p in processes for answer in p.lists if answer.client_ids is not None}
    listed = {client_id for client_ids in lists for client_id in client_ids}
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
