"""Timers and half messages that wait in the log, and whether the cleaners delete their files first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.values.topics import DATABASE_HALF_TOPIC, TIMER_TOPIC, TRANSACTION_TOPIC
from pipelines.answers.fates.delays import DelayAnswer
from pipelines.answers.fates.transactions import TransactionAnswer
from recovery.fates.delays import TIMER, delays
from recovery.fates.held_kernel import NONE
from recovery.fates.retries import Offsets
from recovery.knowledge.inference import StoreKnowledge
from recovery.query.lag import Status
from recovery.retention.retention import Retention
from recovery.rules.versions import BrokerVersion

LISTED = 20
"""Messages named one by one; more are counted."""
NOTHING_WAITS = "none that the log has waits"
NO_DUE_TIME = "a half message has no time at which it is due: its producer or a check decides it"
UNDECIDED = "of {} it is not known whether they still wait: {}"
HALVES_IN_A_TOPIC = BrokerVersion(4, 3, 0)
"""From this version on half messages wait in a queue of their own topic."""
OPEN = ("pending", "unknown")


@dataclass(frozen=True, slots=True)
class HeldRisk:
    """Messages of one kind that wait for their time or their decision.

    Attributes:
        kind: timer (of any delay) or half (of a transaction).
        pending_messages: that wait; None where of none it is known.
        undecided_messages: of which it is not known whether they still wait.
        due_at_ms: when the log file with the oldest of both is due to be deleted; None where not known.
        expire_first: how many of both lie in files that go before they are due; None where the kind has no due time, or
            where no file's end is known.
        expiry_unknown: of how many of both the file's end or the due time is not known.
        messages: the first timers whose files go before they are due, the first half messages; `LISTED` at most.
    """

    kind: Literal["timer", "half"]
    pending_messages: int | None
    undecided_messages: int
    due_at_ms: int | None
    expire_first: int | None
    expiry_unknown: int
    status: Status
    reason: str | None
    messages: tuple[dict[str, Any], ...]


def held_risks(
    store: Store, known: StoreKnowledge, kept: Retention, offsets: Offsets | None, damage: DamageSink
) -> Iterator[HeldRisk]:
    """One for each kind of which a queue has messages; each reads the log once. Half messages of brokers before 4.3.0
    are in no queue: they are looked for in every log of such a version."""
    topics = {topic for (topic, _), queue in kept.played.memory.every_queue.items() if queue.max_queue_offset}
    if TIMER_TOPIC in topics:
        batches = DelayAnswer(store, delays(store, known, damage), None).batches(level=TIMER)
        yield _risk("timer", batches, "physical_offset", kept)
    if topics & {TRANSACTION_TOPIC, DATABASE_HALF_TOPIC} or known.version < HALVES_IN_A_TOPIC:
        batches = TransactionAnswer.of(store, known, offsets, damage).batches(open_=True)
        yield _risk("half", batches, "half_physical_offset", kept)


def _risk(kind: Literal["timer", "half"], batches: Iterable[pa.RecordBatch], place: str, kept: Retention) -> HeldRisk:
    is_timer = kind == "timer"
    wanted = ["topic", "unique_id", "state", "reason", place, *(["due_at"] if is_timer else [])]
    parts = [batch.select(wanted).filter(pc.is_in(batch["state"], pa.array(OPEN))) for batch in batches]
    rows = pa.Table.from_batches(parts).sort_by(place) if parts else None
    if rows is None or not rows.num_rows:
        return HeldRisk(kind, 0, 0, None, 0 if is_timer else None, 0, "zero", NOTHING_WAITS, ())
    undecided = rows.filter(pc.equal(rows["state"], "unknown"))
    waiting = rows.num_rows - undecided.num_rows
    places = rows[place].to_numpy()
    expires = _expiry(kept, places)
    due_ms = _millis(rows["due_at"]) if is_timer else None
    reasons = [] if is_timer else [NO_DUE_TIME]
    if undecided.num_rows:
        reasons.append(UNDECIDED.format(undecided.num_rows, undecided["reason"][0].as_py() or "the log does not tell"))
    due, why = kept.due_of(int(places[0])) if kept.why_not is None else (None, kept.why_not)
    reasons.append(why)
    told = (expires != NONE) & (True if due_ms is None else due_ms != NONE)
    goes_first = told if due_ms is None else told & (expires <= due_ms)
    named = np.flatnonzero(goes_first if is_timer else np.ones(len(told), np.bool_))[:LISTED]
    return HeldRisk(
        kind,
        waiting if waiting or not undecided.num_rows else None,
        undecided.num_rows,
        due,
        int(np.count_nonzero(goes_first)) if is_timer and told.any() else None,
        int(np.count_nonzero(~told)),
        "unknown" if due is None else "number",
        "; ".join(reasons),
        tuple(_named(rows, named, place, due_ms, expires)),
    )


def _millis(column: pa.ChunkedArray) -> Longs:
    millis: Longs = pc.fill_null(column.cast(pa.timestamp("ms", "UTC")).cast(pa.int64()), NONE).to_numpy()
    return millis


def _expiry(kept: Retention, places: Longs) -> Longs:
    """When the file of each message is due to be deleted; NONE where not known."""
    ends = np.array([file.log_min for file in kept.files if file.kind == "commitlog"], np.int64)
    due = [file.due_at_ms for file in kept.files if file.kind == "commitlog"]
    if kept.why_not is not None or not len(ends):
        return np.full(len(places), NONE, np.int64)
    times = np.array([*(NONE if each is None else each for each in due), NONE], np.int64)
    found: Longs = times[np.searchsorted(ends, places, side="right")]
    return found


def _named(rows: pa.Table, named: Longs, place: str, due_ms: Longs | None, expires: Longs) -> Iterator[dict[str, Any]]:
    for number, row in zip(named.tolist(), rows.take(pa.array(named)).to_pylist(), strict=True):
        yield {
            "topic": row["topic"],
            "unique_id": row["unique_id"],
            "physical_offset": row[place],
            "due_at_ms": None if due_ms is None or due_ms[number] == NONE else int(due_ms[number]),
            "expires_at_ms": None if expires[number] == NONE else int(expires[number]),
        }
