"""Messages that groups gave back, as rows of the table `retry_chains`, and their sums by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs, Mask
from parsers.store.store import Store
from pipelines.answers.fates.columns import batches_of, instants, reasons, stored_at, value_of, words
from pipelines.answers.fates.sums import summed
from pipelines.lake.tables.fates import RETRY_CHAINS
from recovery.fates.delays import scheduled_due
from recovery.fates.held import UNIQ_KEY, property_texts
from recovery.fates.held_kernel import NONE
from recovery.fates.popped_retries import has_popped, with_pops
from recovery.fates.pops import pops
from recovery.fates.retries import DOUBTS, RETRY_STATES, Doubt, Offsets, Retries, retries
from recovery.fates.states import RetryState
from recovery.knowledge.inference import StoreKnowledge

NO_ORIGIN = "the message itself is not in the log"
NO_FIRST = "its first failures have no copy in the log: they expired, or an orderly consumer tried again by itself"


@dataclass(frozen=True, slots=True)
class RetryAnswer:
    """What became of the messages that groups gave back; `due_ms`: of each record held that waits for a level."""

    store: Store
    found: Retries
    due_ms: Longs

    @classmethod
    def of(cls, store: Store, knowledge: StoreKnowledge, offsets: Offsets | None) -> RetryAnswer:
        """Read the log, and once more for the messages themselves where there are any."""
        found = retries(store, knowledge, offsets)
        return cls(store, found, scheduled_due(found.held, store, knowledge.rules))

    def with_pops(self, knowledge: StoreKnowledge, offsets: Offsets | None, damage: DamageSink) -> RetryAnswer:
        """With what checkpoints and acknowledgements say of the retries that were popped; reads the log for them."""
        if not has_popped(self.found):
            return self
        return replace(self, found=with_pops(self.found, pops(self.store, knowledge, offsets, damage), offsets))

    def batches(
        self, *, group: str | None = None, topic: str | None = None, dead: bool = False, broker: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of `retry_chains`, in the order of their first copies; `dead`: dead letters alone."""
        order = np.argsort(self.found.chains.first, kind="stable")
        state = "dead_letter" if dead else None
        return batches_of(order, lambda rows: self._batch(rows, broker), group=group, topic=topic, state=state)

    def standing(self) -> Counter[tuple[str, RetryState, Doubt]]:
        """How many messages of each group stand where, and why that is unknown."""
        chains = self.found.chains
        groups = self._groups(chains.first).to_pylist()
        states = (RETRY_STATES[state] for state in chains.state.tolist())
        return Counter(zip(groups, states, (DOUBTS[doubt] for doubt in chains.doubt.tolist()), strict=True))

    def _batch(self, rows: Longs, broker: str | None) -> pa.RecordBatch:
        held, chains, origins = self.found.held, self.found.chains, self.found.origins
        columns, theirs = held.columns, origins.columns
        first, last, state = chains.first[rows], chains.last[rows], chains.state[rows]
        origin = chains.origin[rows]
        has_origin, is_popped, groups = origin != NONE, self._is_popped(first), self._groups(first)
        knows_first = chains.least[rows] == 1
        is_waiting = state == RETRY_STATES.index(RetryState.WAITING)
        doubt = chains.doubt[rows]
        doubts = [(doubt == code, str(why)) for code, why in enumerate(DOUBTS) if why is not Doubt.NONE]
        failed, dead, retry = chains.last_failure[rows], chains.dead_letter[rows], chains.last_retry[rows]
        failed = np.where(is_popped & (failed == NONE), retry, failed)
        made = {
            "group": groups,
            "topic": self._topics(origin, first),
            "queue_id": value_of(theirs.queue_id, origin),
            "queue_offset": value_of(theirs.queue_offset, origin),
            "physical_offset": value_of(theirs.physical_offset, origin),
            "unique_id": property_texts(held, first, UNIQ_KEY),
            "stored_at": stored_at(theirs, origin),
            "state": words(RETRY_STATES, state),
            "failures": pa.array(chains.failures[rows]),
            "retries": pa.array(chains.copies[rows]),
            "repeated": pa.array(chains.repeated[rows]),
            "first_failed_at": stored_at(columns, np.where(knows_first, first, NONE)),
            "last_failed_at": stored_at(columns, failed),
            "due_at": instants(self.due_ms[last], is_waiting),
            "last_retry_at": stored_at(columns, retry),
            "retry_queue_id": value_of(columns.queue_id, retry),
            "retry_queue_offset": value_of(columns.queue_offset, retry),
            "dead_at": stored_at(columns, dead),
            "dead_queue_offset": value_of(columns.queue_offset, dead),
            "dead_physical_offset": value_of(columns.physical_offset, dead),
            "reason": reasons((~has_origin, NO_ORIGIN), (~knows_first, NO_FIRST), *doubts),
        }
        return RETRY_CHAINS.batch(made, broker=broker)

    def _topic_codes(self, first: Longs) -> Longs:
        """The retry or dead letter topic of each chain's first copy, which may still wait for it."""
        columns, codes = self.found.held.columns, self.found.retry_topics
        is_one = np.array([code in codes for code in range(len(self.found.held.topics))] or [False])
        return np.where(is_one[columns.topic[first]], columns.topic[first], columns.real_topic[first]).astype(np.int64)

    def _is_popped(self, first: Longs) -> Mask:
        codes = self._topic_codes(first)
        popped = [code for code, topic in self.found.retry_topics.items() if topic.origin is not None]
        is_popped: Mask = np.isin(codes, popped)
        return is_popped

    def _groups(self, first: Longs) -> pa.Array:
        topics = self.found.retry_topics
        names = [topics[code].group if code in topics else "" for code in range(len(self.found.held.topics))]
        return words(names, self._topic_codes(first))

    def _topics(self, origin: Longs, first: Longs) -> pa.Array:
        """The topic that the message was sent to: by its copies, its own record, or the name of their topic."""
        held, origins, topics = self.found.held, self.found.origins, self.found.retry_topics
        by_record = words(origins.topics, value_of(origins.columns.topic, origin).fill_null(NONE).to_numpy())
        by_copy = property_texts(held, first, "RETRY_TOPIC")
        by_name = pa.array([topics[code].origin if code in topics else None for code in range(len(held.topics))])
        named = by_name.cast(pa.string()).take(pa.array(self._topic_codes(first)))
        return pc.coalesce(by_copy, by_record, named)


def retry_sums(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Sums over rows of `retry_chains`."""
    return summed("retries_by_group", (RETRY_CHAINS, batches))
