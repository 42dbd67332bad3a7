"""Rows of the table `backlog`: what each group has not read of each queue, what of it matches, and the first of it.

`consumerProgress` counts every message between two offsets, whatever its tag. Here only messages count that are in a
queue and unread, and of them those that the broker would hand out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.ext_columns import ext_columns
from parsers.consumequeue.layout import MAX_EXT_ADDRESS, ext_offset
from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs, Mask
from parsers.queues.queue import BatchQueue, Queue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.utc import utc
from pipelines.answers.backlog.filters import Asked, ask_filters
from pipelines.answers.backlog.standing import Standing
from pipelines.answers.backlog.subscriptions import Subscription, Subscriptions
from pipelines.answers.offsets.record import GroupQueueKey
from recovery.lives.offset_lives import GroupOffsets
from recovery.query.ledger import Layer, State
from recovery.query.refusals import refusals
from recovery.scan.log_access import LogAccess
from recovery.verify.store_ledger import QueueLedger, StoreLedger

NOT_READ = "{} of its unread messages cannot be read in the log: what matches is not known"
NOT_RECORDED = Standing()
GroupQueue = tuple[str | None, str, int]
BATCHES = "a queue of batches: its units do not tell single messages"


def backlog(
    store: Store,
    ledger: StoreLedger,
    offsets: GroupOffsets,
    subscriptions: Subscriptions,
    damage: DamageSink,
    *,
    standing: Standing = NOT_RECORDED,
    broker: str | None = None,
) -> Iterator[dict[str, Any]]:
    """A row of the table `backlog` for each group with a stored offset and each queue of its topics.

    `standing`: who has the queues, and since when offsets did not move.

    Memory: 17 bytes for each unread message of a queue, 34 for each one of all queues with an SQL92 filter. The log is
    read once, and only where a group has such a filter.
    """
    log, refused = LogAccess(store.commitlog), refusals(store)
    with StoreQueues(store, damage=damage) as queues:
        filtered = _filtered(store, ledger, offsets, subscriptions, queues, damage)
        for seen in ledger.of_groups(offsets):
            found = filtered.get((seen.group, seen.topic, seen.queue_id))
            if found is None:
                queue = queues.get((seen.topic, seen.queue_id))
                unread = unread_of(seen, subscriptions.of(str(seen.group), seen.topic), queue)
                found = matched_by_tags(unread, store, queue)
            key = str(seen.group), seen.topic, seen.queue_id
            told = refused.told(seen.group, seen.topic) if len(found.numbers) else None
            yield {"broker": broker, **_row(found, log, told), **_stands(standing, key)}


def _filtered(
    store: Store,
    ledger: StoreLedger,
    offsets: GroupOffsets,
    subscriptions: Subscriptions,
    queues: StoreQueues,
    damage: DamageSink,
) -> dict[GroupQueue, Unread]:
    """What is unread where an SQL92 filter decides what matches, each filter answered."""
    found: list[tuple[Unread, Asked]] = []
    for seen in ledger.of_groups(offsets):
        subscription = subscriptions.of(str(seen.group), seen.topic)
        if subscription.is_known and subscription.expression is not None:
            unread = unread_of(seen, subscription, queues.get((seen.topic, seen.queue_id)))
            if len(unread.numbers):
                found.append((unread, Asked.of(seen.topic, subscription.expression, unread.places)))
    ask_filters(store, [asked for _, asked in found], damage)
    return {(each.queue.group, each.queue.topic, each.queue.queue_id): _matched(each, asked) for each, asked in found}


def _matched(found: Unread, asked: Asked) -> Unread:
    """What the filter said; not known where the log lacks a message that it is asked of."""
    unmet = int(np.count_nonzero(~asked.met))
    if not unmet:
        return replace(found, matches=asked.matches)
    why = "; ".join(filter(None, (NOT_READ.format(unmet), found.subscription.reason)))
    return replace(found, subscription=replace(found.subscription, reason=why))


def _row(found: Unread, log: LogAccess, refused: str | None) -> dict[str, Any]:
    queue, subscription = found.queue, found.subscription
    is_told = found.open is None
    first = found.numbers if found.matches is None else found.numbers[found.matches]
    places = found.places if found.matches is None else found.places[found.matches]
    return {
        "group": queue.group,
        "topic": queue.topic,
        "queue_id": queue.queue_id,
        "subscription": subscription.text,
        "subscription_from": subscription.source,
        "unread": len(found.numbers) if is_told else None,
        "matching": int(np.count_nonzero(found.matches)) if is_told and found.matches is not None else None,
        "reason": "; ".join(filter(None, (refused, found.open, subscription.reason))) or None,
        **_head(int(first[0]) if len(first) and is_told else None, int(places[0]) if len(places) else 0, log),
    }


def _head(queue_offset: int | None, physical_offset: int, log: LogAccess) -> Mapping[str, Any]:
    """The first message that the group gets next, as its record tells it."""
    message = None if queue_offset is None else log.message(physical_offset)
    return {
        "head_queue_offset": queue_offset,
        "head_physical_offset": None if queue_offset is None else physical_offset,
        "head_unique_id": None if message is None else message.property_value("UNIQ_KEY"),
        "head_keys": None if message is None else message.property_value("KEYS"),
        "head_tags": None if message is None else message.property_value("TAGS"),
        "head_stored_at": None if message is None else utc(message.store_timestamp_ms),
    }


def _stands(standing: Standing, key: GroupQueueKey) -> Mapping[str, Any]:
    """Who has the queue, and since when the group's offset stands where it does."""
    owner = standing.owners.get(key)
    return {
        "owners": None if owner is None else list(owner.clients),
        "owner_certain": None if owner is None else owner.is_certain,
        "owned_since": None if owner is None else utc(owner.since_ms),
        "owned_until": None if owner is None else utc(owner.until_ms),
        "stands_since": utc(standing.since_ms.get(key)),
    }


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
