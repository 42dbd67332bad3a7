"""What the record cannot rule out: queues a process may hold although no request of it names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rebalance.facts.log_spans import Spans
from rebalance.model.message_queue import MessageQueue
from rebalance.ownership.log_limits import untold
from rebalance.processes.polled import Polled, Sighting
from rebalance.processes.process import ClientProcess
from rebalance.tenures.queue_table import Tenure

NEVER_COMMITTED = "a queue that was never committed, taken in the hole"
NOT_ON_RECORD = "(a member that is not on record)"
EVER = 1 << 62
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

    def within(self, since_ms: int | None, until_ms: int) -> Doubt:
        """The part of it from an instant (None: from ever) to another (1 << 62: for ever)."""
        if since_ms is None and until_ms == EVER:
            return self
        begins = [ms for ms in (self.from_ms, since_ms) if ms is not None]
        until = until_ms if self.until_ms is None else min(self.until_ms, until_ms)
        return self._replace(from_ms=max(begins, default=None), until_ms=None if until == EVER else until)


def doubts_of(
    processes: Sequence[ClientProcess],
    tenures: Iterable[Tenure],
    queues: frozenset[MessageQueue],
    down: Mapping[str, Sequence[tuple[int, int]]],
    known_from_ms: int,
    captured: frozenset[str],
    logs: Spans,
    committed: Mapping[MessageQueue, int],
    polled: Polled,
) -> list[Doubt]:
    """All doubts of one group.

    Args:
        queues: all it may hold.
        captured: brokers whose requests are on record.
        logs: from when to when each log speaks.
        committed: when each queue was first seen committed by anybody; asked for where there are logs.
    """
    tenures = list(tenures)
    seen: dict[int, set[MessageQueue]] = {}
    for tenure in tenures:
        seen.setdefault(id(tenure.process), set()).add(tenure.queue)
    return [
        *_silent_members(processes, queues),
        *(doubt for p in processes if p.broadcasting for doubt in _unpulled(p, queues - seen.get(id(p), set()))),
        *(doubt for p in processes if p.pulls_by_hand for doubt in _by_hand(p, queues)),
        *_unreachable(processes, queues, down, known_from_ms),
        *(doubt for process in processes for doubt in _unobserved(process, queues, captured, logs, committed)),
        *_uncounted(processes, queues),
        *_polled_members(processes, queues, polled.members),
        *_polled_tables(processes, tenures, polled.tables),
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
            listed = len(alive) + max(_connected_twice(alive, result.at_ms).values(), default=0)
            if result.cid_all_size is not None and result.cid_all_size > listed:
                reason = f"{result.cid_all_size} members by {process.client_id}, {listed} on record"
                yield Doubt(NOT_ON_RECORD, queues, None, None, reason)
                return


def unnamed(
    processes: Iterable[ClientProcess],
    queues: Iterable[MessageQueue],
    committed: Mapping[MessageQueue, int],
    hole: tuple[int, int],
) -> Iterator[Doubt]:
    """Queues that may have been taken in a hole (from, until; epoch ms) before anybody had committed them: nothing
    names them after it, until somebody does.
    """
    new: dict[int, set[MessageQueue]] = {}
    for queue in queues:
        committed_ms = committed.get(queue, EVER)
        if committed_ms > hole[1]:
            new.setdefault(committed_ms, set()).add(queue)
    for process in processes:
        if not process.seen_from_start and not process.broadcasting:
            for committed_ms, mine in sorted(new.items()):
                until_ms = min(committed_ms, _ended_ms(process) or EVER)
                yield Doubt(process.client_id, frozenset(mine), hole[0], until_ms, NEVER_COMMITTED)


def _connected_twice(processes: Iterable[ClientProcess], at_ms: int) -> Counter[str]:
    """Per broker the connections that it had not closed when their processes came on another one: it lists both.

    Source: ConsumerGroupInfo#getAllClientId goes through the channels.
    """
    late: Counter[str] = Counter()
    for process in processes:
        for old in process.channels:
            closed_ms = at_ms if old.closed is None else old.closed.latest_ms
            if not old.is_log and old.first_ms <= at_ms <= closed_ms + _NEARLY_MS:
                late[old.broker] += any(
                    new.broker == old.broker and new.remote != old.remote
                    and old.first_ms <= new.first_ms <= at_ms + _NEARLY_MS
                    for new in process.channels
                )  # fmt: skip
    return late


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


def _polled_members(
    processes: Sequence[ClientProcess], queues: frozenset[MessageQueue], members: Iterable[Sighting]
) -> Iterable[Doubt]:
    """Clients that a poll named while no process of theirs on record can have lived."""
    by_client: dict[str, list[ClientProcess]] = {}
    for process in processes:
        by_client.setdefault(process.client_id, []).append(process)
    spans: dict[tuple[str, int | None, int | None], None] = {}
    for client_id, from_ms, until_ms in members:
        known = by_client.get(client_id, [])
        ended = [ms for p in known if (ms := _ended_ms(p)) is not None and ms < from_ms - _NEARLY_MS]
        later = [p.first_ms for p in known if p.first_ms > until_ms + _NEARLY_MS]
        if len(ended) + len(later) == len(known):
            spans[client_id, max(ended, default=None), min(later, default=None)] = None
    reason = "a poll names it as a member, nothing else tells of it"
    return [Doubt(client_id, queues, since, before, reason) for client_id, since, before in spans]


def _polled_tables(
    processes: Sequence[ClientProcess], tenures: Iterable[Tenure], tables: Iterable[tuple[Sighting, MessageQueue]]
) -> Iterable[Doubt]:
    """Queues that a client's own answer named while the record shows nothing of it."""
    held: dict[tuple[str, MessageQueue], list[Tenure]] = {}
    for tenure in tenures:
        held.setdefault((tenure.process.client_id, tenure.queue), []).append(tenure)
    unseen: dict[str, set[MessageQueue]] = {}
    for (client_id, from_ms, until_ms), queue in tables:
        mine = held.get((client_id, queue), ())
        if not any(_may_overlap(tenure, from_ms - _NEARLY_MS, until_ms + _NEARLY_MS) for tenure in mine):
            unseen.setdefault(client_id, set()).add(queue)
    for client_id, named in sorted(unseen.items()):
        lives = [p for p in processes if p.client_id == client_id]
        ends = [_ended_ms(p) for p in lives]
        since = min((p.first_ms for p in lives), default=None) if all(p.seen_from_start for p in lives) else None
        until = None if None in ends else max((ms for ms in ends if ms is not None), default=None)
        yield Doubt(client_id, frozenset(named), since, until, "a poll of its table names what no other record shows")


