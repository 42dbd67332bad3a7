"""Lag straight from a store's files, now or at an instant in the past, with offsets from wherever they were kept."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Any

import pyarrow.compute as pc

from parsers.config.topics import read_topics
from parsers.damage.errors import DamageSink
from parsers.queues.queue import BatchQueue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.values.topics import REVIVE_GROUP
from pipelines.answers.lag.popping import NewestPops, popping
from pipelines.answers.offsets.saved import OffsetsAt
from pipelines.lake.tables.lag import LAG
from recovery.knowledge.copied_times import TimesLost, newest_message_ms
from recovery.lives.life import TopicLives
from recovery.lives.offset_lives import DoubtfulOffset, OffsetLife, doubtful_offsets, may_be_doubtful
from recovery.lives.topic_lives import StoreLives
from recovery.query.by_time.queue import search_of
from recovery.query.hidden_queues import every_queue
from recovery.query.lag import (
    LAST_DONE,
    LOG_NOT_FOUND,
    NOT_THEN,
    POPPED,
    POPPED_BY_RECORDS,
    TOPIC_DELETED,
    WITHOUT_LOG,
    GroupQueue,
    Lag,
    QueueMessage,
    lag_rows,
    unread_messages,
)
from recovery.query.refusals import Refusals, refusals
from recovery.scan.log_access import NO_TIME, LogAccess


def store_lag(
    store: Store,
    offsets: OffsetsAt,
    *,
    at_ms: int | None = None,
    damage: DamageSink,
    lives: StoreLives | None = None,
    newest: NewestPops | None = None,
) -> list[Lag]:
    """The lag of every group with offsets, on every queue that counts for it.

    Args:
        at_ms: None: when the offsets were written, or the newest message was stored if that is later. An instant: the
            queues end at the last message stored by then, and nothing is known of a group if the offsets are younger.
            Of a store that was copied without times only an instant that is given leads to seconds.
        lives: asked, with a pass over the log, once an offset may be of a former life of its topic.
        newest: for whoever asks of several copies of the offsets, so that the newest pops are read once.
    """
    lost = offsets.times_lost if at_ms is None else None
    refused = refusals(store) if at_ms is None else None
    log = LogAccess(store.commitlog)
    with StoreQueues(store, damage=damage) as queues:
        found = positions(store, queues, offsets, log, at_ms=at_ms, damage=damage)
        if store.log_not_found is None:
            found = _with_doubts(found, offsets, queues, log, lives or StoreLives(store), at_ms)
        if at_ms is None:
            at_ms = max(offsets.written_ms, newest_message_ms(queues, log))
        times = message_times(queues, log, unread_messages(found))
        popped = popping(offsets.offsets, (newest or NewestPops())(queues, log))
    why = POPPED if store.pop_database is None else POPPED_BY_RECORDS
    rows = [_with_pops(row, popped, why) for row in lag_rows(found, times, at_ms)]
    if refused is not None:
        rows = [_with_refusal(row, refused) for row in rows]
    if store.log_not_found is not None:
        return list(map(_without_log, rows))
    return rows if lost is None else [_without_seconds(row, lost) for row in rows]


def _with_pops(row: Lag, popped: Set[tuple[str, str]], why: str) -> Lag:
    """The row, with a word on it where its group pops, and on that of the broker's own group that revives."""
    said = why if (row.group, row.topic) in popped else LAST_DONE if row.group == REVIVE_GROUP else None
    return row if said is None else replace(row, reason="; ".join(filter(None, (row.reason, said))))


def _with_refusal(row: Lag, refused: Refusals) -> Lag:
    """The row, with a word on why what waits is not handed out."""
    told = refused.told(row.group, row.topic) if row.messages_behind != 0 else None
    return row if told is None else replace(row, reason="; ".join(filter(None, (told, row.reason))))


def _without_log(row: Lag) -> Lag:
    """The row, unknown in what only the log could give."""
    return replace(row, reason="; ".join(filter(None, (row.reason, WITHOUT_LOG))))


def _without_seconds(row: Lag, lost: TimesLost) -> Lag:
    """The row, its seconds unknown where they depend on when the offsets were written."""
    if not row.seconds_behind:
        return row
    reasons = filter(None, (row.reason, f"seconds unknown without --at: {lost.reason}"))
    return replace(row, seconds_behind=None, reason="; ".join(reasons))


