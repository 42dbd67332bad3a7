"""Facts, in time order -> the processes of one group, each with everything the record says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rebalance.facts import (
    AssignmentAnswered,
    ChannelClosed,
    ChannelConnected,
    ChannelExpired,
    ChannelFact,
    ClientFact,
    ClientUnregistered,
    CommitRolledBack,
    ConnectionsSeen,
    ConsumerListAnswered,
    ConsumerShutdown,
    ConsumerStarted,
    ConsumerStarting,
    Evidence,
    Fact,
    HeartbeatReceived,
    LockAnswered,
    LockBatchAnswered,
    Notified,
    OffsetCommitted,
    OffsetPersisted,
    OffsetQueried,
    PopQueueAdded,
    PullSeen,
    QueueAdded,
    QueueAddFailed,
    QueueLockDecided,
    QueueRemoved,
    QueueTableSeen,
    RebalanceResultChanged,
    RequestFact,
    RequestModeSet,
    RoundSkipped,
    SubscriptionChanged,
    SubscriptionVersionBumped,
    TopicSubscription,
    UnlockBatch,
)
from rebalance.facts.wire_and_log import told_twice
from rebalance.model.message_queue import MessageQueue
from rebalance.processes.client_clock import HeardChange
from rebalance.processes.connections import Parts
from rebalance.processes.locks import LockFact
from rebalance.processes.polled import Polled
from rebalance.processes.process import (
    ClientProcess,
    Closed,
    HeardVersion,
    ListAnswer,
    Witness,
    WitnessKind,
)

_QUERY, _COMMIT, _PULL = WitnessKind.QUERY, WitnessKind.COMMIT, WitnessKind.PULL


class Rollback(NamedTuple):
    """A commit below the offset another process had stored: what lies between is consumed again after the next take-
    over.
    """

    at_ms: int
    queue: MessageQueue
    part: ClientProcess | None
    queue_offset: int
    stored_queue_offset: int
    evidence: Evidence
    late_ms: int = 0  # the true instant is up to this much later


class GroupRecord:
    """Collects one group's facts by connection; `processes()` joins the connections of each process.

    Requests on a connection that never names its client (an administration tool) are ignored.
    """

    def __init__(self, group: str) -> None:
        self.group = group
        self._parts = Parts(group)
        self.locks: list[LockFact] = []
        self.polled = Polled()
        self.changes_heard: dict[str, list[HeardChange]] = {}
        self.pop_topics: set[str] = set()
        self.pop_queues: set[MessageQueue] = set()
        self._last_targets: dict[tuple[int, str], tuple[MessageQueue, ...]] = {}
        self._rollbacks_seen: list[Rollback] = []
        self._rollbacks_logged: list[Rollback] = []
        self._stored: dict[MessageQueue, tuple[int, ClientProcess]] = {}
        self._last_subscriptions: dict[int, tuple[TopicSubscription, ...]] = {}

    def read(self, facts: Iterable[Fact]) -> None:
        """Takes in facts, in time order; types that say nothing about a connection are passed over."""
        for fact in facts:
            reader = _READERS.get(type(fact))
            if reader is not None:
                reader(self, fact)

    def processes(self) -> list[ClientProcess]:
        """All processes, ordered by client id, then by appearance."""
        return self._parts.joined()

    def heartbeat(self, fact: HeartbeatReceived) -> None:
        part = self._parts.of_request(fact)
        if part is None:
            return
        _registered(part, fact.at_ms, fact.message_model, fact.consume_type, fact.client_version)
        if fact.last_at_ms is not None:
            channel = part.channels[0]
            channel.last_heartbeat_ms = channel.last_ms = part.last_ms = max(fact.last_at_ms, part.last_ms)
        if fact.subscriptions is not None and self._last_subscriptions.get(id(part)) != fact.subscriptions:
            self._last_subscriptions[id(part)] = fact.subscriptions
            _hear_versions(part, fact, fact.subscriptions)

    def connected(self, fact: ChannelConnected) -> None:
        part = self._parts.of_connection(fact)
        if part is not None:
            _registered(part, fact.at_ms, fact.message_model, fact.consume_type, fact.client_version)

    def closed(self, fact: ChannelClosed) -> None:
        self._close(fact, expired=False)

    def expired(self, fact: ChannelExpired) -> None:
        self._close(fact, expired=True)

    def _close(self, fact: ChannelFact, *, expired: bool) -> None:
        """A close is the broker's observation, no sign of life of the client."""
        part = self._parts.known(fact)
        if part is None and fact.client_id is not None and fact.remote is not None:
            part = self._parts.open(fact, fact.source, fact.remote)
        if part is not None and part.channels[0].closed is None:
            part.channels[0].closed = Closed(fact.at_ms + fact.late_ms, expired, fact.evidence)

    def unregistered(self, fact: ClientUnregistered) -> None:
        part = self._parts.of_request(fact)
        if part is not None:
            part.channels[0].leave(fact.at_ms, fact.late_ms)

    def subscription_changed(self, fact: SubscriptionChanged) -> None:
        if fact.sub_version is not None:
            change = HeardChange(fact.sub_version, fact.at_ms + fact.late_ms - fact.sub_version)
            self.changes_heard.setdefault(fact.source, []).append(change)

    def consumer_list(self, fact: ConsumerListAnswered) -> None:
        part = self._parts.of_request(fact)
        if part is None:
            return
        asked = fact.at_ms if fact.asked_at_ms is None else fact.asked_at_ms
        failed = fact.client_ids is None and fact.remark is not None
        part.lists.append(ListAnswer(fact.at_ms, asked, fact.source, fact.client_ids, failed, fact.evidence))

    def assignment_answered(self, fact: AssignmentAnswered) -> None:
        """A broker's result is a round of the client, as a member list is, and names no members."""
        part = self._parts.of_request(fact)
        if fact.pop:
            self._shared(fact.topic, fact.target or ())
        elif part is not None:
            asked = fact.at_ms if fact.asked_at_ms is None else fact.asked_at_ms
            part.lists.append(ListAnswer(fact.at_ms, asked, fact.source, None, fact.target is None, fact.evidence))
            self._result(part, fact)

    def _result(self, part: ClientProcess, fact: AssignmentAnswered) -> None:
        """A result is told where it changes, as a client's log does."""
        key, target = (id(part), fact.topic), fact.target
        if target is None or fact.strategy is None or self._last_targets.get(key) == target:
            return
        self._last_targets[key] = target
        told: dict[str, Any] = {"strategy": fact.strategy, "topic": fact.topic, "target": target}
        told |= {"at_ms": fact.at_ms, "source": fact.source, "evidence": fact.evidence, "group": fact.group}
        part.results.append(
            RebalanceResultChanged(client_id=fact.client_id, mq_all_size=None, cid_all_size=None, **told)
        )

    def mode_set(self, fact: RequestModeSet) -> None:
        if fact.pop:
            self._shared(fact.topic, ())

    def _shared(self, topic: str, queues: Iterable[MessageQueue]) -> None:
        self.pop_topics.add(topic)
        self.pop_queues.update(queue for queue in queues if queue.queue_id >= 0)

    def offset_queried(self, fact: OffsetQueried) -> None:
        self._witness(fact, fact.queue, _QUERY, fact.queue_offset)

    def offset_committed(self, fact: OffsetCommitted) -> None:
        queue, queue_offset = fact.queue, fact.queue_offset
        part = self._witness(fact, queue, _COMMIT, queue_offset)
        if part is not None:
            stored = self._stored.get(queue)
            if stored is not None and queue_offset < stored[0] and stored[1] is not part:
                self._rollbacks_seen.append(Rollback(fact.at_ms, queue, part, queue_offset, stored[0], fact.evidence))
            self._stored[queue] = (queue_offset, part)

    def commit_rolled_back(self, fact: CommitRolledBack) -> None:
        queue = MessageQueue(fact.topic, fact.source, fact.queue_id)
        part = self._parts.known(fact)
        requested, stored = fact.requested_queue_offset, fact.stored_queue_offset
        self._rollbacks_logged.append(Rollback(fact.at_ms, queue, part, requested, stored, fact.evidence, fact.late_ms))

    def rollbacks(self) -> list[Rollback]:
        """All rollbacks in time order; the log knows what was stored, the request when it came and from whom."""
        told = told_twice(self._rollbacks_seen, self._rollbacks_logged, lambda r: (r.queue, r.queue_offset))
        found = []
        for seen, logged in told:
            one = seen or logged
            assert one is not None
            stored = logged.stored_queue_offset if logged is not None else one.stored_queue_offset
            found.append(one._replace(stored_queue_offset=stored))
        return sorted(found, key=lambda rollback: rollback.at_ms)

    def pull_seen(self, fact: PullSeen) -> None:
        part = self._witness(fact, fact.queue, _PULL, fact.queue_offset)
        if part is not None and fact.lite:
            part.lite = True

    def locks_answered(self, fact: LockBatchAnswered) -> None:
        """Renewal names a broker's whole table; one queue may be a first try (ConsumeMessageOrderlyService)."""
        self.locks.append(fact)
        part = self._parts.of_request(fact)
        if part is not None:
            part.ordered = True
        if len(fact.asked) < 2:
            return
        for queue in fact.asked:
            self._witness(fact, queue, WitnessKind.LOCK, None)

    def unlocked(self, fact: UnlockBatch) -> None:
        self.locks.append(fact)
        self._parts.of_request(fact)

    def lock_decided(self, fact: QueueLockDecided) -> None:
        self.locks.append(fact)

    def _witness(
        self, fact: RequestFact, queue: MessageQueue, kind: WitnessKind, queue_offset: int | None
    ) -> ClientProcess | None:
        part = self._parts.of_request(fact)
        if part is not None:
            witness = Witness(fact.at_ms, kind, queue_offset, fact.evidence)
            seen = part.witnesses.get(queue)
            if seen is None:
                part.witnesses[queue] = [witness]
            else:
                seen.append(witness)
        return part

    def connections_seen(self, fact: ConnectionsSeen) -> None:
        self.polled.connections(fact)

    # ---- from inside a client

    def run_fact(self, fact: ClientFact) -> None:
        self._parts.of_run(fact)

    def starting(self, fact: ConsumerStarting) -> None:
        part = self._parts.of_run(fact)
        part.message_model = fact.message_model or part.message_model
        part.log_from_start = part.channels[0].from_start = True

    def shut_down(self, fact: ConsumerShutdown) -> None:
        channel = self._parts.of_run(fact).channels[0]
        channel.leave(fact.at_ms - fact.early_ms, fact.early_ms + fact.late_ms)
        if fact.finished:
            channel.finished_ms = fact.at_ms + fact.late_ms

    def queue_added(self, fact: QueueAdded) -> None:
        self._told(fact, fact.queue, WitnessKind.ADDED, None)

    def pop_queue_added(self, fact: PopQueueAdded) -> None:
        self._parts.of_run(fact)
        self._shared(fact.queue.topic, (fact.queue,))

    def queue_removed(self, fact: QueueRemoved) -> None:
        self._told(fact, fact.queue, WitnessKind.REMOVED, None)

    def table_seen(self, fact: QueueTableSeen) -> None:
        """A polled table: no run of a log, and no connection."""
        self.polled.table(fact)

    def persisted(self, fact: OffsetPersisted) -> None:
        self._told(fact, fact.queue, _COMMIT, fact.queue_offset)

    def result_changed(self, fact: RebalanceResultChanged) -> None:
        self._parts.of_run(fact).results.append(fact)

    def _told(self, fact: ClientFact, queue: MessageQueue, kind: WitnessKind, queue_offset: int | None) -> None:
        witness = Witness(fact.at_ms - fact.early_ms, kind, queue_offset, fact.evidence, fact.early_ms + fact.late_ms)
        self._parts.of_run(fact).witnesses.setdefault(queue, []).append(witness)


