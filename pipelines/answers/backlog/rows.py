"""Rows of the table `backlog`: what each group has not read of each queue, what of it matches, and the first of it.

`consumerProgress` counts every message between two offsets, whatever its tag. Here only messages count that are in a
queue and unread, and of them those that the broker would hand out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from parsers.damage.errors import DamageSink
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.utc import utc
from pipelines.answers.backlog.filters import Asked, ask_filters
from pipelines.answers.backlog.standing import Standing
from pipelines.answers.backlog.subscriptions import Subscriptions
from pipelines.answers.backlog.unread import Unread, matched_by_tags, unread_of
from pipelines.answers.offsets.record import GroupQueueKey
from recovery.lives.offset_lives import GroupOffsets
from recovery.scan.log_access import LogAccess
from recovery.verify.store_ledger import StoreLedger

NOT_READ = "{} of its unread messages cannot be read in the log: what matches is not known"
NOT_RECORDED = Standing()
GroupQueue = tuple[str | None, str, int]


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
    log = LogAccess(store.commitlog)
    with StoreQueues(store, on_damage="collect", damage=damage) as queues:
        filtered = _filtered(store, ledger, offsets, subscriptions, queues, damage)
        for seen in ledger.of_groups(offsets):
            found = filtered.get((seen.group, seen.topic, seen.queue_id))
            if found is None:
                queue = queues.get((seen.topic, seen.queue_id))
                unread = unread_of(seen, subscriptions.of(str(seen.group), seen.topic), queue)
                found = matched_by_tags(unread, store, queue)
            key = str(seen.group), seen.topic, seen.queue_id
            yield {"broker": broker, **_row(found, log), **_stands(standing, key)}


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


def _row(found: Unread, log: LogAccess) -> dict[str, Any]:
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
        "reason": "; ".join(filter(None, (found.open, subscription.reason))) or None,
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
