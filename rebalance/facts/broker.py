"""What a broker sees of its clients: requests, and lines of its log."""

from __future__ import annotations

from typing import NamedTuple

from rebalance.facts.fact import Fact, GroupFact
from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue


class TopicSubscription(NamedTuple):
    """One topic of a group in a heartbeat.

    `sub_version` is the client clock (ms) of the last change of that topic's queues.
    """

    topic: str
    expression: str | None
    expression_type: str | None
    sub_version: int | None


@frozen(kw_only=True)
class ChannelFact(GroupFact):
    """A fact about one client connection at the broker `source`; `remote` is the client's `ip:port` (unique per
    connection).
    """

    remote: str | None
    client_id: str | None = None


@frozen(kw_only=True)
class RequestFact(ChannelFact):
    """A request as the broker got it.

    `request_no` is RemotingCommand's opaque: one counter per client JVM, over all connections.
    """

    request_no: int | None = None


@frozen(kw_only=True)
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


@frozen(kw_only=True)
class ClientUnregistered(RequestFact):
    """UNREGISTER_CLIENT for this group, or `unregister a consumer[…]`: a clean leave."""


@frozen(kw_only=True)
class ConsumerListAnswered(RequestFact):
    """GET_CONSUMER_LIST_BY_GROUP and its answer: `client_ids` in the broker's order, duplicates kept; None if it
    failed or was not seen.

    `at_ms` is the instant of the answer, `asked_at_ms` that of the request.
    """

    asked_at_ms: int | None
    client_ids: tuple[str, ...] | None
    remark: str | None = None


@frozen(kw_only=True)
class AssignmentAnswered(RequestFact):
    """QUERY_ASSIGNMENT (>= 5.0.0) and its answer: the broker's own result of a round for one topic.

    `target` None: the broker had none (the client skips the round), it failed, or no answer was seen. `pop`: the queues
    are shared; queue id -1 then stands for every queue of its broker. `at_ms` is the instant of the answer.
    """

    topic: str
    strategy: str | None
    target: tuple[MessageQueue, ...] | None
    pop: bool
    asked_at_ms: int | None = None


@frozen(kw_only=True)
class RequestModeSet(RequestFact):
    """SET_MESSAGE_REQUEST_MODE (>= 5.0.0), not refused: how a topic's messages are handed to the group."""

    topic: str
    pop: bool
    pop_share_queue_num: int | None = None


@frozen(kw_only=True)
class OffsetQueried(RequestFact):
    """QUERY_CONSUMER_OFFSET and its answer; `queue_offset` is None with response code 22 (none stored), or if no
    answer was seen.
    """

    queue: MessageQueue
    queue_offset: int | None
    result: int | None
    answered_at_ms: int | None = None


@frozen(kw_only=True)
class OffsetCommitted(RequestFact):
    """UPDATE_CONSUMER_OFFSET as the broker got it."""

    queue: MessageQueue
    queue_offset: int


@frozen(kw_only=True)
class PullSeen(RequestFact):
    """PULL_MESSAGE or LITE_PULL_MESSAGE; `lite`: of a lite pull consumer. A capture may hold only a sample of them."""

    queue: MessageQueue
    queue_offset: int | None
    commit_offset: int | None = None
    sub_version: int | None = None
    lite: bool = False


@frozen(kw_only=True)
class LockBatchAnswered(RequestFact):
    """LOCK_BATCH_MQ and its answer: `granted` is None if it failed or was not seen."""

    asked: tuple[MessageQueue, ...]
    granted: tuple[MessageQueue, ...] | None
    asked_at_ms: int | None = None


@frozen(kw_only=True)
class UnlockBatch(RequestFact):
    """UNLOCK_BATCH_MQ as the broker got it."""

    queues: tuple[MessageQueue, ...]


@frozen(kw_only=True)
class ChannelConnected(ChannelFact):
    """`new consumer connected`: the first heartbeat of this group on this connection."""

    message_model: str | None = None
    consume_type: str | None = None
    client_version: int | None = None
    last_heartbeat_ms: int | None = None


@frozen(kw_only=True)
class ChannelClosed(ChannelFact):
    """A connection of a member went:

    `NETTY EVENT: remove not active channel`. `cause` is close, idle, exception or None (unknown).
    """

    cause: str | None = None
    last_heartbeat_ms: int | None = None


@frozen(kw_only=True)
class ChannelExpired(ChannelFact):
    """The broker's scan removed a member that was silent for 120 s:

    `SCAN: remove expired channel`. Nobody is notified.
    """

    last_heartbeat_ms: int | None = None


@frozen(kw_only=True)
class SubscriptionChanged(GroupFact):
    """The broker's subscription table of a group changed: `change` is add, replace or remove."""

    topic: str
    change: str
    sub_version: int | None = None
    expression: str | None = None


@frozen(kw_only=True)
class CommitRolledBack(ChannelFact):
    """`[NOTIFYME]update consumer offset less than store`: a late commit, usually of the old owner."""

    topic: str
    queue_id: int
    requested_queue_offset: int
    stored_queue_offset: int


@frozen(kw_only=True)
class QueueLockDecided(GroupFact):
    """One decision of the broker's lock table:

    `decision` is locked, taken_over, refused, unlocked or unlock_refused.
    """

    queue: MessageQueue
    client_id: str
    decision: str
    other_client_id: str | None = None


@frozen(kw_only=True)
class BrokerStarted(Fact):
    """The broker `source` came up: its membership and lock tables are empty."""


@frozen(kw_only=True)
class BrokerStopping(Fact):
    """The broker `source` goes down."""
