"""Facts: what a record says happened, when, who said so, and how sure the instant is.

Broker-side facts come from wire captures and broker logs, client-side facts from client logs, the rest from snapshots.
A fact states only what its record states: a list answer is a list answer, no ownership yet. `rebalance.replay` draws
the conclusions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rebalance.model import MessageQueue


class Evidence(NamedTuple):
    """Where a fact was read: `record` is the line or record number in `file`, counted from 1 (0: the whole file)."""

    file: str
    record: int

    def __str__(self) -> str:
        return f"{self.file}:{self.record}"


NO_EVIDENCE = Evidence("", 0)


class TopicSubscription(NamedTuple):
    """One topic of a group in a heartbeat.

    `sub_version` is the client clock (ms) of the last change of that topic's queues.
    """

    topic: str
    expression: str | None
    expression_type: str | None
    sub_version: int | None


class TopicQueues(NamedTuple):
    """How many queues of a topic may be read on one broker (0: none)."""

    topic: str
    broker_name: str
    read_queue_nums: int


class Connection(NamedTuple):
    """One member of a group as a broker's snapshot shows it; `remote` is `ip:port`."""

    client_id: str
    remote: str
    client_version: int | None


class GroupSettings(NamedTuple):
    """A group's entry in `subscriptionGroup.json`, as far as a rebalance depends on it."""

    consume_enable: bool
    consume_broadcast_enable: bool
    notify_consumer_ids_changed_enable: bool
    retry_queue_nums: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """The true instant lies in [at_ms - early_ms, at_ms + late_ms], epoch milliseconds UTC on the reader's reference
    clock.

    A line stamped to the second has `late_ms=999`. `source` names who recorded it: a broker's name, or a client's id
    or log name.
    """

    at_ms: int
    source: str
    evidence: Evidence = NO_EVIDENCE
    early_ms: int = 0
    late_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFact(Fact):
    """A fact about one consumer group. Everything but a broker's life and a topic's queues is one."""

    group: str


