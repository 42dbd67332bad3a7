"""Numbers for the queues met in a log: an open hash of topic code and queue id, for compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Longs
from parsers.kernels.kernel import inline_kernel, kernel

HASH_PRIME, HASH_MASK = 0x9E3779B97F4A7C1, 0x7FFFFFFFFFFFFFFF


def new_slots(capacity: int) -> Longs:
    """An empty table of slots for as many queues."""
    return np.full(4 << (capacity - 1).bit_length(), -1, np.int64)


@inline_kernel
def slot_of(key: int, slots: int) -> int:
    """Where the search for a queue starts: the high bits folded in, since the low ones know only the queue id."""
    product = (key * HASH_PRIME) & HASH_MASK
    return (product ^ (product >> 32)) & (slots - 1)


@kernel
def queue_number(slots: Longs, keys: Longs, met: Longs, topic: int, queue_id: int) -> int:
    """The number of a queue, a new one when it was not met; the caller keeps room for it."""
    key = (topic << 32) | (queue_id & 0xFFFFFFFF)
    slot = slot_of(key, len(slots))
    while slots[slot] >= 0:
        found = int(slots[slot])
        if keys[found] == key:
            return found
        slot = (slot + 1) & (len(slots) - 1)
    number = int(met[0])
    met[0] = number + 1
    slots[slot], keys[number] = number, key
    return number


@kernel
def fill_slots(slots: Longs, keys: Longs, met: int) -> None:
    """Find the slots of all queues met, in an empty table."""
    for number in range(met):
        slot = slot_of(keys[number], len(slots))
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = number


def queue_keys(topics: npt.NDArray[np.signedinteger], queue_ids: npt.NDArray[np.signedinteger]) -> Longs:
    """The key of each queue, by its topic's code and its id; `unpack_key` takes it apart."""
    return topics.astype(np.int64) << 32 | queue_ids.astype(np.int64) & 0xFFFFFFFF


def unpack_key(key: int) -> tuple[int, int]:
    """Topic code and queue id of a queue's key."""
    topic, queue_id = divmod(key, 1 << 32)
    return topic, queue_id if queue_id < 1 << 31 else queue_id - (1 << 32)
