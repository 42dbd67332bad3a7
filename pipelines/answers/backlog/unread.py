"""The unread messages of one group on one queue, and which of them its tags let through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.ext_columns import ext_columns
from parsers.consumequeue.layout import MAX_EXT_ADDRESS, ext_offset
from parsers.queues.queue import BatchQueue, Queue
from parsers.store.store import Store
from pipelines.answers.backlog.subscriptions import Subscription
from recovery.query.ledger import Layer, State
from recovery.verify.store_ledger import QueueLedger

Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
BATCHES = "a queue of batches: its units do not tell single messages"


@dataclass(frozen=True, slots=True)
class Unread:
    """What one group has not read of one queue.

    Attributes:
        numbers, places: the messages in the queue and in the log, in the queue's order.
        matches: which of them the subscription lets through; None: not known.
        open: why the files do not tell all that is unread.
    """

    queue: QueueLedger
    subscription: Subscription
    numbers: Longs
    places: Longs
    matches: Mask | None
    open: str | None = None


def unread_of(seen: QueueLedger, subscription: Subscription, queue: Queue | None) -> Unread:
    """The unread messages of a queue; what matches is not looked at yet."""
    waiting = [each for each in seen.ranges if each.state is State.WAITING]
    first, end = (np.array([getattr(each, name) for each in waiting], np.int64) for name in ("first", "end"))
    layer = Layer(first, end, State.WAITING)
    why = next((each.reason for each in seen.ranges if each.state is State.UNKNOWN), None)
    if isinstance(queue, BatchQueue):
        why = BATCHES
    columns = [] if queue is None or why == BATCHES else list(_units(queue, layer, ("queue_offset", "physical_offset")))
    numbers, places = (np.concatenate([np.empty(0, np.int64), *(part[n] for part in columns)]) for n in (0, 1))
    return Unread(seen, subscription, numbers, places, None, why)


def matched_by_tags(found: Unread, store: Store, queue: Queue | None) -> Unread:
    """Unread messages with which of them the tags let through; as given where that is not known or an SQL92 filter
    decides. Of no message none matches, whatever is asked."""
    subscription = found.subscription
    if queue is None or not len(found.numbers):
        told = replace(subscription, reason=None) if found.open is None else subscription
        return replace(found, matches=np.zeros(0, np.bool_), subscription=told)
    if not subscription.is_known or subscription.expression is not None:
        return found
    if subscription.codes is None:
        return replace(found, matches=np.ones(len(found.numbers), np.bool_))
    return replace(found, matches=np.isin(_tags_codes(found, store, queue), list(subscription.codes)))


def _units(queue: Queue, layer: Layer, names: Sequence[str]) -> Iterator[list[Longs]]:
    """Columns of the units whose queue offsets lie in the ranges."""
    for batch in queue.batches():
        chosen = layer.holds(batch["queue_offset"].to_numpy())
        if chosen.any():
            yield [batch[name].to_numpy()[chosen] for name in names]


def _tags_codes(found: Unread, store: Store, queue: Queue) -> npt.NDArray[np.int32]:
    """The tags codes of the unread messages as ints, those of ext units looked up.

    Source: DefaultMessageStore#getMessage, ExpressionMessageFilter#isMatchedByConsumeQueue @5.3.3.
    """
    numbers = found.numbers
    layer = Layer.of_offsets(numbers, State.WAITING)
    parts = [part[0] for part in _units(queue, layer, ("tags_code",))]
    codes = np.concatenate([np.empty(0, np.int64), *parts])
    addresses = np.flatnonzero(codes <= MAX_EXT_ADDRESS)
    if len(addresses):
        ext = ext_columns(store.ext_queues.get((found.queue.topic, found.queue.queue_id), ()))
        wanted = np.array([ext_offset(code) for code in codes[addresses].tolist()], np.int64)
        at = np.searchsorted(ext.ext_offset, wanted)
        held = at < len(ext.ext_offset)
        held[held] = ext.ext_offset[at[held]] == wanted[held]
        codes[addresses[held]] = ext.tags_code[at[held]]
    return codes.astype(np.int32)
