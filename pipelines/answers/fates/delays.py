"""Delayed messages as rows of the table `delayed_messages`, and their sums by level and topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from pipelines.answers.fates.columns import batches_of, instants, known, words
from pipelines.answers.fates.sums import summed
from pipelines.lake.tables.fates import DELAYED_MESSAGES
from recovery.fates.delay_states import DELIVERED, PENDING, REASONS, STATES, Reason
from recovery.fates.delays import TIMER, Delays, delays
from recovery.fates.held import UNIQ_KEY, property_texts
from recovery.fates.held_kernel import NONE
from recovery.knowledge.inference import StoreKnowledge
from recovery.retention.retention import Retention, retention


@dataclass(frozen=True, slots=True)
class DelayAnswer:
    """What became of a store's delayed messages, and when the cleaners delete the files of pending ones.

    `kept` is None where nothing is pending.
    """

    store: Store
    found: Delays
    kept: Retention | None

    @classmethod
    def of(cls, store: Store, knowledge: StoreKnowledge, damage: DamageSink, now_ms: int) -> DelayAnswer:
        """Read the log once; `now_ms`: when the cleaners are looked at."""
        found = delays(store, knowledge, damage)
        is_pending = bool((found.fates.state == PENDING).any())
        return cls(store, found, retention(store, knowledge, now_ms) if is_pending else None)

    def notes(self) -> Iterator[str]:
        """What no row can tell."""
        for level, gone in self.found.expired.items():
            yield f"level {level}: {gone} messages expired from the log before the broker delivered them"
        if again := self._count(DELIVERED, Reason.AGAIN, Reason.NO_OFFSETS):
            yield (
                f"{again} delivered messages are not behind the stored offset of their level or timercheck, or it has "
                "none: a start on these files delivers them again (--messages says which)"
            )
        if twice := self._count(PENDING, Reason.TAKEN_TWICE):
            yield (
                f"{twice} pending timers are in the timer log, and timercheck is not past them: a start on these files "
                "delivers them twice (--messages says which)"
            )
        if self.kept is not None and self.kept.why_not is not None:
            yield f"when files with pending messages are deleted is not known: {self.kept.why_not}"

    def _count(self, state: int, *reasons: Reason) -> int:
        fates = self.found.fates
        is_of = np.isin(fates.reason, [REASONS.index(reason) for reason in reasons])
        return int(np.count_nonzero(is_of & (fates.state == state)))

    def levels(self) -> list[int]:
        """Levels at which messages wait or waited, 0 for timers."""
        return sorted(set(self.found.fates.level.tolist()))

    def batches(
        self, *, topic: str | None = None, level: int | None = None, pending: bool = False, broker: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of `delayed_messages`, in log order.

        Args:
            level: only this delay level; 0: only timer messages.
        """
        held, fates = self.found.held, self.found.fates
        wanted = np.ones(len(fates.record), np.bool_)
        if topic is not None:
            code = held.topics.index(topic) if topic in held.topics else NONE
            wanted &= (held.columns.real_topic[fates.record] == code) & (code != NONE)
        if level is not None:
            wanted &= fates.level == level
        if pending:
            wanted &= fates.state == PENDING
        late_ms, expires_ms = self.found.late_ms(), self._expires_ms()
        return batches_of(np.flatnonzero(wanted), lambda rows: self._batch(rows, late_ms, expires_ms, broker))

    def _expires_ms(self) -> Longs:
        """When the file of each pending message is due to be deleted; NONE of others and where it is not known."""
        fates = self.found.fates
        expires = np.full(len(fates.record), NONE, np.int64)
        if self.kept is None or self.kept.why_not is not None:
            return expires
        files = self.store.commitlog
        bases = np.array([file.base_offset or 0 for file in files], np.int64)
        due = [self.kept.due_of(base)[0] for base in bases.tolist()]
        of_file = np.array([NONE if each is None else each for each in due], np.int64)
        rows = np.flatnonzero(fates.state == PENDING)
        place = self.found.held.columns.physical_offset[fates.record[rows]]
        expires[rows] = of_file[np.searchsorted(bases, place, side="right") - 1]
        return expires

    def _batch(self, rows: Longs, late_ms: Longs, expires_ms: Longs, broker: str | None) -> pa.RecordBatch:
        held, fates = self.found.held, self.found.fates
        columns, record = held.columns, fates.record[rows]
        delivery = fates.delivery[rows]
        has, at = delivery != NONE, np.maximum(delivery, 0)
        level, due, expires = fates.level[rows], fates.due_ms[rows], expires_ms[rows]
        reasons = fates.reason[rows]
        made = {
            "kind": words(("timer", "level"), (level != TIMER).astype(np.int8)),
            "level": pa.array(level, mask=level == TIMER),
            "topic": words(held.topics, columns.real_topic[record]),
            "unique_id": property_texts(held, record, UNIQ_KEY),
            "queue_offset": pa.array(columns.queue_offset[record]),
            "physical_offset": pa.array(columns.physical_offset[record]),
            "stored_at": instants(columns.store_timestamp_ms[record]),
            "due_at": instants(due),
            "state": words(STATES, fates.state[rows]),
            "late_ms": known(late_ms[rows], late_ms[rows] != NONE),
            "deliveries": pa.array(fates.deliveries[rows]),
            "delivered_at": instants(np.where(has, columns.store_timestamp_ms[at], NONE)),
            "delivered_queue_id": known(columns.queue_id[at], has),
            "delivered_queue_offset": known(columns.queue_offset[at], has),
            "delivered_physical_offset": known(columns.physical_offset[at], has),
            "expires_at": instants(expires),
            "expires_first": known(expires <= due, (expires != NONE) & (due != NONE)),
            "reason": words(REASONS, reasons, ~(reasons == 0)),
        }
        return DELAYED_MESSAGES.batch(made, broker=broker)


def delay_sums(batches: Iterable[pa.RecordBatch], now_ms: int) -> pa.Table:
    """Sums over rows of `delayed_messages`, as of an instant."""
    return summed("delays_by_level", (DELAYED_MESSAGES, batches), now_ms=now_ms)
