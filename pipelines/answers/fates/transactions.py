"""Transactions as rows of the table `transactions`, and their sums by producer group and topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.values.topics import DATABASE_HALF_TOPIC, TRANSACTION_TOPIC
from pipelines.answers.fates.columns import batches_of, reasons, stored_at, value_of, words
from pipelines.answers.fates.sums import summed
from pipelines.lake.tables.fates import TRANSACTIONS
from recovery.fates.held import REAL_TOPIC, UNIQ_KEY, property_texts
from recovery.fates.held_kernel import NONE
from recovery.fates.retries import Offsets
from recovery.fates.transactions import (
    CHECKER,
    COMMITTED,
    GIVEN_UP,
    TRANSACTION_STATES,
    UNKNOWN,
    StoreTransactions,
    transactions,
)
from recovery.knowledge.inference import StoreKnowledge

COMMITTED_TWICE = "committed more than once: consumers get it as often"
COMMITTED_AND_GIVEN_UP = "committed, and given up too: it was checked before the broker wrote that it was decided"
NOT_KNOWN = "the broker's check is past it, or bytes behind it are damaged, and the log has no decision"
NO_CHECK = (
    "no stored offset tells how far the broker's check is, or bytes behind it are damaged, and the log has no decision"
)
NO_DATABASE = (
    "rocksdbstore or damaged or missing bytes behind it leave open whether it was decided, and the log has no decision"
)
KEPT_NO_MORE = "rocksdbstore took it in and does not keep it any more, and the log has no decision"


@dataclass(frozen=True, slots=True)
class TransactionAnswer:
    """What became of a store's transactions."""

    answer: StoreTransactions

    @classmethod
    def of(
        cls, store: Store, knowledge: StoreKnowledge, offsets: Offsets | None, damage: DamageSink
    ) -> TransactionAnswer:
        """Read the log once; `offsets`: of all groups, of which the broker's own says how far it has checked."""
        checked = None if not offsets else offsets.get((CHECKER, TRANSACTION_TOPIC), {})
        return cls(transactions(store, knowledge, checked, damage))

    def batches(
        self, *, topic: str | None = None, open_: bool = False, broker: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of `transactions`, in the order of their half messages; `open_`: without those that were decided."""
        order = np.argsort(self.answer.found.first, kind="stable")
        for batch in batches_of(order, lambda rows: self._batch(rows, broker), topic=topic):
            is_open = pc.is_in(batch.column("state"), pa.array(["pending", "unknown"]))
            yield batch.filter(is_open) if open_ else batch

    def _batch(self, rows: Longs, broker: str | None) -> pa.RecordBatch:
        found, columns = self.answer.found, self.answer.held.columns
        first, last, commit, state = found.first[rows], found.last[rows], found.commit[rows], found.state[rows]
        given_up, decision = found.given_up[rows], found.decision[rows]
        places = columns.physical_offset[first]
        in_database = self.answer.held.of_topic(DATABASE_HALF_TOPIC)[first]
        own_topic = words(self.answer.held.topics, columns.topic[first])
        made = {
            "group": property_texts(self.answer.held, first, "PGROUP"),
            "topic": pc.coalesce(property_texts(self.answer.held, first, REAL_TOPIC), own_topic),
            "unique_id": property_texts(self.answer.held, first, UNIQ_KEY),
            "state": words(TRANSACTION_STATES, state),
            "half_queue_offset": pa.array(columns.queue_offset[first]),
            "half_physical_offset": pa.array(places),
            "stored_at": stored_at(columns, first),
            "checks": pa.array(found.checks[rows], mask=found.checks[rows] == NONE),
            "last_half_at": stored_at(columns, last),
            "commits": pa.array(found.commits[rows]),
            "committed_at": stored_at(columns, commit),
            "queue_id": value_of(columns.queue_id, commit),
            "queue_offset": value_of(columns.queue_offset, commit),
            "physical_offset": value_of(columns.physical_offset, commit),
            "decided_at": stored_at(columns, decision),
            "given_up_at": stored_at(columns, given_up),
            "reason": reasons(
                (found.commits[rows] > 1, COMMITTED_TWICE),
                ((state == COMMITTED) & (given_up != NONE), COMMITTED_AND_GIVEN_UP),
                ((state == UNKNOWN) & in_database, NO_DATABASE),
                ((state == GIVEN_UP) & in_database, KEPT_NO_MORE),
                (state == UNKNOWN, NOT_KNOWN if self.answer.knows_check else NO_CHECK),
            ),
        }
        return TRANSACTIONS.batch(made, broker=broker)


def transaction_sums(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Sums over rows of `transactions`."""
    return summed("transactions_by_topic", (TRANSACTIONS, batches))
