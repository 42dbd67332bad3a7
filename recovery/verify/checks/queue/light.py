"""Light queues (LMQ): dispatch appends their units, whatever offsets the messages list.

Versions differ in the topics whose messages they dispatch to light queues; an upgraded store has units of both.
"""

from __future__ import annotations

import numpy as np

from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.values.topics import is_lmq
from recovery.scan.intervals import Intervals, found_at
from recovery.verify.checks.queue.compared import QueueMessages, QueueUnits
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

MOST_PLACES = 16
AROUND = 2
"""Units before and after one that tell its place in a light queue, so that a single wrong one does not."""


def light_queues_off(store: Store) -> Judgement:
    """The light queues that a store holds although the given settings make none."""
    topics = sorted({topic for topic, _ in store.queues if is_lmq(topic)})
    places = tuple(Place(f"consumequeue/{topic}", 0, 0) for topic in topics[:MOST_PLACES])
    said = (
        f"{len(topics)} light queues, the first is {topics[0]}",
        "enableLmq and enableMultiDispatch are not both true",
    )
    return Judgement((Finding("light_queues_off", Span(), places, len(topics), said),))


def with_former(messages: QueueMessages, former: QueueMessages, units: QueueUnits) -> QueueMessages:
    """The messages of a light queue, with those of `former` that one of its units leads to.

    `former`: what an earlier version dispatched to the queue, of topics that this version leaves out.
    """
    has_unit = np.isin(former.physical_offset, units.physical_offset)
    is_new = has_unit & ~np.isin(former.physical_offset, messages.physical_offset)
    joined = [np.concatenate((own, more[is_new])) for own, more in zip(messages, former, strict=True)]
    order = np.argsort(joined[1], kind="stable")
    return QueueMessages._make(column[order] for column in joined)


def appended_around(messages: QueueMessages, units: QueueUnits, lost: Intervals) -> QueueMessages:
    """The messages of a light queue by their places in it (`as_appended`); units into what the log has `lost` stand for
    the messages that it had there."""
    is_lost = lost.hold(units.physical_offset) & ~units.is_hole & ~units.is_pre_blank
    is_lost &= ~np.isin(units.physical_offset, messages.physical_offset)
    if not is_lost.any():
        return as_appended(messages, units)
    joined = [np.concatenate((own, more[is_lost])) for own, more in zip(messages, units, strict=True)]
    order = np.argsort(joined[1], kind="stable")
    whole = as_appended(QueueMessages._make(column[order] for column in joined), units)
    return QueueMessages._make(column[order < len(messages.queue_offset)] for column in whole)


def as_appended(messages: QueueMessages, units: QueueUnits) -> QueueMessages:
    """The messages of a light queue by the places that they have, or would have, in it.

    Dispatch appends them one after another, whatever offsets they list; those have holes where a message was not
    dispatched (rolled back, or of a topic that is left out). The units around a message tell its place.
    Source: ConsumeQueue#multiDispatchLmqQueue @4.9.3 … 5.3.3.
    """
    row, is_own = found_at(messages.physical_offset, units.physical_offset)
    is_own &= ~units.is_hole & ~units.is_pre_blank
    row, slot = row[is_own], units.queue_offset[is_own]
    order = np.argsort(row, kind="stable")
    row, slot = row[order], slot[order]
    in_row = (np.diff(row) == 1) & (np.diff(slot) == 1)
    in_row = np.append(in_row, False) | np.append(False, in_row)
    if in_row.any():  # units of another queue may lead to messages of this one, but not one after another
        row, slot = row[in_row], slot[in_row]
    row, slot = _from_first_possible(row, slot, messages)
    if not len(row):
        return messages
    ahead = slot - row
    around = np.lib.stride_tricks.sliding_window_view(np.pad(ahead, AROUND, mode="reflect"), 2 * AROUND + 1)
    usual = np.median(around, axis=1).astype(np.int64)
    in_step = ahead == usual
    if (messages.queue_offset[row] == slot)[in_step].all():
        return messages
    number = np.arange(len(messages.queue_offset))
    nearest = np.clip(np.searchsorted(row, number, side="right") - 1, 0, None)
    place = number + usual[nearest]
    return messages._replace(queue_offset=np.where(place < 0, messages.queue_offset, place))


def _from_first_possible(row: Longs, slot: Longs, messages: QueueMessages) -> tuple[Longs, Longs]:
    """The pairs of message and unit from the first on that a queue can begin with.

    A unit with fewer units before it than its message has messages before it gives the first message a negative place.
    It is of another queue, unless its message lists that place: then the offsets of the queue began anew at 0.
    """
    is_possible = (slot >= row) | (messages.queue_offset[row] == slot)
    first = int(np.argmax(is_possible)) if is_possible.any() else len(row)
    return row[first:], slot[first:]
