"""What the record cannot rule out: queues a process may hold although no request of it names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rebalance.facts.log_spans import LogSpans
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER
from rebalance.model.timing import NEARLY_MS
from rebalance.ownership.log_limits import untold
from rebalance.processes.life import Life
from rebalance.processes.polled import Polled, Sighting
from rebalance.processes.process import Process, ProcessKey
from rebalance.tenures.queue_table import Tenure

NEVER_COMMITTED = "a queue that was never committed, taken in the hole"
NOT_ON_RECORD = "(a member that is not on record)"
POP_SHARED = "pop_shared"
SHARED = "POP shares the queues"


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
        """The part of it from an instant (None: from ever) to another (EVER: for ever)."""
        if since_ms is None and until_ms == EVER:
            return self
        begins = [ms for ms in (self.from_ms, since_ms) if ms is not None]
        until = until_ms if self.until_ms is None else min(self.until_ms, until_ms)
        return self._replace(from_ms=max(begins, default=None), until_ms=None if until == EVER else until)


class Watched(NamedTuple):
    """What of a group's queues and brokers is on record.

    Attributes:
        queues: all that its members may hold.
        committed: when each queue was first seen committed by anybody, epoch ms; asked for where there are logs.
        captured: brokers whose requests are on record.
        logs: from when to when each log speaks.
        down: per broker the spans in which it was not up, epoch ms.
        known_from_ms: until then a member that was there before the record began may not have shown what it holds.
    """

    queues: frozenset[MessageQueue]
    committed: Mapping[MessageQueue, int]
    captured: frozenset[str]
    logs: LogSpans
    down: Mapping[str, Sequence[tuple[int, int]]]
    known_from_ms: int


def doubts_of(lives: Sequence[Life], tenures: Iterable[Tenure], polled: Polled, watched: Watched) -> list[Doubt]:
    """All doubts of one group."""
    queues = watched.queues
    tenures = list(tenures)
    seen: dict[ProcessKey, set[MessageQueue]] = {}
    for tenure in tenures:
        seen.setdefault(tenure.life.key, set()).add(tenure.queue)
    broadcasting = [life for life in lives if life.process.broadcasting]
    return [
        *_silent_members(lives, queues),
        *(doubt for life in broadcasting for doubt in _unpulled(life, queues - seen.get(life.key, set()))),
        *(doubt for life in lives if life.process.pulls_by_hand for doubt in _by_hand(life, queues)),
        *_unreachable(lives, watched),
        *(doubt for life in lives for doubt in _unobserved(life, watched)),
        *_uncounted(lives, queues),
        *_polled_members(lives, queues, polled.members),
        *_polled_tables(lives, tenures, polled.tables),
    ]


def _unobserved(life: Life, watched: Watched) -> Iterable[Doubt]:
    """Queues whose coming and going neither the process's log nor a capture of their broker would show."""
    process = life.process
    seen = any(channel.broker in watched.captured for channel in process.channels)
    dark = frozenset(queue for queue in watched.queues if not seen or queue.broker_name not in watched.captured)
    if dark and process.has_log:
        yield from (Doubt(life.client_id, *open_) for open_ in untold(life, dark, watched.logs, watched.committed))
    elif dark:
        start = process.first_ms if life.seen_from_start else None
        yield Doubt(life.client_id, dark, start, life.end.latest_ms, "a member; what it held is not on record")


