"""Lag straight from a store's files, now or at an instant in the past, with offsets from wherever they were kept."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parsers.batchqueue import summarize_batch_queue
from parsers.commitlog.layout import SMALLEST_MESSAGE
from parsers.config.document import Document
from parsers.config.offsets import FILES, document_offsets, read_offsets
from parsers.config.topics import read_topics
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import units
from parsers.consumequeue.summary import summarize_queue
from parsers.errors import Damage, StoreFormatError
from parsers.extents import data_end
from parsers.store import Store, StoreFile
from pipelines.instants import LAST_MS
from pipelines.kept_copy import read_copy, written_ms
from recovery.lag import GroupQueue, Lag, QueueMessage, group_queues, lag_rows, unread_messages
from recovery.log_access import NO_TIME, LogAccess
from recovery.time_search import TimeSearch

Problem = Callable[[str], None]
DamageSink = Callable[[Damage], None]


@dataclass(frozen=True, slots=True)
class OffsetsAt:
    """Committed offsets as one file held them at one instant."""

    written_ms: int
    offsets: dict[tuple[str, str], dict[int, int]]


def offsets_of_store(store: Store, damage: DamageSink) -> OffsetsAt | None:
    """The offsets in the store's own config folder; None when it holds none."""
    found = [(file, offset) for file, offset in read_offsets(store.config, on_damage="collect", damage=damage)]
    kept = [(file, offset) for file, offset in found if offset.kind != "pull"]
    if not any(file.path.name.removesuffix(".bak") in FILES for file in store.config):
        return None
    written = [file.mtime_ns // 1_000_000 for file in store.config if file.path.name.removesuffix(".bak") in FILES]
    table: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for _, offset in kept:
        table[offset.group, offset.topic][offset.queue_id] = offset.consumer_offset
    return OffsetsAt(max(written), dict(table))


def offsets_in(place: Path, problem: Problem) -> list[OffsetsAt]:
    """Kept copies of consumerOffset.json (plain or gzipped, a file or a folder of them), oldest first.

    A copy was written at the epoch milliseconds in its name, else when the file was last changed.
    """
    paths = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    found = (_copy(path, problem) for path in paths if ".json" in path.suffixes or not place.is_dir())
    return sorted((copy for copy in found if copy is not None), key=lambda copy: copy.written_ms)


def _copy(path: Path, problem: Problem) -> OffsetsAt | None:
    seen = path.stat()
    file = StoreFile(path, "config", seen.st_size, seen.st_mtime_ns)
    try:
        content = read_copy(path)
        document = Document(file, content if isinstance(content, dict) else {})
        table: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        for offset in document_offsets(document):
            if offset.kind != "pull":
                table[offset.group, offset.topic][offset.queue_id] = offset.consumer_offset
    except (StoreFormatError, OSError, EOFError, zlib.error) as unreadable:
        problem(f"{path}: {unreadable}")
        return None
    if not table and not {"offsetTable", "lmqOffsetTable"} & document.content.keys():
        return None
    return OffsetsAt(written_ms(path), dict(table))


def store_lag(store: Store, offsets: OffsetsAt, *, at_ms: int | None = None, damage: DamageSink) -> list[Lag]:
    """The lag of every group with offsets, on every queue that counts for it.

    Args:
        at_ms: None: when the offsets were written, or the newest message was stored if that is later. An instant: the
            queues end at the last message stored by then, and nothing is known of a group if the offsets are younger.
    """
    log = LogAccess(store.commitlog)
    queues = positions(store, offsets, log, at_ms=at_ms, damage=damage)
    if at_ms is None:
        at_ms = max(offsets.written_ms, newest_message_ms(store, log))
    times = message_times(store, log, unread_messages(queues))
    return list(lag_rows(queues, times, at_ms))


def positions(
    store: Store, offsets: OffsetsAt, log: LogAccess, *, at_ms: int | None = None, damage: DamageSink
) -> list[GroupQueue]:
    """Every queue that counts for a group with offsets, and where the group and the queue are."""
    ends, why_unknown = queue_ends(store, log, at_ms, damage), _why_unknown(store)
    topics = {t.topic: t.read_queue_nums for _, t in read_topics(store.config, on_damage="collect", damage=damage)}
    known = {topic: count for topic, count in topics.items() if count is not None}
    queues = group_queues(offsets.offsets, known, ends)
    if why_unknown is None:
        return list(queues)
    return [_unknown(queue, why_unknown) if (queue.topic, queue.queue_id) not in ends else queue for queue in queues]


def _why_unknown(store: Store) -> str | None:
    return "the queue is kept in RocksDB, which is not read" if store.queues_are_rocksdbs else None


def _unknown(queue: GroupQueue, why: str) -> GroupQueue:
    return replace(queue, position=replace(queue.position, broker_offset=None, min_queue_offset=None, why_unknown=why))


def queue_ends(
    store: Store, log: LogAccess, at_ms: int | None, damage: DamageSink
) -> dict[tuple[str, int], tuple[int, int]]:
    """(topic, queue_id) -> first message that still exists, and the next one to come (as of `at_ms`)."""
    ends = {}
    for summarize, queues in ((summarize_queue, store.queues), (summarize_batch_queue, store.batch_queues)):
        for key, files in queues.items():
            summary = summarize(files, commitlog_min=log.min_physical_offset, on_damage="collect", damage=damage)
            ends[key] = summary.min_queue_offset, summary.max_queue_offset
    if at_ms is not None:
        for key, files in store.queues.items():
            first, end = ends[key]
            stored_by_then = TimeSearch(files, log).bounded(at_ms + 1, "lower") if end > first else end
            ends[key] = first, min(end, stored_by_then)
    return ends


def newest_message_ms(store: Store, log: LogAccess) -> int:
    """Store time of the newest message that a queue points to, those beyond the calendar left out; 0 without any."""
    newest = 0
    for files in store.queues.values():
        for unit in _last_units(files):
            stored_ms = log.store_timestamp_ms(*unit)
            newest = max(newest, stored_ms) if stored_ms <= LAST_MS else newest
    return newest


def _last_units(files: Sequence[StoreFile]) -> Iterator[tuple[int, int]]:
    for file in reversed(files):
        try:
            view = units(file)[: -(-data_end(file.path) // CQ_UNIT.size)]
        except StoreFormatError:
            continue
        written = view[view["msg_size"] >= SMALLEST_MESSAGE]
        if len(written):
            yield int(written[-1]["physical_offset"]), int(written[-1]["msg_size"])
            return


def message_times(store: Store, log: LogAccess, wanted: Iterable[QueueMessage]) -> dict[QueueMessage, int]:
    """Store timestamps, epoch ms, of messages by their place in a queue; those not found are left out."""
    times = {}
    for topic, queue_id, queue_offset in wanted:
        unit = unit_of(store.queues.get((topic, queue_id), ()), queue_offset)
        stored_ms = NO_TIME if unit is None else log.store_timestamp_ms(*unit)
        if stored_ms != NO_TIME:
            times[topic, queue_id, queue_offset] = stored_ms
    return times


def unit_of(files: Sequence[StoreFile], queue_offset: int) -> tuple[int, int] | None:
    """Where a queue's unit points to (physical offset, size); None where there is no such message."""
    for file in files:
        place = queue_offset - (file.base_offset or 0) // CQ_UNIT.size
        if 0 <= place < file.size // CQ_UNIT.size:
            try:
                unit = units(file)[place]
            except (StoreFormatError, IndexError):
                return None
            return (int(unit["physical_offset"]), int(unit["msg_size"])) if unit["msg_size"] > 0 else None
    return None


def lag_record(found: Lag, *, broker: str | None = None) -> dict[str, Any]:
    """A row of the table `lag`; a store does not say which broker it is."""
    return {
        "broker": broker,
        "group": found.group,
        "topic": found.topic,
        "queue_id": found.queue_id,
        "at": datetime.fromtimestamp(found.at_ms / 1000, UTC),
        "broker_offset": found.broker_offset,
        "consumer_offset": found.consumer_offset,
        "messages_behind": found.messages_behind,
        "seconds_behind": found.seconds_behind,
        "status": found.status,
        "reason": found.reason,
    }
