"""Configuration against the queues: topics, consumer offsets, delivery of delayed messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from parsers.commitlog.tags import SCHEDULE_TOPIC
from parsers.config.offsets import ConsumerOffset, read_delay_offsets, read_offsets
from parsers.config.topics import TopicConfig, read_topics
from parsers.errors import Damage
from parsers.store import StoreFile
from recovery.checks.finding import Finding, Judgement, Place, Span
from recovery.dispatch import LMQ_PREFIX

QueueKey = tuple[str, int]
SYSTEM_PREFIXES = ("rmq_sys_", "RMQ_SYS_", "%RETRY%", "%DLQ%", LMQ_PREFIX)
SYSTEM_TOPICS = (
    SCHEDULE_TOPIC,
    "TBW102",
    "SELF_TEST_TOPIC",
    "BenchmarkTest",
    "OFFSET_MOVED_EVENT",
    "TRANS_CHECK_MAX_TIME_TOPIC",
)


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """What the rules compare with: first offset that still exists and next one to come, by queue."""

    ends: Mapping[QueueKey, tuple[int, int]]
    topics_in_log: frozenset[str]


def check_config(files: Sequence[StoreFile], queues: QueueEnds | None) -> Judgement:
    """Everything that config/ says against the queues' ends; None where the queues are kept in another form."""
    damages: list[Damage] = []
    topics = read_topics(files, on_damage="collect", damage=damages.append)
    offsets = read_offsets(files, on_damage="collect", damage=damages.append)
    delays = read_delay_offsets(files, on_damage="collect", damage=damages.append)
    findings = [_unreadable(damage) for damage in damages]
    if queues is None:
        return Judgement(tuple(findings))
    if topics:
        findings += _topics({topic.topic: topic for _, topic in topics}, queues, topics[0][0])
    findings += _offsets(offsets, queues)
    findings += _delays(delays, files, queues)
    return Judgement(tuple(findings))


def _unreadable(damage: Damage) -> Finding:
    parts = damage.path.parts if damage.path else ("config",)
    name = "/".join(parts[parts.index("config") :]) if parts.count("config") == 1 else f"config/{parts[-1]}"
    return Finding("config_unreadable", Span(), (Place(name, 0, 0),), 1, (damage.reason,))


def _topics(topics: Mapping[str, TopicConfig], queues: QueueEnds, file: StoreFile) -> Iterator[Finding]:
    for topic in sorted({topic for topic, _ in queues.ends} - topics.keys()):
        if topic in SYSTEM_TOPICS or topic.startswith(SYSTEM_PREFIXES):
            continue
        numbers = sorted(queue_id for name, queue_id in queues.ends if name == topic)
        yield Finding(
            "queue_without_topic_config",
            Span(topic),
            (Place(f"config/{file.path.name}", 0, 0), Place(f"consumequeue/{topic}", 0, 0)),
            len(numbers),
            (f"consumequeue: queues {', '.join(map(str, numbers))}", "topics.json: no such topic"),
        )
    for topic in sorted(topics.keys() & queues.topics_in_log - {topic for topic, _ in queues.ends}):
        yield Finding(
            "topic_config_without_queue",
            Span(topic),
            (Place(f"consumequeue/{topic}", 0, 0),),
            1,
            ("topics.json and log: know the topic", "consumequeue: no queue of it"),
        )


def _offsets(offsets: Sequence[tuple[StoreFile, ConsumerOffset]], queues: QueueEnds) -> Iterator[Finding]:
    for file, offset in offsets:
        least, most = queues.ends.get((offset.topic, offset.queue_id), (0, 0))
        known = (offset.topic, offset.queue_id) in queues.ends or offset.topic in queues.topics_in_log
        if not known and offset.consumer_offset == 0:
            continue
        kind = _beyond("consumer_offset", offset.consumer_offset, least, most)
        if kind is None:
            continue
        yield Finding(
            kind,
            Span(offset.topic, offset.queue_id, offset.consumer_offset, offset.consumer_offset + 1),
            (Place(f"config/{file.path.name}", 0, 0),),
            1,
            (f"{offset.group}: next message {offset.consumer_offset}", f"queue: {least} to {most}"),
        )


def _delays(delays: Mapping[int, int], files: Sequence[StoreFile], queues: QueueEnds) -> Iterator[Finding]:
    for level, next_offset in sorted(delays.items()):
        least, most = queues.ends.get((SCHEDULE_TOPIC, level - 1), (0, 0))
        kind = _beyond("delay_offset", next_offset, least, most)
        if kind is not None:
            yield Finding(
                kind,
                Span(SCHEDULE_TOPIC, level - 1, next_offset, next_offset + 1),
                (Place("config/delayOffset.json", 0, 0),),
                1,
                (f"level {level}: next message {next_offset}", f"queue: {least} to {most}"),
            )


def _beyond(what: str, value: int, least: int, most: int) -> str | None:
    if value > most:
        return f"{what}_above_max"
    return f"{what}_below_min" if 0 <= value < least else None
