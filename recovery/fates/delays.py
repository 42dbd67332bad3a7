"""Delayed messages: which were delivered and how late, which are pending and since when they are due.

Two kinds. A message with a delay level waits in queue level - 1 of SCHEDULE_TOPIC_XXXX until the time that its queue
unit holds; delayOffset.json has, for each level, the number of the next one to deliver. A timer message (since 5.0.0)
waits in rmq_sys_wheel_timer until its TIMER_OUT_MS; one that is due beyond the wheel is written again, which is a roll.
Either is delivered as a copy: topic, queue and store time are new; id, birth, body, REAL_TOPIC are kept. With
timerRocksDBEnable (since 5.4.0) timers are taken into rocksdbstore: a roll has TIMER_ROLL_LABEL, a delivery no
REAL_TOPIC.
Source: ScheduleMessageService#messageTimeUp, #start, DeliverDelayedMessageTimerTask#executeOnTimeUp @3.2.6 … 5.3.3;
TimerMessageStore#doEnqueue, #dequeue, #convertMessage, #doPut @5.0.0 … 5.3.3; TimerMessageRocksDBStore#convertMessage,
Timeline @5.4.0 … 5.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from parsers.consumequeue.read import units
from parsers.damage.errors import DamageSink, StoreFormatError
from parsers.kernels.arrays import Codes, Ints, Longs, Mask
from parsers.store.store import Store
from parsers.values.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from recovery.fates.delay_states import (
    DELETED,
    DELETION,
    DELIVERED,
    PASSED,
    PENDING,
    REASONS,
    ROLLED,
    UNKNOWN,
    Progress,
    Reason,
)
from recovery.fates.held import REAL_TOPIC, Held, Story, held_records, text_hash
from recovery.fates.held_kernel import HASH, HASH_BEFORE_PLUS, HASH_BEHIND_PLUS, NONE, NUMBER
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.dispatch import DispatchRules

OUT_MS, ROLL_TIMES, DELETION_KEY, DELETED_TOPIC, DELETED_ID, ROLL_LABEL = range(6)
"""Rows of `HeldColumns.own` of this story."""
DELAYS = Story(
    keeps=(SCHEDULE_TOPIC, TIMER_TOPIC).__contains__,
    own=(
        ("TIMER_OUT_MS", NUMBER),
        ("TIMER_ROLL_TIMES", NUMBER),
        ("TIMER_DEL_UNIQKEY", HASH),
        ("TIMER_DEL_UNIQKEY", HASH_BEFORE_PLUS),
        ("TIMER_DEL_UNIQKEY", HASH_BEHIND_PLUS),
        ("TIMER_ROLL_LABEL", HASH),
    ),
    triggers=(REAL_TOPIC, "TIMER_OUT_MS"),
)
TIMER = 0
"""Stands for a level in the columns of timer messages."""
UNKNOWN_LEVEL_MS = 1000
"""ScheduleMessageService#computeDeliverTimestamp: of a level that messageDelayLevel does not have @4.9.7, 5.3.3."""


class Fates(NamedTuple):
    """One row per delayed record, in log order; `record` is its row among the records held.

    `level`: TIMER for a timer message. `due_ms`: NONE where it is not known. `state`, `reason`: places in STATES and
    REASONS. `delivery`: row of its first delivery among the records held, NONE without one; `deliveries`: how many.
    """

    record: Longs
    level: Ints
    due_ms: Longs
    state: Codes
    reason: Codes
    delivery: Longs
    deliveries: Ints


@dataclass(frozen=True, slots=True)
class Delays:
    """The fates of a store's delayed messages.

    Attributes:
        expired: level -> how many of its messages expired from the log before they were delivered.
    """

    held: Held
    fates: Fates
    progress: Progress
    expired: Mapping[int, int]

    def late_ms(self) -> Longs:
        """Delivery minus due time, in milliseconds; NONE of those that have no delivery or no known time."""
        fates = self.fates
        known = (fates.delivery >= 0) & (fates.due_ms >= 0)
        stored = self.held.columns.store_timestamp_ms[np.maximum(fates.delivery, 0)] if len(known) else fates.due_ms
        return np.where(known, np.maximum(stored - fates.due_ms, 0), NONE)


