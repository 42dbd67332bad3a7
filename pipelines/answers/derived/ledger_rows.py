"""The loss ledger as rows of the table `loss_ledger`: of a store, and of every group with stored offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recovery.verify.store_ledger import QueueLedger, StoreLedger

Offsets = Mapping[tuple[str, str], Mapping[int, int]]


def ledger_rows(ledger: StoreLedger, offsets: Offsets | None, *, broker: str | None = None) -> Iterator[dict[str, Any]]:
    """The rows of a store's queues, then those of its groups; which broker it is, a store does not say.

    Args:
        offsets: (group, topic) -> queue_id -> next message number to consume; None where none are known.
    """
    yield from _rows(ledger.queues, broker)
    yield from _rows(ledger.of_groups(offsets or {}), broker)


def _rows(queues: Iterable[QueueLedger], broker: str | None) -> Iterator[dict[str, Any]]:
    for queue in queues:
        for each in queue.ranges:
            yield {
                "broker": broker,
                "group": queue.group,
                "topic": queue.topic,
                "queue_id": queue.queue_id,
                "life": queue.life,
                "state": each.state.value,
                "first_queue_offset": each.first,
                "end_queue_offset": each.end,
                "messages": each.messages,
                "max_queue_offset": queue.max_queue_offset,
                "certain": each.certain,
                "reason": each.reason,
            }