def _with_doubts(
    found: list[GroupQueue],
    offsets: OffsetsAt,
    queues: StoreQueues,
    log: LogAccess,
    lives: StoreLives,
    at_ms: int | None,
) -> list[GroupQueue]:
    """The queues, and what speaks against an offset where it may be of a former life of the topic."""
    ends = queue_ends(queues, log, None)
    start = log.min_physical_offset
    asked = any(
        may_be_doubtful(topic, queue_id, offset, ends, queues, start)
        for (_, topic), stored in offsets.offsets.items()
        for queue_id, offset in stored.items()
    )
    if not asked or queues.unread is not None:
        return found
    doubts = {(d.group, d.topic, d.queue_id): d for d in doubtful_offsets(lives(), offsets.offsets, ends)}
    return [_with_doubt(one, doubts.get((one.group, one.topic, one.queue_id)), lives(), at_ms) for one in found]


def _with_doubt(queue: GroupQueue, doubt: DoubtfulOffset | None, lives: TopicLives, at_ms: int | None) -> GroupQueue:
    of_topic = lives.topics.get(queue.topic, ())
    begins_ms = of_topic[-1].begins_ms if len(of_topic) > 1 else None
    if at_ms is not None and begins_ms is not None and at_ms < begins_ms:
        return _unknown(queue, NOT_THEN)
    if doubt is None:
        return queue
    if doubt.life is OffsetLife.DELETED:
        return _unknown(queue, TOPIC_DELETED)
    return replace(queue, position=replace(queue.position, doubt=doubt))


def store_positions(store: Store, offsets: OffsetsAt, damage: DamageSink) -> list[GroupQueue]:
    """Every queue that counts for a group with offsets, and where the group and the queue are now."""
    with StoreQueues(store, damage=damage) as queues:
        return positions(store, queues, offsets, LogAccess(store.commitlog), damage=damage)


def positions(
    store: Store,
    queues: StoreQueues,
    offsets: OffsetsAt,
    log: LogAccess,
    *,
    at_ms: int | None = None,
    damage: DamageSink,
) -> list[GroupQueue]:
    """Every queue that counts for a group with offsets, and where the group and the queue are (as of `at_ms`)."""
    ends = queue_ends(queues, log, at_ms)
    no_log = store.log_not_found is not None
    topics = {t.topic: t.read_queue_nums for _, t in read_topics(store.config, damage=damage)}
    known = {topic: count for topic, count in topics.items() if count is not None}
    found = every_queue(offsets.offsets, known, ends)
    if queues.unread is not None:
        return [_unknown(one, queues.unread) if (one.topic, one.queue_id) not in ends else one for one in found]
    if no_log and at_ms is not None:
        return [_unknown(one, LOG_NOT_FOUND) for one in found]
    return [replace(one, position=replace(one.position, min_queue_offset=None)) for one in found] if no_log else found


def _unknown(queue: GroupQueue, why: str) -> GroupQueue:
    return replace(queue, position=replace(queue.position, broker_offset=None, min_queue_offset=None, why_unknown=why))


def queue_ends(queues: StoreQueues, log: LogAccess, at_ms: int | None) -> dict[tuple[str, int], tuple[int, int]]:
    """(topic, queue_id) -> first message that still exists, and the next one to come (as of `at_ms`)."""
    ends = {}
    for key, queue in queues.items():
        first, end = queue.ends(log.min_physical_offset)
        if at_ms is not None and end > first:
            if isinstance(queue, BatchQueue):
                end = min(end, _batch_end(queue, end, at_ms))
            else:
                end = min(end, search_of(queue, log).bounded(at_ms + 1, "lower"))
        ends[key] = first, end
    return ends


def _batch_end(queue: BatchQueue, end: int, at_ms: int) -> int:
    """The first message of the first record that was stored after an instant, the queue's end without one."""
    for batch in queue.batches():
        later = batch.filter(pc.field("store_timestamp_ms") > at_ms)
        if later.num_rows:
            return int(later["queue_offset"][0].as_py())
    return end


def message_times(queues: StoreQueues, log: LogAccess, wanted: Iterable[QueueMessage]) -> dict[QueueMessage, int]:
    """Store timestamps, epoch ms, of messages by their place in a queue; those not found are left out."""
    times = {}
    for topic, queue_id, queue_offset in wanted:
        queue = queues.get((topic, queue_id))
        pointer = None if queue is None else queue.pointer(queue_offset)
        stored_ms = NO_TIME if pointer is None else log.store_timestamp_ms(*pointer)
        if stored_ms != NO_TIME:
            times[topic, queue_id, queue_offset] = stored_ms
    return times


def lag_record(found: Lag, *, broker: str | None = None) -> dict[str, Any]:
    """A row of the table `lag`; a store does not say which broker it is."""
    return LAG.row(found, broker=broker)