def delays(store: Store, known: StoreKnowledge, damage: DamageSink) -> Delays:
    """What became of every delayed message that the log has."""
    held = held_records(store.commitlog, known.rules, DELAYS)
    progress = Progress.of(store, damage)
    due = np.where(held.of_topic(TIMER_TOPIC), held.columns.own[OUT_MS], scheduled_due(held, store, known.rules))
    fates = fates_of(held, due, progress, _by_topic(known))
    return Delays(held, fates, progress, _expired(held, fates, progress, store))


def scheduled_due(held: Held, store: Store, rules: DispatchRules) -> Longs:
    """When each record held that waits for a delay level is due, in epoch ms; NONE of other records.

    It is the time in its queue unit, which the broker goes by; where no unit is for it, the store time and what
    messageDelayLevel says now.
    """
    columns = held.columns
    due = np.full(held.rows, NONE, np.int64)
    scheduled = np.flatnonzero(held.of_topic(SCHEDULE_TOPIC))
    millis = rules.delay_levels.millis
    delay = np.array([UNKNOWN_LEVEL_MS, *millis, UNKNOWN_LEVEL_MS], np.int64)
    level = np.clip(columns.queue_id[scheduled].astype(np.int64) + 1, 0, len(millis) + 1)
    due[scheduled] = columns.store_timestamp_ms[scheduled] + delay[level]
    for queue_id in np.unique(columns.queue_id[scheduled]).tolist():
        rows = scheduled[columns.queue_id[scheduled] == queue_id]
        for file in store.queues.get((SCHEDULE_TOPIC, queue_id), ()):
            try:
                stored = units(file)
            except StoreFormatError:
                continue
            at = columns.queue_offset[rows] - (file.base_offset or 0) // stored.dtype.itemsize
            inside = np.flatnonzero((at >= 0) & (at < len(stored)))
            unit = stored[at[inside]]
            own = (unit["physical_offset"] == columns.physical_offset[rows[inside]]) & (unit["tags_code"] > 0)
            due[rows[inside[own]]] = unit["tags_code"][own]
    return due


def _by_topic(known: StoreKnowledge) -> bool | None:
    """How deletions of timers name them; None where the versions that the store may be of differ."""
    versions = (known.version,) if known.version_is_said else (known.version, *known.may_be)
    forms = {version.deletes_timers_by_topic for version in versions}
    return forms.pop() if len(forms) == 1 else None


def fates_of(held: Held, due: Longs, progress: Progress, by_topic: bool | None) -> Fates:
    """The fate of each record held that is a delayed message.

    Args:
        due: by record held.
        by_topic: whether a deletion names the timer's topic too; None: not known (`_deleted`).
    """
    columns, is_timer, is_scheduled = held.columns, held.of_topic(TIMER_TOPIC), held.of_topic(SCHEDULE_TOPIC)
    record = np.flatnonzero(is_timer | is_scheduled)
    rolled = _rolled(held, is_timer)
    from_database = (columns.real_topic == NONE) & (columns.own[OUT_MS] != NONE)
    real_topic = np.where(from_database, columns.topic, columns.real_topic)
    is_copy = ~is_timer & ~is_scheduled & (columns.topic == real_topic)
    takes = (is_timer & (columns.own[DELETION_KEY] == NONE) & ~rolled) | is_scheduled
    delivery, deliveries = _deliveries(held, takes, is_copy, real_topic)
    state, reason = np.full(held.rows, UNKNOWN, np.int8), np.zeros(held.rows, np.int8)
    _judge_levels(held, is_scheduled, progress, state, reason)
    _judge_timers(held, is_timer, due, progress, state, reason)
    state[rolled], reason[rolled] = ROLLED, 0
    named, deleted = _deleted(held, is_timer, due, by_topic)
    is_open = (state == PENDING) | (state == PASSED)
    reason[named & is_open] = REASONS.index(Reason.PERHAPS_DELETED)
    _put(state, reason, deleted & is_open, DELETED, Reason.DELETED)
    delivered = delivery != NONE
    again = delivered & is_scheduled & (state == PENDING) & (reason == 0)
    if progress.unflushed is not None:
        again |= delivered & is_timer & (state == PENDING)
    starts_anew = delivered & is_scheduled & (reason == REASONS.index(Reason.NO_OFFSETS))
    _put(state, reason, delivered, DELIVERED, Reason.NONE)
    _put(state, reason, starts_anew, DELIVERED, Reason.NO_OFFSETS)
    _put(state, reason, again, DELIVERED, Reason.AGAIN)
    return Fates(
        record,
        np.where(is_timer, TIMER, columns.queue_id + 1)[record].astype(np.int32),
        due[record],
        state[record],
        reason[record],
        delivery[record],
        deliveries[record],
    )


