"""What each queue of a store holds, in the figures that a broker of one version answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from parsers.consumequeue.summary import QueueSummary
from parsers.damage.errors import DamageSink
from parsers.queues.queue import BatchQueue, FileQueue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from recovery.query.lag import LOG_NOT_FOUND
from recovery.query.queue_minimum import broker_minimum, readable_messages
from recovery.rules.versions import BrokerVersion


def queue_figures(
    store: Store, version: BrokerVersion, damage: DamageSink, *, topic: str | None = None, queue: int | None = None
) -> Iterator[dict[str, Any]]:
    """One row per queue in order of topic and number; `messages` are those a consumer can still read.

    Without the log its minimum and its messages are None: they depend on where the log begins; `reason` says so.
    """
    with StoreQueues(store, damage=damage) as queues:
        for key, found in queues.items():
            if topic in (None, key[0]) and queue in (None, key[1]):
                summary = found.summary(store.log_start)
                files = found.files if isinstance(found, FileQueue | BatchQueue) else ()
                row = _row(summary, broker_minimum(summary, files, store.log_start, version))
                if store.log_not_found is not None:
                    row |= {"min_queue_offset": None, "messages": None, "reason": LOG_NOT_FOUND}
                yield row


def _row(found: QueueSummary, minimum: int) -> dict[str, Any]:
    return {
        "topic": found.topic,
        "queue_id": found.queue_id,
        "min_queue_offset": minimum,
        "max_queue_offset": found.max_queue_offset,
        "max_physical_offset": found.max_physical_offset,
        "units": found.units,
        "files": found.files,
        "messages": readable_messages(found, minimum),
        "reason": None,
    }
