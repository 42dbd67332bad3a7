"""Messages that a group has not got yet, by its stored offsets and the lives of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.topics import is_lmq
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.offset_lives import GroupOffsets
from recovery.query.ledger import Layer, State
from recovery.query.query import NEVER_QUEUED
from recovery.verify.ledger_in_motion import ledger_in_motion
from recovery.verify.store_ledger import QueueLedger, StoreLedger

UNREAD = (State.WAITING, State.NEVER_DISPATCHED, State.NOT_DISPATCHED_YET)
"""States of messages that are in the log and that the group did not get."""
GONE = (State.EXPIRED_UNREAD, State.TRUNCATED, State.DAMAGED)
LIGHT = "a light topic: its messages are in the log under the topic that they were sent to"
BATCHES = "a queue of batches: a record holds several messages, read or not"


class NoSuchGroup(Exception):
    """The offsets name no such group: one sentence."""


@dataclass(frozen=True, slots=True)
class UnreadBy:
    """The unread messages of one group.

    Attributes:
        ranges: queue offsets of each queue.
        living_from: where the messages of a queue begin that live.
        sentences: ranges of which the files do not tell whether they were read, and how many unread messages are gone.
    """

    ranges: Mapping[QueueKey, Layer]
    living_from: Mapping[QueueKey, int]
    sentences: Sequence[str] = ()
    columns: Sequence[str] = field(
        default=("topic", "queue_id", "queue_offset", "physical_offset", "transaction_type"), init=False
    )

    def wanted(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """In one of the ranges, of the living life of its topic, and of a kind that gets into a queue."""
        topics = batch["topic"].dictionary_encode()
        codes = topics.indices.to_numpy(zero_copy_only=False)
        queue_ids, numbers = batch["queue_id"].to_numpy(), batch["queue_offset"].to_numpy()
        places = batch["physical_offset"].to_numpy()
        found = np.zeros(batch.num_rows, np.bool_)
        for code, topic in enumerate(topics.dictionary.to_pylist()):
            of_topic = codes == code
            for queue_id in np.unique(queue_ids[of_topic]).tolist():
                key = (topic, queue_id)
                if key in self.ranges:
                    rows = np.flatnonzero(of_topic & (queue_ids == queue_id))
                    living = places[rows] >= self.living_from.get(key, 0)
                    found[rows] = self.ranges[key].holds(numbers[rows]) & living
        return pa.array(found & ~_never_queued(batch["transaction_type"]))


def _never_queued(kinds: pa.Array) -> npt.NDArray[np.bool_]:
    coded = kinds.dictionary_encode()
    left_out = [number for number, kind in enumerate(coded.dictionary.to_pylist()) if kind in NEVER_QUEUED]
    indices: npt.NDArray[np.int32] = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.isin(indices, left_out)


def unread_by(store: Store, known: StoreKnowledge, offsets: GroupOffsets, group: str, topic: str | None) -> UnreadBy:
    """What a group had not read of a store when its offsets were stored, from one pass over the log.

    Args:
        topic: only of this one.

    Raises:
        NoSuchGroup: no offset of the group is stored.
    """
    own = {key: stored for key, stored in offsets.items() if key[0] == group and topic in (None, key[1])}
    if not own:
        groups = sorted({name for name, _ in offsets})
        raise NoSuchGroup(
            f"no offset of group {group}{f' on {topic}' if topic else ''} is stored; there are {', '.join(groups)}"
        )
    ledger = ledger_in_motion(store, known)
    return _of(ledger, list(ledger.of_groups(own)), store)


def _of(ledger: StoreLedger, queues: Sequence[QueueLedger], store: Store) -> UnreadBy:
    ranges, living_from = {}, {}
    sentences: list[str] = []
    for queue in queues:
        key = (queue.topic, queue.queue_id)
        why = LIGHT if is_lmq(queue.topic) else BATCHES if key in store.batch_queues else None
        sentences += _untold(queue, why)
        if why is None:
            ranges[key] = _layer(queue)
            living_from[key] = ledger.lives.living_start(key)
    return UnreadBy(ranges, living_from, sentences)


def _layer(queue: QueueLedger) -> Layer:
    unread = [each for each in queue.ranges if each.state in UNREAD]
    firsts, ends = ([getattr(each, side) for each in unread] for side in ("first", "end"))
    return Layer(np.array(firsts, np.int64), np.array(ends, np.int64), State.WAITING)


def _untold(queue: QueueLedger, why: str | None) -> Iterator[str]:
    place = f"{queue.group} on {queue.topic}/{queue.queue_id}"
    for each in queue.ranges:
        if each.state is State.UNKNOWN or (why is not None and each.state in UNREAD):
            reason = why or each.reason
            yield f"{place}: queue offsets {each.first} to {each.end - 1} are left out, read or not: {reason}"
    gone = sum(each.messages for each in queue.ranges if each.state in GONE)
    if gone:
        yield f"{place}: {gone} unread messages are gone or damaged; `rocketlens ledger --group {queue.group}` has them"
