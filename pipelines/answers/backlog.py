"""The unread messages of each group and queue that match what the group subscribes to, and the first of them.

`consumerProgress` counts every message between two offsets, whatever its tag. Here only messages count that are in a
queue and unread, and of them those that the broker would hand out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.read import MessageFilter, read_commitlog
from parsers.consumequeue.ext_columns import ext_columns
from parsers.consumequeue.layout import MAX_EXT_ADDRESS, ext_offset
from parsers.errors import Damage, DamageSink
from parsers.queues import BatchQueue, Queue, StoreQueues
from parsers.store import Store
from parsers.utc import utc
from pipelines.answers.subscriptions import Subscription, Subscriptions
from recovery.filter.expressions import Expression, asked_properties, delivers
from recovery.lives.offset_lives import GroupOffsets
from recovery.query.ledger import Layer, State
from recovery.scan.log_access import LogAccess
from recovery.verify.store_ledger import QueueLedger, StoreLedger

Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
MOST_REMEMBERED = 1 << 16
"""Different values of properties whose answer is kept."""
BATCHES = "a queue of batches: its units do not tell single messages"
NOT_READ = "{} of its unread messages cannot be read in the log: what matches is not known"


@dataclass(frozen=True, slots=True)
class Backlog:
    """One group on one queue. `places`, `numbers`: its unread messages in the log and in the queue, in order.

    `open`: why the files do not tell all that is unread.
    """

    queue: QueueLedger
    subscription: Subscription
    numbers: Longs
    places: Longs
    matches: Mask | None
    open: str | None = None


def backlog(
    store: Store,
    ledger: StoreLedger,
    offsets: GroupOffsets,
    subscriptions: Subscriptions,
    damage: DamageSink,
    *,
    broker: str | None = None,
) -> Iterator[dict[str, Any]]:
    """A row of the table `backlog` for each group with a stored offset and each queue of its topics.

    Memory: 17 bytes for each unread message of a queue; the log is read where a group has an SQL92 filter.
    """
    log = LogAccess(store.commitlog)
    told = _told_once(damage)
    with StoreQueues(store, on_damage="collect", damage=damage) as queues:
        for seen in ledger.of_groups(offsets):
            key = (seen.topic, seen.queue_id)
            found = _unread(seen, subscriptions.of(str(seen.group), seen.topic), queues.get(key))
            yield {"broker": broker, **_row(_matched(found, store, queues.get(key), told), log)}


def _unread(seen: QueueLedger, subscription: Subscription, queue: Queue | None) -> Backlog:
    waiting = [each for each in seen.ranges if each.state is State.WAITING]
    layer = Layer(
        np.array([each.first for each in waiting], np.int64), np.array([each.end for each in waiting], np.int64),
        State.WAITING,
    )  # fmt: skip
    why = next((each.reason for each in seen.ranges if each.state is State.UNKNOWN), None)
    if isinstance(queue, BatchQueue):
        why = BATCHES
    columns = [] if queue is None or why == BATCHES else list(_units(queue, layer, ("queue_offset", "physical_offset")))
    numbers, places = (np.concatenate([np.empty(0, np.int64), *(part[n] for part in columns)]) for n in (0, 1))
    return Backlog(seen, subscription, numbers, places, None, why)


def _units(queue: Queue, layer: Layer, names: Sequence[str]) -> Iterator[list[Longs]]:
    """Columns of the units whose queue offsets lie in the ranges."""
    for batch in queue.batches():
        chosen = layer.holds(batch["queue_offset"].to_numpy())
        if chosen.any():
            yield [batch[name].to_numpy()[chosen] for name in names]


def _matched(found: Backlog, store: Store, queue: Queue | None, damage: DamageSink) -> Backlog:
    """Which of the unread messages match; None where that is not known. Of no message none does, whatever is asked."""
    subscription = found.subscription
    if queue is None or not len(found.numbers):
        told = replace(subscription, reason=None) if found.open is None else subscription
        return replace(found, matches=np.zeros(0, np.bool_), subscription=told)
    if not subscription.is_known:
        return found
    if subscription.expression is not None:
        matches, unmet = _by_filter(found, store, subscription.expression, damage)
        if unmet:
            why = "; ".join(filter(None, (NOT_READ.format(unmet), subscription.reason)))
            return replace(found, subscription=replace(subscription, reason=why))
    elif subscription.codes is not None:
        matches = np.isin(_tags_codes(found, store, queue), list(subscription.codes))
    else:
        matches = np.ones(len(found.numbers), np.bool_)
    return replace(found, matches=matches)


def _tags_codes(found: Backlog, store: Store, queue: Queue) -> npt.NDArray[np.int32]:
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


def _told_once(damage: DamageSink) -> DamageSink:
    """The log is read once for each queue with a filter; what is wrong with it is told once."""
    known = set[tuple[object, ...]]()

    def tell(found: Damage) -> None:
        key = (found.path, found.file_pos, found.length, found.reason)
        if key not in known:
            known.add(key)
            damage(found)

    return tell


def _by_filter(found: Backlog, store: Store, expression: Expression, damage: DamageSink) -> tuple[Mask, int]:
    """The filter asked of each unread message, and how many of them are not met in the log.

    Messages with the same values of its properties are asked once.
    """
    matches, met = np.zeros(len(found.places), np.bool_), np.zeros(len(found.places), np.bool_)
    if not len(found.places):
        return matches, 0
    order = np.argsort(found.places, kind="stable")
    rising = found.places[order]
    names = sorted(asked_properties(expression))
    asked = _asked_once(expression, names)
    where = MessageFilter(
        topics=[found.queue.topic], queue_id=found.queue.queue_id,
        min_physical_offset=int(rising[0]), max_physical_offset=int(rising[-1]) + 1,
    )  # fmt: skip
    for batch in read_commitlog(
        store, columns=["physical_offset", "properties"], where=where, verify_crc=False, damage=damage
    ):
        places = batch["physical_offset"].to_numpy()
        at = np.searchsorted(rising, places)
        held = np.flatnonzero(at < len(rising))
        held = held[rising[at[held]] == places[held]]
        rows = batch["properties"].take(pa.array(held))
        for number, values in zip(at[held].tolist(), _values(rows, names), strict=True):
            matches[order[number]] = asked(values)
            met[order[number]] = True
    return matches, int(np.count_nonzero(~met))


def _values(properties: pa.ListArray, names: Sequence[str]) -> list[tuple[str | None, ...]]:
    """The values of the named properties of each row; the last one counts where a name stands twice.

    Source: MessageDecoder#string2messageProperties puts them into a map.
    """
    pairs, rows = properties.flatten(), pc.list_parent_indices(properties).to_numpy()
    columns = []
    for name in names:
        found = np.flatnonzero(pc.equal(pairs.field("name"), name).to_numpy(zero_copy_only=False))
        values: list[str | None] = [None] * len(properties)
        for row, value in zip(
            rows[found].tolist(), pairs.field("value").take(pa.array(found)).to_pylist(), strict=True
        ):
            values[row] = value
        columns.append(values)
    return list(zip(*columns, strict=True)) if columns else [()] * len(properties)


def _asked_once(expression: Expression, names: Sequence[str]) -> Callable[[tuple[str | None, ...]], bool]:
    known: dict[tuple[str | None, ...], bool] = {}

    def asked(values: tuple[str | None, ...]) -> bool:
        if values not in known:
            if len(known) >= MOST_REMEMBERED:
                known.clear()
            held = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            known[values] = delivers(expression, held)
        return known[values]

    return asked


def _row(found: Backlog, log: LogAccess) -> dict[str, Any]:
    queue, subscription = found.queue, found.subscription
    is_told = found.open is None
    first = found.numbers if found.matches is None else found.numbers[found.matches]
    places = found.places if found.matches is None else found.places[found.matches]
    return {
        "group": queue.group,
        "topic": queue.topic,
        "queue_id": queue.queue_id,
        "subscription": subscription.text,
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
