"""Topics that a group consumes in POP mode: the broker hands a queue's messages to several clients at once, so the
queue has no owner.

Source: QueryAssignmentProcessor#doLoadBalance, #allocate4Pop; RebalanceImpl#updateMessageQueueAssignment @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebalance.model.message_queue import MessageQueue
from rebalance.ownership.doubts import Doubt
from rebalance.processes.life import Life

POP_SHARED = "pop_shared"
SHARED = "POP shares the queues"


def pop_doubts(lives: Iterable[Life], queues: Iterable[MessageQueue], topics: frozenset[str]) -> Iterator[Doubt]:
    """Every client of the group may consume every queue of the shared topics, over the whole record: a client keeps to
    its mode until it asks again, or until it restarts.
    """
    shared = frozenset(queue for queue in queues if queue.topic in topics)
    if shared:
        for client_id in sorted({life.client_id for life in lives}):
            yield Doubt(client_id, shared, None, None, SHARED)
