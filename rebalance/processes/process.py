"""One consumer process as the record shows it: its requests, its rounds, and what it proved to own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from rebalance.facts import NO_EVIDENCE, Evidence, RebalanceResultChanged
from rebalance.facts.log_spans import Spans
from rebalance.facts.time_zone import ZONE_STEP_MS
from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue

_FIRST_REQUESTS = 16  # a starting client asks for a route or two before its first heartbeat
PAUSE_MS = 35_000  # a living client heartbeats every 30 s


class WitnessKind(IntEnum):
    """How a queue was seen in a process's hands."""

    QUERY = 0  # start offset asked: the queue is being added, or is in the table already
    COMMIT = 1
    PULL = 2
    LOCK = 3  # named in a renewal of several locks
    ADDED = 4  # the client's own log
    REMOVED = 5


ADDING = (WitnessKind.QUERY, WitnessKind.ADDED)
"""Sightings that begin a tenure."""


@frozen()
class Witness:
    """One sighting of a queue with a process."""

    at_ms: int
    kind: WitnessKind
    queue_offset: int | None
    evidence: Evidence
    late_ms: int = 0  # the true instant is up to this much later


@frozen()
class ListAnswer:
    """The member list one round of a process was computed from; `client_ids` None: failed or not seen."""

    at_ms: int
    asked_at_ms: int
    broker: str
    client_ids: tuple[str, ...] | None
    failed: bool
    evidence: Evidence


@frozen()
class Stamp:
    """A new subVersion of a topic: the process's queues of that topic changed at `at_ms`, heard by a broker at
    `heard_ms`.

    Source: RebalancePushImpl#messageQueueChanged sets it at the end of every round that changed the topic, then
        heartbeats.
    """

    at_ms: int
    heard_ms: int
    evidence: Evidence


class Closed(NamedTuple):
    """A broker's log says the connection went, at the latest at `latest_ms`."""

    latest_ms: int
    expired: bool
    evidence: Evidence


@dataclass(slots=True)
class ChannelUse:
    """One connection of a client id to one broker: when it was used, and the request numbers seen on it.

    The log of one run of a client counts as a connection too, to the broker "" (`is_log`).
    """

    broker: str
    remote: str
    client_id: str
    first_ms: int
    last_ms: int
    first_heartbeat_ms: int | None = None
    last_heartbeat_ms: int | None = None
    unregistered_ms: int | None = None
    unregistered_late_ms: int = 0
    finished_ms: int | None = None
    closed: Closed | None = None
    from_start: bool = False  # a log that begins with the start of its run
    pauses: list[tuple[int, int]] = field(default_factory=list)
    requests: list[tuple[int, int]] = field(default_factory=list)

    @property
    def is_log(self) -> bool:
        return not self.broker

    def lively_spans(self) -> list[tuple[int, int]]:
        """(from, until) of uninterrupted use."""
        edges = [self.first_ms, *(edge for pause in self.pauses for edge in pause), self.last_ms]
        return list(zip(edges[::2], edges[1::2], strict=True))

    def leave(self, at_ms: int, late_ms: int) -> None:
        """Takes note of an unregister in [at_ms, at_ms + late_ms]; the tightest statement of several stays."""
        if self.unregistered_ms is None or late_ms < self.unregistered_late_ms:
            self.unregistered_ms, self.unregistered_late_ms = at_ms, late_ms


class ProcessKey(NamedTuple):
    """A process of a group. `number` counts the processes that used this client id, in order of appearance, from 1."""

    client_id: str
    number: int


@frozen()
class End:
    """When a process's table ceased to be: not before `earliest_ms`, not after `latest_ms` (None: not known to have
    ended).
    """

    earliest_ms: int
    latest_ms: int | None
    cause: str | None
    evidence: Evidence


@frozen()
class HeardVersion:
    """A subVersion of a topic, when a heartbeat first carried it."""

    heard_ms: int
    sub_version: int
    evidence: Evidence