def _registered(
    part: ClientProcess, at_ms: int, message_model: str | None, consume_type: str | None, client_version: int | None
) -> None:
    channel = part.channels[0]
    if channel.first_heartbeat_ms is None:
        channel.first_heartbeat_ms = at_ms
        part.message_model, part.consume_type, part.client_version = message_model, consume_type, client_version
    if channel.last_heartbeat_ms is None or channel.last_heartbeat_ms < at_ms:
        channel.last_heartbeat_ms = at_ms


def _hear_versions(part: ClientProcess, fact: HeartbeatReceived, subscriptions: Iterable[TopicSubscription]) -> None:
    for subscription in subscriptions:
        heard = part.versions.setdefault(subscription.topic, [])
        version = subscription.sub_version
        if version is not None and (not heard or heard[-1].sub_version < version):
            heard.append(HeardVersion(fact.at_ms, version, fact.evidence))


_READERS: dict[type[Fact], Callable[[GroupRecord, Any], None]] = {
    HeartbeatReceived: GroupRecord.heartbeat,
    ClientUnregistered: GroupRecord.unregistered,
    ConsumerListAnswered: GroupRecord.consumer_list,
    AssignmentAnswered: GroupRecord.assignment_answered,
    RequestModeSet: GroupRecord.mode_set,
    OffsetQueried: GroupRecord.offset_queried,
    OffsetCommitted: GroupRecord.offset_committed,
    PullSeen: GroupRecord.pull_seen,
    LockBatchAnswered: GroupRecord.locks_answered,
    UnlockBatch: GroupRecord.unlocked,
    QueueLockDecided: GroupRecord.lock_decided,
    CommitRolledBack: GroupRecord.commit_rolled_back,
    ChannelConnected: GroupRecord.connected,
    ChannelClosed: GroupRecord.closed,
    SubscriptionChanged: GroupRecord.subscription_changed,
    ChannelExpired: GroupRecord.expired,
    ConnectionsSeen: GroupRecord.connections_seen,
    QueueTableSeen: GroupRecord.table_seen,
    ConsumerStarting: GroupRecord.starting,
    ConsumerStarted: GroupRecord.run_fact,
    ConsumerShutdown: GroupRecord.shut_down,
    Notified: GroupRecord.run_fact,
    SubscriptionVersionBumped: GroupRecord.run_fact,
    LockAnswered: GroupRecord.run_fact,
    QueueAddFailed: GroupRecord.run_fact,
    RoundSkipped: GroupRecord.run_fact,
    RebalanceResultChanged: GroupRecord.result_changed,
    QueueAdded: GroupRecord.queue_added,
    QueueRemoved: GroupRecord.queue_removed,
    PopQueueAdded: GroupRecord.pop_queue_added,
    OffsetPersisted: GroupRecord.persisted,
}