def _may_overlap(tenure: Tenure, from_ms: int, until_ms: int) -> bool:
    begins_in_time = tenure.begin_earliest is None or tenure.begin_earliest <= until_ms
    return begins_in_time and (tenure.end_latest is None or tenure.end_latest >= from_ms)


def _ended_ms(process: ClientProcess) -> int | None:
    """When it had ended at the latest; None: it is not known to have."""
    return None if process.end is None else process.end.latest_ms


def _unpulled(process: ClientProcess, queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """A broadcasting consumer holds every queue of its route, and asks for no offset when it adds one."""
    end = process.end
    until = end.latest_ms if end is not None else None
    mine = frozenset(queue for queue in queues if queue.topic in process.versions)
    if mine:
        yield Doubt(process.client_id, mine, process.first_ms, until, "broadcasting, queue not seen pulled")


def _by_hand(process: ClientProcess, queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """A pull consumer says nothing when a queue comes or goes, and may ask for queues that it does not hold."""
    end = process.end
    until = end.latest_ms if end is not None else None
    mine = frozenset(queue for queue in queues if queue.topic in process.versions)
    if mine:
        since = process.first_ms if process.seen_from_start else None
        yield Doubt(process.client_id, mine, since, until, "a pull consumer: nothing shows which queues it has")


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