# ---- what a broker sees of a client


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFact(GroupFact):
    """A fact about one client connection at the broker `source`; `remote` is the client's `ip:port` (unique per
    connection).
    """

    remote: str | None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFact(ChannelFact):
    """A request as the broker got it.

    `request_no` is RemotingCommand's opaque: one counter per client JVM, over all connections.
    """

    request_no: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatReceived(RequestFact):
    """HEART_BEAT, one fact per group in it. A run of equal ones may be one fact: `refreshes` more, the last at
    `last_at_ms`.

    `subscriptions` is None when the body left them out (heartbeat V2 withoutSub), and () when it carried an empty set.
    """

    message_model: str | None = None
    consume_type: str | None = None
    consume_from_where: str | None = None
    client_version: int | None = None
    subscriptions: tuple[TopicSubscription, ...] | None = None
    refreshes: int = 0
    last_at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientUnregistered(RequestFact):
    """UNREGISTER_CLIENT for this group, or `unregister a consumer[…]`: a clean leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerListAnswered(RequestFact):
    """GET_CONSUMER_LIST_BY_GROUP and its answer: `client_ids` in the broker's order, duplicates kept; None if it
    failed or was not seen.

    `at_ms` is the instant of the answer, `asked_at_ms` that of the request.
    """

    asked_at_ms: int | None
    client_ids: tuple[str, ...] | None
    remark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetQueried(RequestFact):
    """QUERY_CONSUMER_OFFSET and its answer; `queue_offset` is None with response code 22 (none stored), or if no
    answer was seen.
    """

    queue: MessageQueue
    queue_offset: int | None
    result: int | None
    answered_at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitted(RequestFact):
    """UPDATE_CONSUMER_OFFSET as the broker got it."""

    queue: MessageQueue
    queue_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PullSeen(RequestFact):
    """PULL_MESSAGE or LITE_PULL_MESSAGE; a capture may hold only a sample of them."""

    queue: MessageQueue
    queue_offset: int | None
    commit_offset: int | None = None
    sub_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchAnswered(RequestFact):
    """LOCK_BATCH_MQ and its answer: `granted` is None if it failed or was not seen."""

    asked: tuple[MessageQueue, ...]
    granted: tuple[MessageQueue, ...] | None
    asked_at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlockBatch(RequestFact):
    """UNLOCK_BATCH_MQ as the broker got it."""

    queues: tuple[MessageQueue, ...]


# ---- what a broker's log tells


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelConnected(ChannelFact):
    """`new consumer connected`: the first heartbeat of this group on this connection."""

    message_model: str | None = None
    consume_type: str | None = None
    client_version: int | None = None
    last_heartbeat_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelClosed(ChannelFact):
    """A connection of a member went:

    `NETTY EVENT: remove not active channel`. `cause` is close, idle, exception or None (unknown).
    """

    cause: str | None = None
    last_heartbeat_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelExpired(ChannelFact):
    """The broker's scan removed a member that was silent for 120 s:

    `SCAN: remove expired channel`. Nobody is notified.
    """

    last_heartbeat_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionChanged(GroupFact):
    """The broker's subscription table of a group changed: `change` is add, replace or remove."""

    topic: str
    change: str
    sub_version: int | None = None
    expression: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRolledBack(ChannelFact):
    """`[NOTIFYME]update consumer offset less than store`: a late commit, usually of the old owner."""

    topic: str
    queue_id: int
    requested_queue_offset: int
    stored_queue_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLockDecided(GroupFact):
    """One decision of the broker's lock table:

    `decision` is locked, taken_over, refused, unlocked or unlock_refused.
    """

    queue: MessageQueue
    client_id: str
    decision: str
    other_client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStarted(Fact):
    """The broker `source` came up: its membership and lock tables are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStopping(Fact):
    """The broker `source` goes down."""


# ---- what a client's log tells (`source` is the log's name; `client_id` None until the log has named it)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFact(GroupFact):
    """A fact from inside a consumer; `process` tells runs of one log apart (a new number at each start seen in it)."""

    client_id: str | None
    process: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerStarting(ClientFact):
    """`the consumer [G] start beginning`."""

    message_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerStarted(ClientFact):
    """`the consumer [G] start OK`. No sign of membership by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerShutdown(ClientFact):
    """`the consumer [G] shutdown OK`, or the unregister line before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notified(ClientFact):
    """`receive broker's notification`: all groups of the instance get a round soon."""

    broker_address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceResultChanged(ClientFact):
    """`[client] rebalanced result changed`: the *target* of a round, not yet the table.

    Sizes are those before allocation.
    """

    strategy: str
    topic: str
    mq_all_size: int | None
    cid_all_size: int | None
    target: tuple[MessageQueue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionVersionBumped(ClientFact):
    """`{topic} Rebalance changed, also update version`: the end of a round that changed this topic's queues (client
    clock, ms).
    """

    topic: str
    old_sub_version: int
    new_sub_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAdded(ClientFact):
    """`doRebalance, G, add a new mq`: the queue is in the table."""

    queue: MessageQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueAddFailed(ClientFact):
    """The queue was a target and did not get into the table: `reason` is lock or offset."""

    queue: MessageQueue
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRemoved(ClientFact):
    """The queue left the table: `reason` is unnecessary, pull_expired, not_my_topic or offset_repair."""

    queue: MessageQueue
    reason: str = "unnecessary"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockAnswered(ClientFact):
    """`message queue lock OK|Failed` at acquisition, `locked OK|Failed` at renewal."""

    queue: MessageQueue
    granted: bool
    renewal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetPersisted(ClientFact):
    """`[persistAll]`/`[persist] … updateConsumeOffsetToBroker`: the client's side of a commit."""

    queue: MessageQueue
    queue_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSkipped(ClientFact):
    """A round that could not change a topic:

    `reason` is list_failed, topic_unknown, strategy_failed or not_in_list (drops all).
    """

    topic: str | None
    reason: str


# ---- snapshots and histories


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSeen(Fact):
    """Queues of one topic: a client's route change (`client_id` set), a name server's answer, or a broker's
    `topics.json`.
    """

    topic: str
    queues: tuple[TopicQueues, ...]
    client_id: str | None = None
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionsSeen(GroupFact):
    """GET_CONSUMER_CONNECTION_LIST: the members of a group on the broker `source` at one instant."""

    connections: tuple[Connection, ...]
    message_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTableSeen(ClientFact):
    """ConsumerRunningInfo.mqTable: the whole process queue table of one client at one instant."""

    queues: tuple[MessageQueue, ...]
    dropped: tuple[MessageQueue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfigSeen(GroupFact):
    """Settings of a group on the broker `source`; None: gone, and from 5.1.1 no member of it is registered."""

    settings: GroupSettings | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadRecord(Fact):
    """A record that could not be used, and why. Counted and sampled in the answer, never dropped silently."""

    reason: str