def _put(state: Codes, reason: Codes, rows: Mask, put: int, why: Reason) -> None:
    state[rows], reason[rows] = put, REASONS.index(why)


def _judge_levels(held: Held, rows: Mask, progress: Progress, state: Codes, reason: Codes) -> None:
    """States of messages with a delay level, as if none had a delivery in the log."""
    columns, offsets = held.columns, progress.next_offset
    if offsets is None:
        _put(state, reason, rows, UNKNOWN, Reason.UNREADABLE)
        return
    damaged_behind = held.damaged_behind()
    for queue_id in np.unique(columns.queue_id[rows]).tolist():
        of_level = rows & (columns.queue_id == queue_id)
        if queue_id + 1 not in offsets:
            if progress.is_whole:
                _put(state, reason, of_level, PENDING, Reason.NO_OFFSETS)
            else:
                _put(state, reason, of_level, UNKNOWN, Reason.UNREADABLE)
            continue
        passed = of_level & (columns.queue_offset < offsets[queue_id + 1])
        _put(state, reason, of_level & ~passed, PENDING, Reason.NONE)
        _put(state, reason, passed, PASSED, Reason.PASSED)
        _put(state, reason, passed & damaged_behind, UNKNOWN, Reason.PASSED_DAMAGE)


def _judge_timers(held: Held, rows: Mask, due: Longs, progress: Progress, state: Codes, reason: Codes) -> None:
    """States of timer messages, as if none had a delivery in the log."""
    columns = held.columns
    if progress.read_ms is None or progress.next_timer is None:
        _put(state, reason, rows, UNKNOWN, Reason.NO_TIMERCHECK)
    else:
        taken_in = columns.queue_offset < progress.next_timer
        _put(state, reason, rows & ~taken_in, PENDING, Reason.NOT_TAKEN_IN)
        if progress.unflushed is not None:
            is_in_log = np.isin(columns.physical_offset, progress.unflushed)
            _put(state, reason, rows & ~taken_in & is_in_log, PENDING, Reason.TAKEN_TWICE)
        _put(state, reason, rows & taken_in, PENDING, Reason.NONE)
        passed = rows & taken_in & (due != NONE) & (due < progress.read_ms)
        _put(state, reason, passed, PASSED, Reason.TIME_PASSED)
        _put(state, reason, passed & held.damaged_behind(), UNKNOWN, Reason.TIME_PASSED_DAMAGE)
    _put(state, reason, rows & (columns.own[DELETION_KEY] != NONE), DELETION, Reason.NONE)


def _rolled(held: Held, is_timer: Mask) -> Mask:
    """Timer messages that were written again, with one more in TIMER_ROLL_TIMES or, from rocksdbstore, a label."""
    rows, columns = np.flatnonzero(is_timer), held.columns
    times = np.maximum(columns.own[ROLL_TIMES][rows], 0)
    order = rows[np.lexsort((columns.physical_offset[rows], times, columns.message[rows]))]
    next_times = np.maximum(columns.own[ROLL_TIMES][order[1:]], 0)
    is_roll = (next_times == np.maximum(columns.own[ROLL_TIMES][order[:-1]], 0) + 1) | (
        columns.own[ROLL_LABEL][order[1:]] != NONE
    )
    is_next = (columns.message[order[1:]] == columns.message[order[:-1]]) & is_roll
    rolled = np.zeros(held.rows, np.bool_)
    rolled[order[:-1][is_next]] = True
    return rolled


