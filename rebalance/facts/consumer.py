"""What a client's log, or a look inside the client, tells.

`source` is the log's name; `client_id` is None until the log has named it.
"""

from __future__ import annotations

from rebalance.facts.fact import GroupFact
from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue

ANY_RUN = -1
"""The run of a line that any of several consumers of one group in one JVM may have written."""


@frozen(kw_only=True)
class ClientFact(GroupFact):
    """A fact from inside a consumer; `process` tells runs of one log apart (a new number at each start seen in it)."""

    client_id: str | None
    process: int = 0


@frozen(kw_only=True)
class ConsumerStarting(ClientFact):
    """`the consumer [G] start beginning`."""

    message_model: str | None = None


@frozen(kw_only=True)
class ConsumerStarted(ClientFact):
    """`the consumer [G] start OK`. No sign of membership by itself."""


@frozen(kw_only=True)
class ConsumerShutdown(ClientFact):
    """A clean stop: the first unregister line of a run, and (`finished`) `the consumer [G] shutdown OK`, when all is
    over.
    """

    finished: bool = False


@frozen(kw_only=True)
class Notified(ClientFact):
    """`receive broker's notification`: all groups of the instance get a round soon."""

    broker_address: str | None = None


@frozen(kw_only=True)
class RebalanceResultChanged(ClientFact):
    """`[client] rebalanced result changed`: the *target* of a round, not yet the table.

    Sizes are those before allocation. `strategy` is None where the client does not name it (Go).
    """

    strategy: str | None
    topic: str
    mq_all_size: int | None
    cid_all_size: int | None
    target: tuple[MessageQueue, ...]


@frozen(kw_only=True)
class SubscriptionVersionBumped(ClientFact):
    """`{topic} Rebalance changed, also update version`: the end of a round that changed this topic's queues (client
    clock, ms).
    """

    topic: str
    old_sub_version: int
    new_sub_version: int


@frozen(kw_only=True)
class QueueAdded(ClientFact):
    """`doRebalance, G, add a new mq`: the queue is in the table."""

    queue: MessageQueue


@frozen(kw_only=True)
class PopQueueAdded(ClientFact):
    """`add a new pop mq` (>= 5.0.0): a share of the queue, with others; queue id -1 is every queue of its broker."""

    queue: MessageQueue


@frozen(kw_only=True)
class QueueAddFailed(ClientFact):
    """The queue was a target and did not get into the table: `reason` is lock or offset."""

    queue: MessageQueue
    reason: str


@frozen(kw_only=True)
class QueueRemoved(ClientFact):
    """The queue left the table: `reason` is unnecessary, pull_expired, not_my_topic or offset_repair."""

    queue: MessageQueue
    reason: str = "unnecessary"


@frozen(kw_only=True)
class LockAnswered(ClientFact):
    """`message queue lock OK|Failed` at acquisition, `locked OK|Failed` at renewal."""

    queue: MessageQueue
    granted: bool
    renewal: bool = False


@frozen(kw_only=True)
class PullNotLocked(ClientFact):
    """`pull message later because not locked in broker`: the client does not take the queue for locked."""

    queue: MessageQueue


@frozen(kw_only=True)
class OffsetPersisted(ClientFact):
    """`[persistAll]`/`[persist] … updateConsumeOffsetToBroker`: the client's side of a commit."""

    queue: MessageQueue
    queue_offset: int


@frozen(kw_only=True)
class RoundSkipped(ClientFact):
    """A round that could not change a topic:

    `reason` is list_failed, topic_unknown, strategy_failed or not_in_list (drops all).
    """

    topic: str | None
    reason: str


@frozen(kw_only=True)
class QueueTableSeen(ClientFact):
    """ConsumerRunningInfo.mqTable: the whole process queue table of one client at one instant."""

    queues: tuple[MessageQueue, ...]
    dropped: tuple[MessageQueue, ...] = ()
