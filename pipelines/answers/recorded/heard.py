"""What logs and captures of a cluster tell, all of it heard in one pass over them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from pipelines.answers.backlog.standing import QueueOwner
from pipelines.answers.backlog.subscriptions_heard import SubscriptionsHeard
from pipelines.answers.offsets.heard_lines import OffsetLines
from pipelines.answers.offsets.record import GroupQueueKey, OffsetRecord
from pipelines.recordings.dispatch_log import DispatchLines
from pipelines.recordings.listening import Listener
from pipelines.recordings.store_broker import broker_among, several
from pipelines.recordings.store_log import StoreLog
from pipelines.recordings.topic_log import LifeLines
from rebalance.diagnosis.intervals import OwnershipInterval
from rebalance.facts import Fact
from rebalance.ownership.owners import QueueOwners
from rebalance.replay import Replay
from recovery.lives.story import LifeEvent


@dataclass(slots=True)
class Heard:
    """What recordings tell beside a store.

    Attributes:
        history: who owned which queue; None: no recordings were named.
        lives: lines about topics and groups, by broker.
        record: what they say of offsets and of who is connected, at the store's broker.
        subscriptions: what groups subscribe to.
        behind: (epoch ms, bytes) of the lines about dispatch.
        until_ms: the instant of the latest fact.
        facts: all of them, where they were asked for.
        store_log: what store.log and storeerror.log say; None: neither is there, or they are of several brokers.
        own: the name of the store's broker, where that is known.
    """

    history: Replay | None = None
    lives: LifeLines = field(default_factory=LifeLines)
    record: OffsetRecord = field(default_factory=OffsetRecord)
    subscriptions: SubscriptionsHeard = field(default_factory=SubscriptionsHeard)
    behind: Sequence[tuple[int, int]] = ()
    until_ms: int = 0
    facts: Sequence[Fact] = ()
    store_log: StoreLog | None = None
    own: str | None = None

    @property
    def lines(self) -> tuple[LifeEvent, ...]:
        """What the log of the store's broker says of topics and groups; nothing where it is not known which that is."""
        return self.lives.of_broker(self.own)

    @property
    def has_its_log(self) -> bool:
        """Whether a log of the store's broker is there."""
        return self.lives.has_broker(self.own)

    def brokers(self) -> Set[str] | None:
        """The names of the store's broker; None where the recordings are of several and it is not known, nothing where
        none is named."""
        return broker_among(set(self.lives.by_broker), self._owning(), self.own)

    def why_no_broker(self) -> str:
        """Why `brokers` is None."""
        return several(set(self.lives.by_broker), self._owning())

    def _owning(self) -> set[str]:
        if self.history is None:
            return set()
        wrong = {row.broker for row in self.history.anomalies if row.broker is not None}
        return {row.broker for row in self.history.intervals} | wrong or self.subscriptions.brokers()


class Hearing:
    """Hears recordings while a replay takes their facts, and keeps the facts where they are asked for."""

    def __init__(self, *, keeps_facts: bool = False) -> None:
        self._lives, self._offsets, self._dispatch = LifeLines(), OffsetLines(), DispatchLines()
        self._subscriptions = SubscriptionsHeard()
        self._until_ms = 0
        self._facts: list[Fact] | None = [] if keeps_facts else None

    @property
    def listeners(self) -> Sequence[Listener]:
        return self._lives, self._offsets, self._dispatch, self._subscriptions

    def noting(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """The facts on their way to the replay."""
        for fact in facts:
            if self._facts is not None:
                self._facts.append(fact)
            self._until_ms = max(self._until_ms, fact.at_ms + fact.late_ms)
            yield fact

    def heard(self, history: Replay | None, own: str | None) -> Heard:
        """All of it, for a store whose broker has that name; to be asked once the recordings are read to their ends."""
        record, behind = self._offsets.record(own), self._dispatch.of_broker(own)
        kept = self._facts or ()
        return Heard(history, self._lives, record, self._subscriptions, behind, self._until_ms, kept, own=own)


def owners_at_end(heard: Heard, brokers: Collection[str]) -> dict[GroupQueueKey, QueueOwner]:
    """The owners of these brokers' queues where the recordings end, or the last ones; no client where none ever was."""
    if heard.history is None or heard.history.told is None:
        return {}
    until_ms = heard.history.told[1]
    held: dict[GroupQueueKey, list[OwnershipInterval]] = {}
    for row in heard.history.intervals:
        if row.broker in brokers:
            held.setdefault((row.group, row.topic, row.queue_id), []).append(row)
    return {
        (queue.group, queue.topic, queue.queue_id): _owner(
            queue, held.get((queue.group, queue.topic, queue.queue_id), []), until_ms
        )
        for queue in heard.history.ownership_at(until_ms)
        if queue.broker in brokers
    }


def _owner(queue: QueueOwners, held: Sequence[OwnershipInterval], until_ms: int) -> QueueOwner:
    """`held`: all that had the queue at any time."""
    if not queue.certain:
        return QueueOwner(queue.possible, is_certain=False)
    if queue.owners:
        own = [row.begin_latest for row in held if row.client_id in queue.owners and _is_open(row, until_ms)]
        return QueueOwner(queue.owners, is_certain=True, since_ms=max(own, default=None))
    ended = [row for row in held if row.end_latest is not None]
    end_ms = max((row.end_latest or 0 for row in ended), default=None)
    last_ms = max((row.end_earliest for row in ended), default=0)
    last = sorted({row.client_id for row in ended if (row.end_latest or 0) >= last_ms})
    return QueueOwner(tuple(last), is_certain=len(last) < 2, until_ms=end_ms)


def _is_open(row: OwnershipInterval, until_ms: int) -> bool:
    return row.end_latest is None or row.end_latest >= until_ms