def _uncounted(lives: Sequence[Life], queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """Members that a client's log counts and that nothing else shows."""
    for life in lives:
        for result in life.process.results:
            begun = (other for other in lives if other.process.first_ms <= result.at_ms + NEARLY_MS)
            alive = [other.process for other in begun if other.may_last(result.at_ms)]
            listed = len(alive) + max(_connected_twice(alive, result.at_ms).values(), default=0)
            if result.cid_all_size is not None and result.cid_all_size > listed:
                reason = f"{result.cid_all_size} members by {life.client_id}, {listed} on record"
                yield Doubt(NOT_ON_RECORD, queues, None, None, reason)
                return


def unnamed(
    lives: Iterable[Life], queues: Iterable[MessageQueue], committed: Mapping[MessageQueue, int], hole: tuple[int, int]
) -> Iterator[Doubt]:
    """Queues that may have been taken in a hole (from, until; epoch ms) before anybody had committed them: nothing
    names them after it, until somebody does.
    """
    new: dict[int, set[MessageQueue]] = {}
    for queue in queues:
        committed_ms = committed.get(queue, EVER)
        if committed_ms > hole[1]:
            new.setdefault(committed_ms, set()).add(queue)
    for life in lives:
        if not life.seen_from_start and not life.process.broadcasting:
            for committed_ms, mine in sorted(new.items()):
                until_ms = min(committed_ms, life.end.latest_ms or EVER)
                yield Doubt(life.client_id, frozenset(mine), hole[0], until_ms, NEVER_COMMITTED)


def _connected_twice(processes: Iterable[Process], at_ms: int) -> Counter[str]:
    """Per broker the connections that it had not closed when their processes came on another one: it lists both.

    Source: ConsumerGroupInfo#getAllClientId goes through the channels.
    """
    late: Counter[str] = Counter()
    for process in processes:
        for old in process.channels:
            closed_ms = at_ms if old.closed is None else old.closed.latest_ms
            if not old.is_log and old.first_ms <= at_ms <= closed_ms + NEARLY_MS:
                late[old.broker] += any(
                    new.broker == old.broker and new.remote != old.remote
                    and old.first_ms <= new.first_ms <= at_ms + NEARLY_MS
                    for new in process.channels
                )  # fmt: skip
    return late


def _silent_members(lives: Sequence[Life], queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """Clients that a broker lists and that were not heard before: frozen, cut off, or beyond what was captured."""
    lists = {answer.client_ids for life in lives for answer in life.process.lists if answer.client_ids is not None}
    listed = {client_id for client_ids in lists for client_id in client_ids}
    heard = _by_client(lives)
    for client_id in sorted(listed):
        known = heard.get(client_id, [])
        if not any(life.seen_from_start for life in known):
            until = min((life.process.first_ms for life in known), default=None)
            yield Doubt(client_id, queues, None, until, "listed as a member, not heard yet")


def _polled_members(
    lives: Sequence[Life], queues: frozenset[MessageQueue], members: Iterable[Sighting]
) -> Iterable[Doubt]:
    """Clients named by a poll at a time when none of their known processes was alive."""
    by_client = _by_client(lives)
    spans: dict[tuple[str, int | None, int | None], None] = {}
    for client_id, from_ms, until_ms in members:
        known = by_client.get(client_id, [])
        ends = (life.end.latest_ms for life in known)
        ended = [ms for ms in ends if ms is not None and ms < from_ms - NEARLY_MS]
        later = [life.process.first_ms for life in known if life.process.first_ms > until_ms + NEARLY_MS]
        if len(ended) + len(later) == len(known):
            spans[client_id, max(ended, default=None), min(later, default=None)] = None
    reason = "a poll names it as a member, nothing else tells of it"
    return [Doubt(client_id, queues, since, before, reason) for client_id, since, before in spans]


def _polled_tables(
    lives: Sequence[Life], tenures: Iterable[Tenure], tables: Iterable[tuple[Sighting, MessageQueue]]
) -> Iterable[Doubt]:
    """Queues that a client's own answer named while the record shows nothing of it."""
    held: dict[tuple[str, MessageQueue], list[Tenure]] = {}
    for tenure in tenures:
        held.setdefault((tenure.life.client_id, tenure.queue), []).append(tenure)
    unseen: dict[str, set[MessageQueue]] = {}
    for (client_id, from_ms, until_ms), queue in tables:
        tenures_of = held.get((client_id, queue), ())
        if not any(_may_overlap(tenure, from_ms - NEARLY_MS, until_ms + NEARLY_MS) for tenure in tenures_of):
            unseen.setdefault(client_id, set()).add(queue)
    for client_id, named in sorted(unseen.items()):
        mine = [life for life in lives if life.client_id == client_id]
        ends = [life.end.latest_ms for life in mine]
        from_start = all(life.seen_from_start for life in mine)
        since = min((life.process.first_ms for life in mine), default=None) if from_start else None
        until = None if None in ends else max((ms for ms in ends if ms is not None), default=None)
        yield Doubt(client_id, frozenset(named), since, until, "a poll of its table names what no other record shows")


def _may_overlap(tenure: Tenure, from_ms: int, until_ms: int) -> bool:
    begins_in_time = tenure.begin_earliest is None or tenure.begin_earliest <= until_ms
    return begins_in_time and (tenure.end_latest is None or tenure.end_latest >= from_ms)


def _by_client(lives: Iterable[Life]) -> dict[str, list[Life]]:
    by_client: dict[str, list[Life]] = {}
    for life in lives:
        by_client.setdefault(life.client_id, []).append(life)
    return by_client


def _unpulled(life: Life, queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """A broadcasting consumer holds every queue of its route, and asks for no offset when it adds one."""
    mine = frozenset(queue for queue in queues if queue.topic in life.process.versions)
    if mine:
        reason = "broadcasting, queue not seen pulled"
        yield Doubt(life.client_id, mine, life.process.first_ms, life.end.latest_ms, reason)


def _by_hand(life: Life, queues: frozenset[MessageQueue]) -> Iterable[Doubt]:
    """A pull consumer says nothing when a queue comes or goes, and may ask for queues that it does not hold."""
    mine = frozenset(queue for queue in queues if queue.topic in life.process.versions)
    if mine:
        since = life.process.first_ms if life.seen_from_start else None
        reason = "a pull consumer: nothing shows which queues it has"
        yield Doubt(life.client_id, mine, since, life.end.latest_ms, reason)


def _unreachable(lives: Sequence[Life], watched: Watched) -> Iterable[Doubt]:
    """Queues of a broker that went away before processes older than the record could show that they hold them."""
    for broker, spans in sorted(watched.down.items()):
        first_down = min((span for span in spans), default=None)
        if first_down is None or first_down[0] > watched.known_from_ms:
            continue
        unreachable = frozenset(queue for queue in watched.queues if queue.broker_name == broker)
        for life in lives:
            if unreachable and not life.seen_from_start:
                reason = f"{broker} was down when the record began"
                yield Doubt(life.client_id, unreachable, None, first_down[1], reason)


def pop_doubts(lives: Iterable[Life], queues: Iterable[MessageQueue], topics: frozenset[str]) -> Iterator[Doubt]:
    """In POP mode a broker hands a queue's messages to several clients at once: every client of the group may consume
    every queue of these topics, over the whole record, for a client keeps to its mode until it asks again or restarts.

    Source: QueryAssignmentProcessor#doLoadBalance, #allocate4Pop; RebalanceImpl#updateMessageQueueAssignment @5.3.3.
    """
    shared = frozenset(queue for queue in queues if queue.topic in topics)
    if shared:
        for client_id in sorted({life.client_id for life in lives}):
            yield Doubt(client_id, shared, None, None, SHARED)