@dataclass(slots=True)
class ClientProcess:
    """Everything the record tells about one process in one group, each list in time order."""

    group: str
    key: ProcessKey
    channels: list[ChannelUse] = field(default_factory=list)
    parts: list[ClientProcess] = field(default_factory=list)  # what each channel tells by itself
    message_model: str | None = None
    consume_type: str | None = None
    client_version: int | None = None
    first_ms: int = 0
    last_ms: int = 0
    first_evidence: Evidence = NO_EVIDENCE
    last_evidence: Evidence = NO_EVIDENCE
    lists: list[ListAnswer] = field(default_factory=list)
    list_instants: list[int] = field(default_factory=list)  # at_ms of each list, once all are known
    versions: dict[str, list[HeardVersion]] = field(default_factory=dict)
    witnesses: dict[MessageQueue, list[Witness]] = field(default_factory=dict)
    results: list[RebalanceResultChanged] = field(default_factory=list)
    log_from_start: bool = False
    rounds_missing: bool = False  # it asked for lists where nothing was captured
    ordered: bool = False  # it asks for queue locks
    lite: bool = False  # a lite pull consumer
    end: End | None = None
    seen_from_start: bool = True  # False: it may have held queues before the record began
    holes: Sequence[tuple[int, int]] = ()  # of the record: what it did then is not known

    @property
    def client_id(self) -> str:
        return self.key.client_id

    @property
    def newborn(self) -> bool:
        """Whether the record shows its first requests: its request numbers begin low."""
        numbers = [channel.requests[0][1] for channel in self.channels if channel.requests]
        return bool(numbers) and min(numbers) <= _FIRST_REQUESTS

    @property
    def captured(self) -> bool:
        """Whether requests of it are on record."""
        return any(channel.requests for channel in self.channels)

    @property
    def told_from_ms(self) -> int:
        """Since when the record tells of its queues: its requests, or its log, which may begin later than its life."""
        logged = [channel.first_ms for channel in self.channels if channel.is_log]
        return min(logged) if logged and not self.captured else self.first_ms

    @property
    def broadcasting(self) -> bool:
        return self.message_model == "BROADCASTING"

    def registered_at(self, at_ms: int) -> bool:
        """Whether a broker had heard a heartbeat on one of its connections and not lost that connection since."""
        gone = self._gone_ms()
        if gone is not None and at_ms >= gone:
            return False
        return any(
            c.first_heartbeat_ms is not None
            and c.first_heartbeat_ms <= at_ms
            and (c.closed is None or at_ms < c.closed.latest_ms)
            for c in self.channels
        )

    def membership_edges(self) -> list[int]:
        """Instants at which `registered_at` may change, and the last at which it is known."""
        begun = [c.first_heartbeat_ms for c in self.channels if c.first_heartbeat_ms is not None]
        closed = [c.closed.latest_ms for c in self.channels if c.closed is not None]
        gone = self._gone_ms()
        return [*begun, *closed, self.last_ms if gone is None else gone] if begun else []

    def _gone_ms(self) -> int | None:
        """When the brokers no longer had it as a member, if they were seen to lose it."""
        if self.left_by_ms is not None:
            return self.left_by_ms
        return None if self.end is None else self.end.latest_ms

    @property
    def left_ms(self) -> tuple[int, int] | None:
        """(not before, not after): when it first asked to leave, by the statement with the least spread."""
        asked = [(c.unregistered_late_ms, c.unregistered_ms) for c in self.channels if c.unregistered_ms is not None]
        if not asked:
            return None
        spread_ms, at_ms = min(asked)
        return at_ms, at_ms + spread_ms

    @property
    def left_by_ms(self) -> int | None:
        """The instant by which it had asked to leave: what is handled later was sent before."""
        left = self.left_ms
        return None if left is None else left[1]

    @property
    def stamped(self) -> bool:
        """Whether a change of its queues shows as a new subVersion: push consumers only, not pull or lite pull."""
        return self.consume_type == "CONSUME_PASSIVELY"

    @property
    def pulls_by_hand(self) -> bool:
        """Whether its requests do not show its queues: an application asks, when it likes, for what it likes.

        Source: RebalancePullImpl#computePullFromWhere asks for no offset; DefaultMQPullConsumerImpl#pullSyncImpl.
        """
        return self.consume_type == "CONSUME_ACTIVELY" and self.captured and not (self.lite or self.log_from_start)

    @property
    def has_log(self) -> bool:
        return any(channel.is_log for channel in self.channels)

    def logged_at(self, at_ms: int) -> bool:
        """Whether its own log, read from the start of the run, covers an instant."""
        return self.log_from_start and any(c.is_log and c.first_ms <= at_ms <= c.last_ms for c in self.channels)

    def silences(self) -> list[tuple[int, int]]:
        """Spans longer than PAUSE_MS in which none of its connections nor its log shows a sign of life, though it
        went on.
        """
        unknown = [hole for hole in self.holes if self.first_ms < hole[0]]
        lively = sorted([*unknown, *(span for channel in self.channels for span in channel.lively_spans())])
        silent, until = [], lively[0][1]
        for begin, end in lively[1:]:
            if begin - until > PAUSE_MS and self._was_regular(until):
                silent.append((until, begin))
            until = max(until, end)
        return silent

    def _was_regular(self, at_ms: int) -> bool:
        """Whether regular signs of life could be expected: its requests are on record, or its log told of commits
        until then.
        """
        if self.captured:
            return True
        commits = (w.at_ms for witnesses in self.witnesses.values() for w in witnesses if w.kind is WitnessKind.COMMIT)
        return any(at_ms - PAUSE_MS // 2 <= commit_ms <= at_ms for commit_ms in commits)

    def last_list_before(self, at_ms: int) -> ListAnswer | None:
        """The latest answer not after `at_ms`."""
        index = bisect_right(self.list_instants, at_ms)
        return self.lists[index - 1] if index else None

    def lists_between(self, first_ms: int, last_ms: int) -> list[ListAnswer]:
        """Answers with first_ms <= at_ms <= last_ms that could change a table."""
        low, high = bisect_left(self.list_instants, first_ms), bisect_right(self.list_instants, last_ms)
        return [answer for answer in self.lists[low:high] if not answer.failed]

    def first_list_from(self, first_ms: int) -> ListAnswer | None:
        """The first of `lists_between` from an instant on."""
        low = bisect_left(self.list_instants, first_ms)
        return next((self.lists[at] for at in range(low, len(self.lists)) if not self.lists[at].failed), None)

    def next_list_asked(self, at_ms: int) -> int | None:
        """When it asked for the next list after `at_ms`: the topic before was done by then."""
        index = bisect_right(self.list_instants, at_ms)
        return self.lists[index].asked_at_ms if index < len(self.lists) else None

    def may_live(self, at_ms: int) -> bool:
        """Whether it is not known to have ended by then."""
        return self.end is None or self.end.latest_ms is None or at_ms <= self.end.latest_ms

    def active_after(self, at_ms: int) -> bool:
        return self.last_ms > at_ms


def first_commits(processes: Iterable[ClientProcess]) -> dict[MessageQueue, int]:
    """When each queue was first seen committed by anybody: whoever holds it later knows its offset."""
    first: dict[MessageQueue, int] = {}
    for process in processes:
        for queue, witnesses in process.witnesses.items():
            for witness in witnesses:
                if witness.kind is WitnessKind.COMMIT:
                    first[queue] = min(witness.at_ms, first.get(queue, witness.at_ms))
                    break
    return first


def has_log_without_zone(process: ClientProcess) -> bool:
    """Whether the process has a log whose time zone stayed unknown."""
    return any(seen[0].late_ms >= ZONE_STEP_MS for seen in process.witnesses.values())


def log_until(run: ChannelUse, spans: Spans) -> int:
    """Instant (epoch ms) of the last line of a run's log, which may belong to no template, or to a later run."""
    return max(run.last_ms, spans.get(run.remote.rpartition("#")[0], (0, 0))[1])
