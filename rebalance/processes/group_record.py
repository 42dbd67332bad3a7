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
    PullNotLocked,
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
    UnlockBatch,
)
from rebalance.facts.wire_and_log import told_twice
from rebalance.model.message_queue import MessageQueue
from rebalance.processes.client_clock import HeardChange
from rebalance.processes.connection import Closed, Connection, ListAnswer, Witness, WitnessKind
from rebalance.processes.connections import Connections
from rebalance.processes.late_locks import LateLocks
from rebalance.processes.locks import LockFact
from rebalance.processes.polled import Polled
from rebalance.processes.process import Process
from rebalance.processes.same_jvm import processes_of

_QUERY, _COMMIT, _PULL = WitnessKind.QUERY, WitnessKind.COMMIT, WitnessKind.PULL


class Rollback(NamedTuple):
    """A commit below the offset another process had stored: what lies between is consumed again after the next take-
    over.
    """

    at_ms: int
    queue: MessageQueue
    connection: Connection | None
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
        self._connections = Connections()
        self.locks: list[LockFact] = []
        self.lock_answers: list[LockAnswered] = []
        self.late_locks = LateLocks()
        self.polled = Polled()
        self.changes_heard: dict[str, list[HeardChange]] = {}
        self.pop_topics: set[str] = set()
        self.pop_queues: set[MessageQueue] = set()
        self._rollbacks_seen: list[Rollback] = []
        self._rollbacks_logged: list[Rollback] = []
        self._stored: dict[MessageQueue, tuple[int, Connection]] = {}

    def read(self, facts: Iterable[Fact]) -> None:
        """Takes in facts, in time order; types that say nothing about a connection are passed over."""
        for fact in facts:
            reader = _READERS.get(type(fact))
            if reader is not None:
                reader(self, fact)

    def processes(self) -> list[Process]:
        """All processes, ordered by client id, then by appearance."""
        return processes_of(self._connections.all)

    def heartbeat(self, fact: HeartbeatReceived) -> None:
        connection = self._connections.of_request(fact)
        if connection is None:
            return
        connection.register(fact.at_ms, fact.message_model, fact.consume_type)
        if fact.last_at_ms is not None:
            channel = connection.channel
            channel.last_heartbeat_ms = channel.last_ms = max(fact.last_at_ms, channel.last_ms)
        if fact.subscriptions is not None and connection.subscriptions != fact.subscriptions:
            connection.hear(fact.subscriptions, fact.at_ms, fact.evidence)

    def connected(self, fact: ChannelConnected) -> None:
        connection = self._connections.of_channel(fact)
        if connection is not None:
            connection.register(fact.at_ms, fact.message_model, fact.consume_type)

    def closed(self, fact: ChannelClosed) -> None:
        self._close(fact, expired=False)

    def expired(self, fact: ChannelExpired) -> None:
        self._close(fact, expired=True)

    def _close(self, fact: ChannelFact, *, expired: bool) -> None:
        """A close is the broker's observation, no sign of life of the client."""
        connection = self._connections.known(fact)
        if connection is None and fact.client_id is not None and fact.remote is not None:
            connection = self._connections.open(fact, fact.source, fact.remote)
        if connection is not None and connection.channel.closed is None:
            connection.channel.closed = Closed(fact.at_ms + fact.late_ms, expired, fact.evidence)

    def unregistered(self, fact: ClientUnregistered) -> None:
        connection = self._connections.of_request(fact)
        if connection is not None:
            connection.channel.leave(fact.at_ms, fact.late_ms)

    def subscription_changed(self, fact: SubscriptionChanged) -> None:
        if fact.sub_version is not None:
            change = HeardChange(fact.sub_version, fact.at_ms + fact.late_ms - fact.sub_version)
            self.changes_heard.setdefault(fact.source, []).append(change)

    def consumer_list(self, fact: ConsumerListAnswered) -> None:
        connection = self._connections.of_request(fact)
        if connection is None:
            return
        asked = fact.at_ms if fact.asked_at_ms is None else fact.asked_at_ms
        failed = fact.client_ids is None and fact.remark is not None
        connection.lists.append(ListAnswer(fact.at_ms, asked, fact.source, fact.client_ids, failed, fact.evidence))

    def assignment_answered(self, fact: AssignmentAnswered) -> None:
        """A broker's result is a round of the client, as a member list is, and names no members."""
        connection = self._connections.of_request(fact)
        if fact.pop:
            self._shared(fact.topic, fact.target or ())
        elif connection is not None:
            asked = fact.at_ms if fact.asked_at_ms is None else fact.asked_at_ms
            connection.lists.append(
                ListAnswer(fact.at_ms, asked, fact.source, None, fact.target is None, fact.evidence)
            )
            self._result(connection, fact)

    def _result(self, connection: Connection, fact: AssignmentAnswered) -> None:
        """Keep a result where it changes, as a client's log does."""
        target = fact.target
        if target is None or fact.strategy is None or connection.targets.get(fact.topic) == target:
            return
        connection.targets[fact.topic] = target
        told: dict[str, Any] = {"strategy": fact.strategy, "topic": fact.topic, "target": target}
        told |= {"at_ms": fact.at_ms, "source": fact.source, "evidence": fact.evidence, "group": fact.group}
        connection.results.append(
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
        connection = self._witness(fact, queue, _COMMIT, queue_offset)
        if connection is not None:
            stored = self._stored.get(queue)
            if stored is not None and queue_offset < stored[0] and stored[1] is not connection:
                self._rollbacks_seen.append(
                    Rollback(fact.at_ms, queue, connection, queue_offset, stored[0], fact.evidence)
                )
            self._stored[queue] = (queue_offset, connection)

    def commit_rolled_back(self, fact: CommitRolledBack) -> None:
        queue = MessageQueue(fact.topic, fact.source, fact.queue_id)
        connection = self._connections.known(fact)
        requested, stored = fact.requested_queue_offset, fact.stored_queue_offset
        self._rollbacks_logged.append(
            Rollback(fact.at_ms, queue, connection, requested, stored, fact.evidence, fact.late_ms)
        )

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
        connection = self._witness(fact, fact.queue, _PULL, fact.queue_offset)
        if connection is not None and fact.lite:
            connection.lite = True

    def locks_answered(self, fact: LockBatchAnswered) -> None:
        """Renewal names a broker's whole table; one queue may be a first try (ConsumeMessageOrderlyService)."""
        self.locks.append(fact)
        connection = self._connections.of_request(fact)
        if connection is not None:
            connection.ordered = True
        if len(fact.asked) < 2:
            return
        for queue in fact.asked:
            self._witness(fact, queue, WitnessKind.LOCK, None)

    def unlocked(self, fact: UnlockBatch) -> None:
        self.locks.append(fact)
        self._connections.of_request(fact)

    def lock_decided(self, fact: QueueLockDecided) -> None:
        self.locks.append(fact)

    def _witness(
        self, fact: RequestFact, queue: MessageQueue, kind: WitnessKind, queue_offset: int | None
    ) -> Connection | None:
        connection = self._connections.of_request(fact)
        if connection is not None:
            witness = Witness(fact.at_ms, kind, queue_offset, fact.evidence)
            seen = connection.witnesses.get(queue)
            if seen is None:
                connection.witnesses[queue] = [witness]
            else:
                seen.append(witness)
        return connection

    def connections_seen(self, fact: ConnectionsSeen) -> None:
        self.polled.connections(fact)

    # ---- from inside a client

    def run_fact(self, fact: ClientFact) -> None:
        self._connections.of_run(fact)

    def starting(self, fact: ConsumerStarting) -> None:
        connection = self._connections.of_run(fact)
        connection.message_model = fact.message_model or connection.message_model
        connection.channel.from_start = True

    def shut_down(self, fact: ConsumerShutdown) -> None:
        channel = self._connections.of_run(fact).channel
        channel.leave(fact.at_ms - fact.early_ms, fact.early_ms + fact.late_ms)
        if fact.finished:
            channel.finished_ms = fact.at_ms + fact.late_ms

    def queue_added(self, fact: QueueAdded) -> None:
        self._told(fact, fact.queue, WitnessKind.ADDED, None)

    def pop_queue_added(self, fact: PopQueueAdded) -> None:
        self._connections.of_run(fact)
        self._shared(fact.queue.topic, (fact.queue,))

    def queue_removed(self, fact: QueueRemoved) -> None:
        self._told(fact, fact.queue, WitnessKind.REMOVED, None)

    def table_seen(self, fact: QueueTableSeen) -> None:
        """A polled table: no run of a log, and no connection."""
        self.polled.table(fact)

    def persisted(self, fact: OffsetPersisted) -> None:
        self._told(fact, fact.queue, _COMMIT, fact.queue_offset)

    def result_changed(self, fact: RebalanceResultChanged) -> None:
        self._connections.of_run(fact).results.append(fact)

    def lock_answered(self, fact: LockAnswered) -> None:
        self._connections.of_run(fact)
        self.late_locks.answered(fact)
        self.lock_answers.append(fact)

    def not_locked(self, fact: PullNotLocked) -> None:
        self._connections.of_run(fact)
        self.late_locks.waited(fact)

    def _told(self, fact: ClientFact, queue: MessageQueue, kind: WitnessKind, queue_offset: int | None) -> None:
        witness = Witness(fact.at_ms - fact.early_ms, kind, queue_offset, fact.evidence, fact.early_ms + fact.late_ms)
        self._connections.of_run(fact).witnesses.setdefault(queue, []).append(witness)


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
    LockAnswered: GroupRecord.lock_answered,
    PullNotLocked: GroupRecord.not_locked,
    QueueAddFailed: GroupRecord.run_fact,
    RoundSkipped: GroupRecord.run_fact,
    RebalanceResultChanged: GroupRecord.result_changed,
    QueueAdded: GroupRecord.queue_added,
    QueueRemoved: GroupRecord.queue_removed,
    PopQueueAdded: GroupRecord.pop_queue_added,
    OffsetPersisted: GroupRecord.persisted,
}
