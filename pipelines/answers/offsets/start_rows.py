"""Where a group without a stored offset begins on each queue of a topic, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from parsers.commitlog.batches.segment import log_end
from parsers.damage.errors import DamageSink
from parsers.layouts.columns import schema_from
from parsers.queues.queue import Queue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from pipelines.answers.offsets.ends import Ends
from recovery.query.group_start import GroupStart, Policy, QueueNow, group_start
from recovery.rules.versions import BrokerVersion
from recovery.scan.log_access import LogAccess

START_SCHEMA = schema_from(
    "topic text, queue_id i32, min_queue_offset i64, max_queue_offset i64, earliest i64, latest i64, "
    "never_delivered i64, certain flag, memory_needed i64, reason text"
)


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group that has no offset yet, and the broker that it asks.

    Attributes:
        version: of the broker.
        memory_bytes: of the broker's machine; None: not known. It counts before 5.1.0 only.
        timestamp_ms: the client's consumeTimestamp, epoch milliseconds; None: not known.
    """

    policy: Policy
    version: BrokerVersion
    memory_bytes: int | None = None
    timestamp_ms: int | None = None


def start_rows(store: Store, topic: str | None, group: NewGroup, damage: DamageSink) -> Iterator[dict[str, Any]]:
    """A row of START_SCHEMA for each queue of the topic, or of every topic without one, in order of their numbers."""
    end = log_end(store.commitlog, damage=damage)
    with StoreQueues(store, damage=damage) as queues:
        ends = Ends(queues, LogAccess(store.commitlog))
        for (name, queue_id), queue in queues.items():
            now = _queue_now(ends, queue, name, queue_id, group, end) if topic in (None, name) else None
            if now is not None:
                yield _row(now, queue_id, group_start(now, group.policy, group.version, group.memory_bytes))


def group_start_rows(
    store: Store, version: BrokerVersion, damage: DamageSink, *, broker: str | None = None
) -> Iterator[dict[str, Any]]:
    """Rows of the table `group_starts`: every queue, under the two policies that need no word of the client."""
    for policy in (Policy.LAST, Policy.FIRST):
        for row in start_rows(store, None, NewGroup(policy, version), damage):
            yield {"broker": broker, "policy": policy.value, **row}


def _queue_now(ends: Ends, queue: Queue, topic: str, queue_id: int, group: NewGroup, end: int) -> QueueNow | None:
    """The queue as the broker knows it; None where its limits are not known."""
    limits = ends.limits(topic, queue_id, group.version)
    if limits is None:
        return None
    first = queue.pointer(0)
    at_timestamp = None if group.timestamp_ms is None else ends.at(topic, queue_id, group.timestamp_ms - 1)
    return QueueNow(topic, *limits, None if first is None else first.physical_offset, end, at_timestamp)


def _row(now: QueueNow, queue_id: int, start: GroupStart) -> dict[str, Any]:
    return {
        "topic": now.topic,
        "queue_id": queue_id,
        "min_queue_offset": now.minimum,
        "max_queue_offset": now.maximum,
        "earliest": start.earliest,
        "latest": start.latest,
        "never_delivered": start.never_delivered,
        "certain": start.certain,
        "memory_needed": start.memory_needed,
        "reason": start.reason,
    }
