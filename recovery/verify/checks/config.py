"""Configuration against the queues: topics, consumer offsets, delivery of delayed messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from parsers.config.offsets import ConsumerOffset, offset_table, read_delay_offsets, read_offsets
from parsers.config.topics import TopicConfig, read_topics
from parsers.damage.errors import Damage, TooLarge
from parsers.store.store_file import StoreFile
from parsers.tiered.metadata import read_tiered_metadata
from parsers.values.topics import DLQ_PREFIX, LMQ_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC, is_brokers_own
from recovery.lives.life import TopicLives
from recovery.lives.offset_lives import DoubtfulOffset, OffsetLife, doubtful_offsets
from recovery.query.hidden_queues import HiddenQueue, hidden_queues
from recovery.verify.checks.tiered import check_tiered
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span

QueueKey = tuple[str, int]
SYSTEM_PREFIXES = (RETRY_PREFIX, DLQ_PREFIX, LMQ_PREFIX)


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """What the rules compare with: first offset that still exists and next one to come, by queue, also of those that
    the log alone has; the queues that have files; topics that live in the log; and the lives of all."""

    ends: Mapping[QueueKey, tuple[int, int]]
    with_files: Collection[QueueKey]
    topics_in_log: frozenset[str]
    lives: TopicLives


def check_config(
    files: Sequence[StoreFile], queues: QueueEnds | None, judged: Collection[str] = frozenset()
) -> Judgement:
    """Everything that config/ says against the queues' ends; None where the queues are kept in another form.

    `judged`: places below the store root that have a finding as files, so that nothing of them is named again.
    """
    damages: list[Damage] = []
    topics = read_topics(files, damage=damages.append)
    offsets = read_offsets(files, damage=damages.append)
    delays = read_delay_offsets(files, damage=damages.append)
    tiered = read_tiered_metadata(files, damage=damages.append)
    unreadable = (_unreadable(damage) for damage in damages if damage.kind != TooLarge.__name__)
    findings = [finding for finding in unreadable if finding.places[0].file not in judged]
    if queues is None:
        return Judgement(tuple(findings))
    if topics:
        named = {topic.topic: topic for _, topic in topics}
        findings += _topics(named, queues, topics[0][0])
        findings += _hidden(named, offsets, queues, topics[0][0])
    doubtful = list(doubtful_offsets(queues.lives, offset_table(offset for _, offset in offsets), queues.ends))
    findings += _offsets(offsets, queues, doubtful)
    findings += _delays(delays, files, queues)
    findings += [] if tiered is None else check_tiered(tiered, queues.ends)
    return Judgement(tuple(findings), tuple(_of_deleted(doubtful)))


def _unreadable(damage: Damage) -> Finding:
    parts = damage.path.parts if damage.path else ("config",)
    name = "/".join(parts[parts.index("config") :]) if parts.count("config") == 1 else f"config/{parts[-1]}"
    return Finding("config_unreadable", Span(), (Place(name, 0, 0),), 1, (damage.reason,))


def _topics(topics: Mapping[str, TopicConfig], queues: QueueEnds, file: StoreFile) -> Iterator[Finding]:
    for topic in sorted({topic for topic, _ in queues.with_files} - topics.keys()):
        if is_brokers_own(topic) or topic.startswith(SYSTEM_PREFIXES):
            continue
        numbers = sorted(queue_id for name, queue_id in queues.with_files if name == topic)
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


def _hidden(
    topics: Mapping[str, TopicConfig],
    offsets: Iterable[tuple[StoreFile, ConsumerOffset]],
    queues: QueueEnds,
    file: StoreFile,
) -> Iterator[Finding]:
    """One finding for each topic with unread messages in queues that its readQueueNums hides."""
    read = {name: topic.read_queue_nums for name, topic in topics.items() if topic.read_queue_nums is not None}
    table = offset_table(offset for _, offset in offsets if offset.kind != "pull")
    found: dict[str, list[HiddenQueue]] = {}
    for hidden in hidden_queues(table, read, queues.ends):
        found.setdefault(hidden.topic, []).append(hidden)
    for topic, of_topic in found.items():
        numbers = sorted({hidden.queue_id for hidden in of_topic})
        folders = [Place(f"consumequeue/{topic}/{number}", 0, 0) for number in numbers]
        written = topics[topic].write_queue_nums or 0
        needed = max(numbers[-1] + 1, written)
        is_written = f", writeQueueNums {written}: producers go on to write there" if written > read[topic] else ""
        yield Finding(
            "queue_beyond_read_queues",
            Span(topic),
            (Place(f"config/{file.path.name}", 0, 0), *folders),
            sum(hidden.unread for hidden in of_topic),
            (
                f"topics.json: readQueueNums {read[topic]}{is_written}; {needed} would show these queues",
                *_unread_by_group(of_topic),
            ),
        )


def _unread_by_group(hidden: Iterable[HiddenQueue]) -> Iterator[str]:
    for group, queues in groupby(hidden, key=lambda found: found.group):
        of_group = list(queues)
        numbers = ", ".join(str(found.queue_id) for found in of_group)
        yield f"{group}: {sum(found.unread for found in of_group)} messages unread in queues {numbers}"


def _of_deleted(doubtful: Iterable[DoubtfulOffset]) -> Iterator[Explained]:
    """The offsets that a deletion left behind, one state for each group and topic."""
    left: dict[tuple[str, str], list[int]] = {}
    for offset in doubtful:
        if offset.life is OffsetLife.DELETED:
            left.setdefault((offset.group, offset.topic), []).append(offset.queue_id)
    for (group, topic), numbers in left.items():
        queues = ", ".join(map(str, numbers))
        yield Explained(
            "offsets of a deleted topic", f"{group}, queues {queues}: {OffsetLife.DELETED.value}", Span(topic)
        )


def _doubtful(file: StoreFile, offset: DoubtfulOffset) -> Finding:
    kind = "consumer_offset_of_former_life" if offset.life is OffsetLife.FORMER else "consumer_offset_of_unknown_life"
    return Finding(
        kind,
        Span(offset.topic, offset.queue_id, offset.offset, offset.offset + 1),
        (Place(f"config/{file.path.name}", 0, 0),),
        1,
        (
            f"{offset.group} on {offset.topic}/{offset.queue_id}: next message {offset.offset}; {offset.life.value}",
            f"queue: {offset.first} to {offset.end}; {offset.skipped} living messages would be skipped",
        ),
    )


def _offsets(
    offsets: Sequence[tuple[StoreFile, ConsumerOffset]], queues: QueueEnds, doubtful: Iterable[DoubtfulOffset]
) -> Iterator[Finding]:
    doubts = {(offset.group, offset.topic, offset.queue_id): offset for offset in doubtful}
    for file, offset in offsets:
        doubt = doubts.get((offset.group, offset.topic, offset.queue_id))
        if doubt is not None:
            if doubt.life is not OffsetLife.DELETED:
                yield _doubtful(file, doubt)
            continue
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
