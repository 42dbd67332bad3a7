"""Each consumer group of a store as a row of the table `group_lives`: is it alive, and what is lost without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parsers.config.document import holds_table, read_document
from parsers.config.groups import FILE as GROUPS_FILE
from parsers.errors import DamageSink
from parsers.queues import StoreQueues
from parsers.store import Store
from parsers.topics import DLQ_PREFIX, RETRY_PREFIX, is_retry
from parsers.utc import utc
from pipelines.answers.fates.retries import RetryAnswer
from pipelines.answers.lag import positions, queue_ends
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.answers.offsets.saved import OffsetsAt, offsets_in, offsets_of_store
from pipelines.recordings.lines import Problem
from recovery.config.names import is_system_group
from recovery.fates.retries import RetryState
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.group_life import GroupLeft, Seen, judge_group
from recovery.lives.offset_lives import doubtful_offsets
from recovery.lives.topic_lives import StoreLives
from recovery.query.lag import GroupQueue, OffsetTable, QueueEnds
from recovery.scan.log_access import LogAccess

REVIVE_GROUP, REVIVE_TOPIC = "CID_RMQ_SYS_REVIVE_GROUP", "rmq_sys_REVIVE_LOG_"
BROADCAST = "@broadcast"
NO_OFFSETS = "the store has no table of offsets"
QUEUE_UNKNOWN = "the end of a queue is not known"
IN_FLIGHT = "the broker has not settled all messages that were popped"
NOT_THERE = Seen()


@dataclass(slots=True)
class _Groups:
    """What is counted of each group."""

    named: set[str] | None = None
    left: set[str] = field(default_factory=set)
    topics: dict[str, set[str]] = field(default_factory=dict)
    former: dict[str, set[str]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    dead_letters: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, str] = field(default_factory=dict)


def groups_left(
    store: Store, known: StoreKnowledge, *, kept: Path | None = None, damage: DamageSink, problem: Problem
) -> list[GroupLeft]:
    """What a store has of each group that any of its files names, by name.

    Args:
        kept: copies of consumerOffset.json, beside the store's own.

    Raises:
        FileNotFoundError: `kept` is not there.
    """
    own = offsets_of_store(store, damage)
    copies = [] if kept is None else offsets_in(kept, problem)
    found = _Groups(_named(store, damage))
    found.left |= found.named or set()
    offsets: OffsetTable = {} if own is None else own.offsets
    with StoreQueues(store, on_damage="collect", damage=damage) as queues:
        log = LogAccess(store.commitlog)
        ends = queue_ends(queues, log, None)
        read = [] if own is None else positions(store, queues, own, log, damage=damage)
    lives = StoreLives(store, known)()
    _count_offsets(found, offsets, read)
    _count_own_topics(found, offsets, ends)
    for doubt in doubtful_offsets(lives, offsets, ends):
        if lives.is_deleted(doubt.topic):
            found.former.setdefault(_group(doubt.group), set()).add(doubt.topic)
        else:
            found.doubtful[_group(doubt.group)] += 1
    for batch in RetryAnswer.of(store, known, offsets).batches():
        for group, state in zip(batch["group"].to_pylist(), batch["state"].to_pylist(), strict=True):
            found.unread[group] += state == RetryState.WAITING
    if own is None:
        found.unknown = dict.fromkeys(found.left, NO_OFFSETS)
    tables = sorted([*copies, *([] if own is None else [own])], key=lambda table: table.written_ms)
    in_flight = any(found.unread[group] for group in found.left if group.startswith(REVIVE_GROUP))
    return [_left(group, found, tables, in_flight=in_flight) for group in sorted(found.left, key=_order)]


def _order(group: str) -> tuple[bool, str]:
    """Groups of users first."""
    return is_system_group(group), group


def _named(store: Store, damage: DamageSink) -> set[str] | None:
    if not any(holds_table(file, GROUPS_FILE) for file in store.config):
        return None
    document = read_document(store.config, GROUPS_FILE, on_damage="collect", damage=damage)
    return None if document is None else set(document.table("subscriptionGroupTable"))


def _group(name: str) -> str:
    return name.removesuffix(BROADCAST)


def _count_offsets(found: _Groups, offsets: OffsetTable, read: Iterable[GroupQueue]) -> None:
    for group, topic in offsets:
        found.left.add(_group(group))
        found.topics.setdefault(_group(group), set()).add(topic)
    for queue in read:
        at, group = queue.position, _group(queue.group)
        offset = at.consumer_offset or 0
        if at.broker_offset is None:
            found.unknown[group] = at.why_unknown or QUEUE_UNKNOWN
        elif offset > at.broker_offset:
            found.doubtful[group] += 1
        else:
            found.unread[group] += max(0, at.broker_offset - max(offset, at.min_queue_offset or 0))


def _count_own_topics(found: _Groups, offsets: OffsetTable, ends: QueueEnds) -> None:
    """Dead letters, and the retry topic of a group without offsets there."""
    known = set(found.left)
    for (topic, _), (first, end) in ends.items():
        if topic.startswith(DLQ_PREFIX):
            group = topic.removeprefix(DLQ_PREFIX)
            found.dead_letters[group] += end - first
        elif topic.startswith(RETRY_PREFIX):
            group = _of_retry(topic.removeprefix(RETRY_PREFIX), known)
            if (group, topic) not in offsets:
                found.unread[group] += end - first
        else:
            continue
        found.left.add(group)


def _of_retry(name: str, known: set[str]) -> str:
    """The group of a retry topic; POP has one for each topic, named `G_T` or `G+T` (KeyBuilder#buildPopRetryTopic)."""
    if name in known:
        return name
    longer = (group for group in known if name.startswith((f"{group}_", f"{group}+")))
    return max(longer, key=len, default=name)


def _left(group: str, found: _Groups, tables: Sequence[OffsetsAt], *, in_flight: bool) -> GroupLeft:
    former = found.former.get(group, set())
    topics = {topic for topic in found.topics.get(group, ()) if not is_retry(topic)}
    why = found.unknown.get(group) if topics != former or not former else None
    knows = not why and not found.doubtful[group] and (topics or found.unread[group])
    return GroupLeft(
        group,
        None if found.named is None else group in found.named,
        is_system_group(group),
        len(topics),
        len(former),
        found.unread[group] if knows else None,
        why or (IN_FLIGHT if in_flight else None),
        found.dead_letters[group],
        found.doubtful[group],
        _unchanged_since(group, tables),
    )


def _unchanged_since(group: str, tables: Sequence[OffsetsAt]) -> int | None:
    """When the oldest of the tables was written that all have the newest one's offsets of a group."""
    since, last = None, None
    for table in reversed(tables):
        own = {where: queues for where, queues in table.offsets.items() if _group(where[0]) == group}
        if table.times_lost is not None or not own or own != (last or own):
            break
        since, last = table.written_ms, own
    return since


def seen_of(record: OffsetRecord | None, group: str) -> Seen:
    """What the logs of the broker show of a group's consumers where they end: before the broker's last stop."""
    if record is None or not record.covered:
        return NOT_THERE
    end_ms = max(end for _, end in record.covered)
    last_boot = max(record.boots, default=0)
    end_ms = min((at - 1 for at in record.stops if at > last_boot), default=end_ms)
    if record.is_offline(group, end_ms, end_ms):
        presence = record.presence.get(group)
        gone = [at for at, _, is_there in presence.changes if not is_there] if presence else []
        since = [*gone, *(presence.nobody_ms if presence else ()), *record.boots]
        return Seen(False, max((at for at in since if at <= end_ms), default=None), end_ms)
    if group in record.presence and record.presence[group].is_somebody(end_ms):
        return Seen(True, None, end_ms)
    return Seen(None, None, end_ms)


def group_rows(
    left: Iterable[GroupLeft], record: OffsetRecord | None, *, broker: str | None = None
) -> Iterator[dict[str, Any]]:
    """Rows of the table `group_lives`; `record`: what the logs of the broker say, None without any."""
    for one in left:
        seen = seen_of(record, one.group)
        verdict = judge_group(one, seen)
        yield {
            "broker": broker,
            "group": one.group,
            "state": verdict.state.value,
            "named": one.named,
            "topics": one.topics,
            "former_topics": one.former_topics,
            "unread": one.unread,
            "dead_letters": one.dead_letters,
            "doubtful_offsets": one.doubtful_offsets,
            "absent_since": utc(seen.since_ms),
            "seen_until": utc(seen.until_ms),
            "offsets_unchanged_since": utc(one.unchanged_since_ms),
            "loses_nothing": verdict.loses_nothing,
            "advice": verdict.advice,
            "reason": verdict.reason,
        }
