"""Light queues (LMQ): dispatch appends their units, whatever offsets the messages list.

Versions differ in the topics whose messages they dispatch to light queues; an upgraded store has units of both.
"""

from __future__ import annotations

import numpy as np

from recovery.scan.intervals import found_at
from recovery.verify.checks.queue import QueueMessages, QueueUnits

AROUND = 2
"""Units before and behind one that tell its place in a light queue, so that a single wrong one does not."""


def with_former(messages: QueueMessages, former: QueueMessages, units: QueueUnits) -> QueueMessages:
    """The messages of a light queue, with those of `former` that one of its units leads to.

    `former`: what an earlier version dispatched to the queue, of topics that this version leaves out.
    """
    has_unit = np.isin(former.physical_offset, units.physical_offset)
    is_new = has_unit & ~np.isin(former.physical_offset, messages.physical_offset)
    joined = [np.concatenate((own, more[is_new])) for own, more in zip(messages, former, strict=True)]
    order = np.argsort(joined[1], kind="stable")
    return QueueMessages._make(column[order] for column in joined)


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
    ahead = slot - row
    if not len(row):
        return messages
    around = np.lib.stride_tricks.sliding_window_view(np.pad(ahead, AROUND, mode="reflect"), 2 * AROUND + 1)
    usual = np.median(around, axis=1).astype(np.int64)
    in_step = ahead == usual
    if (messages.queue_offset[row] == slot)[in_step].all():
        return messages
    number = np.arange(len(messages.queue_offset))
    nearest = np.clip(np.searchsorted(row, number, side="right") - 1, 0, None)
    return messages._replace(queue_offset=number + usual[nearest])
