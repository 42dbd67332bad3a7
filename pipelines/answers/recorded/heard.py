"""What logs and captures of a cluster tell, all of it heard in one pass over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from pipelines.answers.backlog.subscriptions_heard import SubscriptionsHeard
from pipelines.answers.offsets.record import OffsetLines, OffsetRecord
from pipelines.recordings.dispatch_log import DispatchLines
from pipelines.recordings.listening import Listener
from pipelines.recordings.store_log import StoreLog
from pipelines.recordings.topic_log import LifeLines
from rebalance.facts import Fact
from rebalance.replay import Replay
from recovery.lives.story import LifeEvent


@dataclass(slots=True)
class Heard:
    """What recordings tell beside a store.

    Attributes:
        history: who owned which queue; None: no recordings were named.
        lives: lines about topics and groups, by broker.
        record: what they say of offsets and of who is connected.
        subscriptions: what groups subscribe to.
        behind: (epoch ms, bytes) of the lines about dispatch.
        until_ms: the instant of the latest fact.
        facts: all of them, where they were asked for.
        store_log: what store.log and storeerror.log say; None: neither is there, or they are of several brokers.
    """

    history: Replay | None = None
    lives: LifeLines = field(default_factory=LifeLines)
    record: OffsetRecord = field(default_factory=OffsetRecord)
    subscriptions: SubscriptionsHeard = field(default_factory=SubscriptionsHeard)
    behind: Sequence[tuple[int, int]] = ()
    until_ms: int = 0
    facts: Sequence[Fact] = ()
    store_log: StoreLog | None = None

    @property
    def lines(self) -> tuple[LifeEvent, ...]:
        """What the logs of the store's broker say of topics and groups; nothing where they are of several brokers."""
        return self.lives.of_broker()

    @property
    def is_of_one_broker(self) -> bool:
        return len(self.lives.by_broker) == 1

    def brokers(self) -> Set[str] | None:
        """The name of the store's broker; None where the recordings are of several, nothing where none is named."""
        return broker_among(set(self.lives.by_broker), self._owning())

    def why_no_broker(self) -> str:
        """Why `brokers` is None."""
        named = ", ".join(sorted({*self.lives.by_broker, *self._owning()}))
        return f"several brokers ({named}); which is the store's is not known"

    def _owning(self) -> set[str]:
        if self.history is None:
            return set()
        wrong = {row.broker for row in self.history.anomalies if row.broker is not None}
        return {row.broker for row in self.history.intervals} | wrong or self.subscriptions.brokers()


def broker_among(logged: Set[str], owning: Set[str]) -> Set[str] | None:
    """The name of the store's broker, among those of broker logs and those of the owned queues; None where several are
    possible, empty where none is named. A log that does not name its broker has the name of its folder."""
    brokers = logged & owning or owning or logged
    return brokers if len(logged) < 2 and len(brokers) < 2 else None


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

    def heard(self, history: Replay | None) -> Heard:
        """All of it; to be asked once the recordings are read to their ends."""
        record, behind = self._offsets.record(), self._dispatch.behind
        return Heard(history, self._lives, record, self._subscriptions, behind, self._until_ms, self._facts or ())