def _deleted(held: Held, is_timer: Mask, due: Longs, by_topic: bool | None) -> tuple[Mask, Mask]:
    """Timer messages that a TIMER_DEL_UNIQKEY names in either form, and those of them that it deletes.

    The broker knows of deletions only in the slot of the wheel that it takes up (deleteUniqKeys in
    TimerMessageStore#dequeue), so that the deletion has to be due when the timer is, and stored before. `by_topic`:
    `BrokerVersion.deletes_timers_by_topic`; None: the version is not known, and none counts as deleted.
    """
    columns = held.columns
    key, topic, message = columns.own[[DELETION_KEY, DELETED_TOPIC, DELETED_ID]]
    is_deletion = is_timer & (key != NONE)
    found: Mask = (
        is_timer & ~is_deletion & np.isin(columns.message, np.concatenate((key, message))[np.tile(is_deletion, 2)])
    )
    deleted = np.zeros(held.rows, np.bool_)
    if by_topic is None:
        return found, deleted
    rows, in_time = np.flatnonzero(found), is_deletion & (columns.store_timestamp_ms < due)
    timers, deletions = [columns.message[rows], due[rows]], [key[in_time], due[in_time]]
    if by_topic:
        real = np.array([*map(text_hash, held.topics), NONE], np.int64)[columns.real_topic[rows]]
        timers, deletions = [*timers, real], [message[in_time], due[in_time], topic[in_time]]
    keys = set(zip(*(column.tolist() for column in deletions), strict=True))
    deleted[rows] = [timer in keys for timer in zip(*(column.tolist() for column in timers), strict=True)]
    return found, deleted


def _deliveries(held: Held, takes: Mask, is_copy: Mask, real_topic: Ints) -> tuple[Longs, Ints]:
    """Each delayed record's first delivery, and how many it has.

    A copy belongs to the record of the same message, real topic and number of retries that is before it in the log; of
    several such records the first copy is the first one's, and so on, and what is left over the last one's.
    """
    columns = held.columns
    rows = np.flatnonzero(takes | is_copy)
    order = rows[
        np.lexsort(
            (columns.physical_offset[rows], columns.reconsume_times[rows], real_topic[rows], columns.message[rows])
        )
    ]
    same = np.ones(max(0, len(order) - 1), np.bool_)
    for column in (columns.message, real_topic, columns.reconsume_times):
        same &= column[order[1:]] == column[order[:-1]]
    group = np.concatenate(([0], np.cumsum(~same))) if len(order) else np.empty(0, np.int64)
    delivery, deliveries = np.full(held.rows, NONE, np.int64), np.zeros(held.rows, np.int32)
    sources, copies = order[takes[order]], order[is_copy[order]]
    source_group, copy_group = group[takes[order]], group[is_copy[order]]
    first = np.searchsorted(source_group, copy_group)
    count = np.searchsorted(source_group, copy_group, "right") - first
    rank = np.arange(len(copies)) - np.searchsorted(copy_group, copy_group)
    wanted = count > 0
    source = sources[(first + np.minimum(rank, count - 1))[wanted]]
    taken = copies[wanted]
    later = columns.physical_offset[taken] > columns.physical_offset[source]
    source, taken = source[later], taken[later]
    delivery[source[::-1]] = taken[::-1]
    np.add.at(deliveries, source, 1)
    return delivery, deliveries


def _expired(held: Held, fates: Fates, progress: Progress, store: Store) -> dict[int, int]:
    """How many messages of each level, from the stored offset on, lie before the first byte of the log."""
    found: dict[int, int] = {}
    if not store.commitlog:
        return found
    log_start = min(file.base_offset or 0 for file in store.commitlog)
    for level, next_offset in sorted((progress.next_offset or {}).items()):
        rows = fates.record[fates.level == level]
        first = _first_kept(store, level - 1, log_start)
        if len(rows):
            first = min(first, int(held.columns.queue_offset[rows].min()))
        if first > next_offset:
            found[level] = first - next_offset
    return found


def _first_kept(store: Store, queue_id: int, log_start: int) -> int:
    """The number after the last message of a level's queue that its units place before the log, and the number of the
    queue's first unit where that is higher; 0 where no unit can be read."""
    first: int | None = None
    for file in store.queues.get((SCHEDULE_TOPIC, queue_id), ()):
        try:
            stored = units(file)
        except StoreFormatError:
            continue
        numbers = np.flatnonzero(stored["msg_size"] > 0) + (file.base_offset or 0) // stored.dtype.itemsize
        if first is None and len(numbers):
            first = int(numbers[0])
        expired = numbers[stored["physical_offset"][stored["msg_size"] > 0] < log_start]
        if len(expired):
            first = int(expired[-1]) + 1
    return first or 0
