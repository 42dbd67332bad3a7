"""Popped messages as rows of the table `popped_messages`, their sums by queue, and what waits to be revived."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs, Mask
from parsers.layouts.columns import schema_from
from parsers.store.store import Store
from parsers.values.topics import REVIVE_GROUP
from parsers.values.utc import utc
from pipelines.answers.fates.columns import batches_of, instants, known, reasons, stored_at, value_of, words
from pipelines.answers.fates.sums import summed
from pipelines.lake.tables.fates import POPPED_MESSAGES
from pipelines.lake.tables.lag import LAG
from recovery.fates.held import UNIQ_KEY, property_texts
from recovery.fates.held_kernel import NONE
from recovery.fates.pops import PASSED, POP_STATES, REVIVED, UNKNOWN, UNMATCHED, StorePops, pops
from recovery.fates.retries import Offsets
from recovery.fates.revive_log import WAITS_FOR
from recovery.fates.revive_queues import revive_queues, skips_revival
from recovery.fates.stated_pops import POP_SOURCES
from recovery.fates.states import PopSource
from recovery.knowledge.inference import StoreKnowledge
from recovery.query.ledger import next_to_read

NO_MESSAGE = "the log has no record at this place of the queue: it expired, or the queue is not filled by such records"
ACKED_TOO = "acknowledged, and put into the retry topic all the same: it is delivered again"
ONCE_MORE = "the stored revive offset is not past its checkpoint: a start on these files puts it there once more"
NO_COPY = (
    "the revive service is past its checkpoint, and the log has no copy in a retry topic: for example the copy "
    "expired, the message could not be read or has no UNIQ_KEY, topic or group were gone by then, the service dropped "
    "the checkpoint, or the broker stopped before the copy was stored"
)
NO_CHECKPOINT = "acknowledged, and the log has no checkpoint of it: that expired, or was never stored"
NO_OFFSETS = "no stored offsets tell how far the revive service is, and it is not acknowledged"
NO_TIME = "the file does not say until when it is invisible"
PAST_IT = (
    "the group's stored offset is past it, and the file has no acknowledgement: it was acknowledged after the file was "
    "saved, or the offset was set by hand"
)
DAMAGED = "what became of it may be in damaged or missing bytes behind its checkpoint"
NOT_REVIVED = (
    "timerWheelEnable=false: the revive service skips every revive topic, and no message that is not acknowledged is "
    "delivered again"
)
REVIVE_SCHEMA = schema_from(
    "topic text, queue_id i32, revive_offset i64, end i64, behind i64, checkpoints i64, messages i64, waiting i64, "
    "oldest_due time, unreadable i64"
)


@dataclass(frozen=True, slots=True)
class PopAnswer:
    """What became of a store's popped messages."""

    answer: StorePops

    @classmethod
    def of(
        cls,
        store: Store,
        knowledge: StoreKnowledge,
        offsets: Offsets | None,
        damage: DamageSink,
        topics: Collection[str] | None = None,
    ) -> PopAnswer:
        """Read the log, and once more for the messages themselves where any was popped; `topics`: see `pops`."""
        return cls(pops(store, knowledge, offsets, damage, topics))

    def notes(self, knowledge: StoreKnowledge) -> Iterator[str]:
        """What no row can tell."""
        queues = revive_queues(self.answer)
        if any(queue.checkpoints for queue in queues) and skips_revival(knowledge):
            yield NOT_REVIVED
        for queue in queues:
            if queue.unreadable:
                yield (
                    f"{queue.topic} queue {queue.queue_id}: {queue.unreadable} bodies that are no checkpoint and no "
                    "acknowledgement: the revive service stops at the first one that it comes to"
                )

    def revive_rows(self) -> pa.Table:
        """A row of REVIVE_SCHEMA for each queue of a revive topic."""
        rows = []
        for queue in revive_queues(self.answer):
            row = queue._asdict()
            due = row.pop("oldest_due_ms")
            behind = None
            if queue.revive_offset is not None and queue.end is not None:
                behind = max(queue.end - next_to_read(REVIVE_GROUP, queue.revive_offset, queue.end), 0)
            rows.append({**row, "behind": behind, "oldest_due": None if due is None else utc(due)})
        return pa.Table.from_pylist(rows, schema=REVIVE_SCHEMA)

    def batches(
        self, *, group: str | None = None, topic: str | None = None, open_: bool = False, broker: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of `popped_messages`: of the revive log by group, topic and place in the queue, then of other files;
        `open_`: without those acknowledged or delivered again."""
        entries, entry = self.answer.log.entries, self.answer.found.entry
        order = np.lexsort(
            (entries.queue_offset[entry], entries.queue_id[entry], entries.topic[entry], entries.group[entry])
        )
        stated = np.arange(len(self.answer.stated.rows))
        for rows, made in ((order, self._batch), (stated, self._stated_batch)):
            for batch in batches_of(rows, partial(made, broker=broker), group=group, topic=topic):
                is_closed = pc.is_in(batch.column("state"), pa.array(["acked", "revived", "unmatched"]))
                yield batch.filter(pc.invert(is_closed)) if open_ else batch

    def _batch(self, rows: Longs, broker: str | None) -> pa.RecordBatch:
        log, found, messages = self.answer.log, self.answer.found, self.answer.messages
        columns, theirs, state = log.held.columns, messages.columns, found.state[rows]
        entry, message, copy, acked = (each[rows] for each in (found.entry, found.message, found.copy, found.acked))
        of_entry = log.entries
        popped_ms, is_popped = of_entry.pop_time_ms[entry], state != UNMATCHED
        made = {
            "group": words(log.groups, of_entry.group[entry]),
            "topic": words(log.topics, of_entry.topic[entry]),
            "source": pa.array([str(PopSource.REVIVE_LOG)] * len(rows), pa.string()),
            "queue_id": pa.array(of_entry.queue_id[entry].astype(np.int32)),
            "queue_offset": pa.array(of_entry.queue_offset[entry]),
            "physical_offset": value_of(theirs.physical_offset, message),
            "unique_id": self._unique_ids(message),
            "stored_at": stored_at(theirs, message),
            "state": words(POP_STATES, state),
            "checkpoints": pa.array(found.checkpoints[rows].astype(np.int32)),
            "popped_at": instants(popped_ms),
            "invisible_until": instants(popped_ms + of_entry.invisible_ms[entry], is_popped),
            "revive_queue_id": self._revive_queues(of_entry.record[entry]),
            "acked_at": stored_at(columns, acked),
            "revived_at": stored_at(columns, copy),
            "retry_topic": words(log.held.topics, value_of(columns.topic, copy).fill_null(NONE).to_numpy()),
            "retry_queue_offset": value_of(columns.queue_offset, copy),
            "retry_physical_offset": value_of(columns.physical_offset, copy),
            "reason": reasons(
                (message == NONE, NO_MESSAGE),
                ((state == REVIVED) & (acked != NONE), ACKED_TOO),
                ((state == REVIVED) & (acked == NONE) & self._comes_again(rows), ONCE_MORE),
                (state == PASSED, NO_COPY),
                (state == UNMATCHED, NO_CHECKPOINT),
                (state == UNKNOWN, DAMAGED if self.answer.revive_offsets is not None else NO_OFFSETS),
            ),
        }
        return POPPED_MESSAGES.batch(made, broker=broker)

    def _stated_batch(self, rows: Longs, broker: str | None) -> pa.RecordBatch:
        """Rows of what consumerOrderInfo.json and kvStore state."""
        stated, theirs = self.answer.stated.rows.take(pa.array(rows)), self.answer.messages.columns
        message, state = self.answer.stated_messages[rows], self.answer.stated_state[rows]
        is_ordered = stated["source"].to_numpy() == POP_SOURCES.index(PopSource.ORDER_INFO)
        never_said = is_ordered & ~stated["visible_at_ms"].is_valid().to_numpy()
        popped, visible = (
            instants(stated[name].fill_null(NONE).to_numpy()) for name in ("pop_time_ms", "visible_at_ms")
        )
        made = {
            **{name: _plain(stated[name]) for name in ("group", "topic", "queue_id", "queue_offset")},
            "source": words(POP_SOURCES, stated["source"].to_numpy()),
            "physical_offset": value_of(theirs.physical_offset, message),
            "unique_id": self._unique_ids(message),
            "stored_at": stored_at(theirs, message),
            "state": words(POP_STATES, state),
            "popped_at": popped,
            "invisible_until": visible,
            "reason": reasons((message == NONE, NO_MESSAGE), (never_said, NO_TIME), (state == UNKNOWN, PAST_IT)),
        }
        return POPPED_MESSAGES.batch(made, broker=broker)

    def _comes_again(self, rows: Longs) -> Mask:
        """Which rows the next start puts into the retry topic once more, as far as the stored offset says."""
        is_known = self.answer.revive_offsets is not None
        again: Mask = ~self.answer.found.is_done[rows] & is_known
        return again

    def _unique_ids(self, message: Longs) -> pa.Array:
        has = np.flatnonzero(message != NONE)
        at = np.full(len(message), NONE, np.int64)
        at[has] = np.arange(len(has))
        return property_texts(self.answer.messages, message[has], UNIQ_KEY).take(pa.array(at, mask=at == NONE))

    def _revive_queues(self, records: Longs) -> pa.Array:
        """The queue of the revive topic that a record is in, or waits for."""
        log = self.answer.log
        columns = log.held.columns
        queue = np.where(log.is_waiting[records], columns.own[WAITS_FOR][records], columns.queue_id[records])
        return known(queue.astype(np.int32), queue >= 0)


def _plain(column: pa.ChunkedArray) -> pa.Array:
    plain: pa.Array = column.combine_chunks()
    return plain


def pop_sums(batches: Iterable[pa.RecordBatch], lags: Iterable[Mapping[str, Any]], now_ms: int) -> pa.Table:
    """Sums over rows of `popped_messages` and of `lag`, as of an instant."""
    behind = pa.Table.from_pylist(list(lags), schema=LAG.bare_schema)
    return summed("pops_by_queue", (POPPED_MESSAGES, batches), (LAG, behind), now_ms=now_ms)
