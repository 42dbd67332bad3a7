"""Queues, committed offsets and configuration of two replicas, each value beside the other: only what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

from parsers.config.groups import read_groups
from parsers.config.offsets import read_delay_offsets, read_offsets
from parsers.config.topics import read_topics
from parsers.damage.errors import DamageSink, unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from recovery.compare.replica import Replica

Subject = Literal["queue", "offset", "delay_offset", "topic_config", "group_config"]


class OffsetKey(NamedTuple):
    """A group's place in one queue."""

    group: str
    topic: str
    queue_id: int


@dataclass(frozen=True, slots=True)
class Tables:
    """What a store says besides its log.

    Attributes:
        queues: first message that exists and next one to come, by topic and queue.
        offsets: committed offsets, those of light queues among them, and when (epoch ms) their file was written.
        delay_offsets: next message of each delay level's queue.
        topics, groups: settings by name.
    """

    queues: Mapping[QueueKey, tuple[int, int]]
    offsets: Mapping[OffsetKey, int]
    offsets_written_ms: int | None
    delay_offsets: Mapping[int, int]
    topics: Mapping[str, Mapping[str, object]]
    groups: Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that two replicas hold otherwise; None where one has none."""

    subject: Subject
    field: str
    left: object
    right: object
    topic: str | None = None
    queue_id: int | None = None
    group: str | None = None


def tables_of(replica: Replica, damage: DamageSink = unheard) -> Tables:
    """The tables of a store; what cannot be read of them goes to `damage`."""
    store = replica.store
    stored = read_offsets(store.config, damage=damage)
    committed = [(file, offset) for file, offset in stored if offset.kind != "pull"]
    return Tables(
        queues=_queues(store, damage),
        offsets={OffsetKey(each.group, each.topic, each.queue_id): each.consumer_offset for _, each in committed},
        offsets_written_ms=max((file.mtime_ns // 1_000_000 for file, _ in committed), default=None),
        delay_offsets=read_delay_offsets(store.config, damage=damage),
        topics={each.topic: _said(each) for _, each in read_topics(store.config, damage=damage)},
        groups={each.group: each.settings for _, each in read_groups(store.config, damage=damage)},
    )


def differences(left: Tables, right: Tables) -> Iterator[Difference]:
    """Every value that differs, queues first."""
    for key in sorted(left.queues.keys() | right.queues.keys()):
        mine, theirs = left.queues.get(key), right.queues.get(key)
        for number, field in enumerate(("min_queue_offset", "max_queue_offset")):
            own, others = (None if ends is None else ends[number] for ends in (mine, theirs))
            missing = own is None or others is None
            if own != others and (not missing or field == "max_queue_offset"):
                yield Difference("queue", field, own, others, topic=key[0], queue_id=key[1])
    for place in sorted(left.offsets.keys() | right.offsets.keys()):
        own, others = left.offsets.get(place), right.offsets.get(place)
        if own != others:
            yield Difference("offset", "consumer_offset", own, others, place.topic, place.queue_id, place.group)
    for level in sorted(left.delay_offsets.keys() | right.delay_offsets.keys()):
        own, others = left.delay_offsets.get(level), right.delay_offsets.get(level)
        if own != others:
            yield Difference("delay_offset", f"delay level {level}", own, others)
    yield from _settings("topic_config", left.topics, right.topics)
    yield from _settings("group_config", left.groups, right.groups)


def _queues(store: Store, damage: DamageSink) -> dict[QueueKey, tuple[int, int]]:
    log_begins = store.commitlog[0].base_offset or 0 if store.commitlog else 0
    with StoreQueues(store, damage=damage) as queues:
        return {key: queue.ends(log_begins) for key, queue in queues.items()}


def _said(topic: object) -> dict[str, object]:
    return asdict(topic)  # type: ignore[call-overload,no-any-return]  # a dataclass of parsers.config


def _settings(
    subject: Subject, left: Mapping[str, Mapping[str, object]], right: Mapping[str, Mapping[str, object]]
) -> Iterator[Difference]:
    for name in sorted(left.keys() | right.keys()):
        own, others = left.get(name), right.get(name)
        if own is None or others is None:
            yield _of(subject, name, "exists", own is not None, others is not None)
            continue
        for field in sorted(own.keys() | others.keys()):
            if own.get(field) != others.get(field):
                yield _of(subject, name, field, own.get(field), others.get(field))


def _of(subject: Subject, name: str, field: str, left: object, right: object) -> Difference:
    if subject == "topic_config":
        return Difference(subject, field, left, right, topic=name)
    return Difference(subject, field, left, right, group=name)
