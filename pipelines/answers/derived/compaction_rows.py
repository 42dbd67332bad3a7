"""Compacted queues as rows: what each holds, and what its next pass would make of every message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from parsers.compaction.positions import NO_PASS, read_positions
from parsers.compaction.sparse_queue import SparseQueue
from parsers.config.topics import read_topics
from parsers.damage.errors import DamageSink
from parsers.layouts.columns import schema_from
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from recovery.compaction.next_pass import Fate, NextPass, next_pass
from recovery.compaction.pull import PullStatus, pull, units_from
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.settings import StoreSettings

POLICY, COMPACTION = "cleanup.policy", "COMPACTION"
FATES = {
    Fate.KEPT: "kept",
    Fate.NEWER_MESSAGE: "dropped: a newer message has its key",
    Fate.NO_BODY: "dropped: no body",
    Fate.NO_KEY: "dropped: no key",
    Fate.NOT_BEHIND_KEPT: "dropped: not behind the last one kept",
    Fate.WRITTEN_TO: "not read: in the last file",
}
FATE_NAMES = pa.array([FATES[fate] for fate in sorted(Fate)])
QUEUE_SCHEMA = schema_from(
    "topic text, queue_id i32, served flag, min_queue_offset i64, max_queue_offset i64, messages i64, files i32, "
    "compacted_to i64, next_pass_changes flag, next_pass_keys i64, next_pass_keeps i64, next_pass_drops i64, "
    "reason text"
)
MESSAGE_SCHEMA = schema_from(
    "topic text, queue_id i32, queue_offset i64, position i64, msg_size i32, store_timestamp time_ms, next_pass text, "
    "newer_queue_offset i64"
)


@dataclass(frozen=True)
class CompactedQueue:
    """One compacted queue of a store. `position`: the last queue offset that a pass took in; None without a pass."""

    store: Store
    key: QueueKey
    queue: SparseQueue
    position: int | None
    known: StoreKnowledge
    damage: DamageSink

    @cached_property
    def next_pass(self) -> NextPass:
        position = NO_PASS if self.position is None else self.position
        log = self.store.compaction_logs.get(self.key, [])
        return next_pass(log, self.queue, position, self.known.settings, self.known.version, self.damage)

    def row(self, served: bool | None) -> dict[str, Any]:
        """One row of QUEUE_SCHEMA."""
        found = self.next_pass
        dropped = len(found.fate) - found.count(Fate.KEPT) - found.count(Fate.WRITTEN_TO)
        known = found.changes is not None
        return {
            "topic": self.key[0],
            "queue_id": self.key[1],
            "served": served,
            "min_queue_offset": self.queue.min_queue_offset,
            "max_queue_offset": self.queue.max_queue_offset,
            "messages": sum(len(held.valid) for held in self.queue.files),
            "files": len(self.queue.files),
            "compacted_to": self.position,
            "next_pass_changes": found.changes,
            "next_pass_keys": found.keys if known else None,
            "next_pass_keeps": len(found.fate) - dropped if known else None,
            "next_pass_drops": dropped if known else None,
            "reason": found.why,
        }

    def messages(self, from_offset: int, note: Callable[[str], None]) -> Iterator[pa.RecordBatch]:
        """Rows of MESSAGE_SCHEMA: what pulls from this offset on are given, in their order."""
        answer = pull(self.queue, from_offset)
        if answer.status is not PullStatus.FOUND:
            goes_on = (
                "" if answer.next_queue_offset is None else f"; the consumer goes on at {answer.next_queue_offset}"
            )
            note(f"{self.key[0]}/{self.key[1]}: a pull at {from_offset} is answered {answer.status}{goes_on}")
        for held in units_from(self.queue, from_offset):
            yield self._batch(held.units)

    def _batch(self, units: np.ndarray[Any, Any]) -> pa.RecordBatch:
        offsets = units["queue_offset"].astype(np.int64)
        fate, newer = self._fates(offsets)
        columns = [
            pa.array([self.key[0]] * len(units), pa.string()),
            pa.array(np.full(len(units), self.key[1], np.int32)),
            pa.array(offsets),
            pa.array(units["physical_offset"].astype(np.int64)),
            pa.array(units["msg_size"].astype(np.int32)),
            pa.array(units["store_timestamp_ms"].astype(np.int64)).cast(MESSAGE_SCHEMA.field("store_timestamp").type),
            FATE_NAMES.take(fate),
            newer,
        ]
        return pa.RecordBatch.from_arrays(columns, schema=MESSAGE_SCHEMA)

    def _fates(self, offsets: np.ndarray[Any, Any]) -> tuple[pa.Array, pa.Array]:
        """What the next pass makes of the messages of these queue offsets; null where that is not known."""
        found = self.next_pass
        if not len(found.queue_offset):
            return pa.nulls(len(offsets), pa.int64()), pa.nulls(len(offsets), pa.int64())
        order = np.argsort(found.queue_offset, kind="stable")
        at = order[np.minimum(np.searchsorted(found.queue_offset, offsets, sorter=order), len(order) - 1)]
        unknown = found.queue_offset[at] != offsets
        newer = found.newer_queue_offset[at]
        return pa.array(found.fate[at], mask=unknown), pa.array(newer, mask=unknown | (newer < 0))


def compacted_queues(
    store: Store, known: StoreKnowledge, damage: DamageSink, *, topic: str | None = None, queue: int | None = None
) -> Iterator[CompactedQueue]:
    """The compacted queues of a store in order of topic and number."""
    positions = read_positions(store.config, damage=damage) or {}
    for key in sorted(store.compaction_logs.keys() | store.compaction_queues.keys()):
        if topic in (None, key[0]) and queue in (None, key[1]):
            found = SparseQueue.of(store.compaction_queues.get(key, []), damage=damage)
            yield CompactedQueue(store, key, found, positions.get(key), known, damage)


def served_topics(store: Store, settings: StoreSettings, damage: DamageSink) -> frozenset[str] | None:
    """The topics whose consumers are given the copy, not the ordinary queue; None where no configuration tells.

    Source: DefaultMessageStore#getMessage, CleanupPolicyUtils#getDeletePolicy @5.3.3.
    """
    topics = [topic for _, topic in read_topics(store.config, damage=damage)]
    if not topics:
        return None
    policies = {topic.topic: (topic.attributes or {}).get(POLICY) for topic in topics}
    return frozenset(name for name, policy in policies.items() if policy == COMPACTION and settings.enable_compaction)
