"""The loss ledger as rows of the table `loss_ledger`: of a store, and of every group with stored offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from parsers.store.store import Store
from pipelines.answers.lag.popping import popped_in
from pipelines.answers.offsets.event import OffsetEvent
from pipelines.answers.offsets.passed_over import passed_over
from pipelines.answers.offsets.saved import OffsetsAt
from pipelines.lake.tables.judgements import LOSS_LEDGER
from recovery.verify.store_ledger import QueueLedger, StoreLedger


def ledger_rows(
    store: Store,
    ledger: StoreLedger,
    stored: OffsetsAt | None,
    moved: Iterable[OffsetEvent] = (),
    *,
    broker: str | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of a store's queues, then those of its groups; which broker it is, a store does not say.

    Args:
        ledger: of the store.
        stored: the offsets of groups; None where none are known.
        moved: what moved them, in order of time.
    """
    yield from _rows(ledger.queues, broker)
    if stored is not None:
        passed = passed_over(moved, ledger.lives, None if stored.times_lost else stored.written_ms)
        yield from _rows(ledger.of_groups(stored.offsets, passed, popped_in(store, stored.offsets)), broker)


def _rows(queues: Iterable[QueueLedger], broker: str | None) -> Iterator[dict[str, Any]]:
    for queue in queues:
        for each in queue.ranges:
            yield LOSS_LEDGER.row(each, queue, broker=broker, first_queue_offset=each.first, end_queue_offset=each.end)
