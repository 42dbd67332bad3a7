"""What a store has of each consumer group: what waits for it alone, and what keeps that from being known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsers.config.document import holds_table, read_document
from parsers.config.groups import FILE as GROUPS_FILE
from parsers.config.groups import is_system_group
from parsers.damage.errors import Damage, DamageSink
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.topics import DLQ_PREFIX, is_dead_letter, is_retry, retry_topic_of
from pipelines.answers.fates.pops import PopAnswer
from pipelines.answers.fates.retries import RetryAnswer
from pipelines.answers.lag.lag import positions, queue_ends
from pipelines.answers.lag.proxied import proxied_groups
from pipelines.answers.offsets.saved import OffsetsAt, offsets_of_store
from recovery.fates.retries import Doubt
from recovery.fates.states import PopState, RetryState
from recovery.knowledge.copied_times import newest_message_ms
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.group_life import GroupLeft
from recovery.lives.life import TopicLives
from recovery.lives.offset_lives import doubtful_offsets
from recovery.lives.topic_lives import StoreLives
from recovery.lives.topics_known import TopicsKnown
from recovery.query.lag import LOG_NOT_FOUND, GroupQueue, OffsetTable, QueueEnds, popped_topics
from recovery.query.out_of_order import out_of_order
from recovery.scan.log_access import LogAccess

BROADCAST = "@broadcast"
NO_OFFSETS = "the store has no table of offsets"
EMPTY_OFFSETS = (
    "the store's table of offsets is empty: no group ever stored one, or the file was emptied (`verify --explained`)"
)
QUEUE_UNKNOWN = "the end of a queue is not known"
QUEUE_SHORT = "the log has messages of a queue that the queue's own files do not have"
POPS_UNKNOWN = "whether all popped messages were settled is not known (`pop`)"
NO_LOG = f"retries that wait and popped messages are not known: {LOG_NOT_FOUND}"
LOG_DAMAGED = "damaged or missing bytes of the log may hold retries that wait, and checkpoints of popped messages"
NO_DEAD_LETTER_QUEUE = "its dead-letter topic is named, and no queue of it is there: what it held is not known"


@dataclass(slots=True)
class _Groups:
    """What is counted of each group. `unknown`: why not, by the topic whose queues are not known; `doubts`: why not,
    whatever becomes of its topics; `tables`: its offsets in each saved table."""

    named: set[str] | None = None
    left: set[str] = field(default_factory=set)
    topics: dict[str, set[str]] = field(default_factory=dict)
    former: dict[str, set[str]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    in_flight: Counter[str] = field(default_factory=Counter)
    dead_letters: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, dict[str, str]] = field(default_factory=dict)
    doubts: dict[str, list[str]] = field(default_factory=dict)
    no_dead_letters: dict[str, str] = field(default_factory=dict)
    pops: set[str] = field(default_factory=set)

    def doubt(self, group: str, why: str) -> None:
        doubts = self.doubts.setdefault(group, [])
        if why not in doubts:
            doubts.append(why)


def groups_left(
    store: Store, known: StoreKnowledge, *, kept: Sequence[OffsetsAt] = (), damage: DamageSink
) -> list[GroupLeft]:
    """What a store has of each group that any of its files names, by name.

    Args:
        kept: copies of consumerOffset.json, beside the store's own.
    """
    lost = _Told(damage)
    own = offsets_of_store(store, lost)
    found = _Groups(_named(store, lost))
    found.left |= found.named or set()
    offsets: OffsetTable = {} if own is None else own.offsets
    with StoreQueues(store, damage=lost) as queues:
        log = LogAccess(store.commitlog)
        ends, queues_unread = queue_ends(queues, log, None), queues.unread
        proxied = proxied_groups(queues, log)
        read = [] if own is None else positions(store, queues, own, log, damage=lost)
        saved_ms = max(newest_message_ms(queues, log), 0 if own is None else own.written_ms)
    lives = StoreLives(store, known)()
    logged = _logged_ends(lives)
    _count_offsets(found, offsets, read, logged)
    _count_own_topics(found, offsets, ends, logged, TopicsKnown.of(store.config).names or frozenset())
    for doubt in doubtful_offsets(lives, offsets, ends):
        if lives.is_deleted(doubt.topic):
            found.former.setdefault(_group(doubt.group), set()).add(doubt.topic)
        else:
            found.doubtful[_group(doubt.group)] += 1
    retried = RetryAnswer.of(store, known, None if own is None else offsets)
    _count_retries(found, retried)
    _count_pops(found, PopAnswer.of(store, known, None if own is None else offsets, lost))
    found.left |= proxied.keys()
    found.pops |= {_group(group) for group, _ in popped_topics(offsets)}
    common = [NO_OFFSETS] if own is None else [] if offsets else [EMPTY_OFFSETS]
    common += [NO_LOG] if store.log_not_found is not None else []
    common += [LOG_DAMAGED] if retried.found.held.gaps else []
    common += lost.reasons()
    for group in found.left:
        for why in common:
            found.doubt(group, why)
        if queues_unread is not None:
            found.no_dead_letters.setdefault(group, queues_unread)
    saved = sorted([*kept, *([] if own is None else [own])], key=lambda table: table.written_ms)
    tables = [_Table.of(each) for each in saved]
    behind_proxy = any(version.may_have_proxy for version in (known.version, *known.may_be))
    disorder = out_of_order(store)
    return [
        replace(
            _left(group, found, tables),
            saved_ms=saved_ms,
            may_use_proxy=behind_proxy or group in found.pops,
            proxied=proxied.get(group),
            unordered_topics=disorder.topics_of(group, found.topics.get(group, set()) - found.former.get(group, set())),
        )
        for group in sorted(found.left, key=_order)
    ]


@dataclass(slots=True)
class _Told:
    """Hands damage on, and keeps the first: what was not read may be what a group loses."""

    damage: DamageSink
    first: Damage | None = None

    def __call__(self, found: Damage) -> None:
        self.first = self.first or found
        self.damage(found)

    def reasons(self) -> list[str]:
        if self.first is None:
            return []
        name = "a file" if self.first.path is None else self.first.path.name
        return [f"{name} was not read in full: {self.first.reason}"]


def _order(group: str) -> tuple[bool, str]:
    """Groups of users first."""
    return is_system_group(group), group


def _named(store: Store, damage: DamageSink) -> set[str] | None:
    if not any(holds_table(file, GROUPS_FILE) for file in store.config):
        return None
    document = read_document(store.config, GROUPS_FILE, damage=damage)
    return None if document is None else set(document.table("subscriptionGroupTable"))


def _group(name: str) -> str:
    return name.removesuffix(BROADCAST)


def _logged_ends(lives: TopicLives) -> dict[QueueKey, int]:
    """The number after the last message of each queue that the log has of a topic that was not deleted."""
    last = ((topic, of_topic[-1]) for topic, of_topic in lives.topics.items() if of_topic[-1].state != "deleted")
    return {(topic, queue.queue_id): queue.last_queue_offset + 1 for topic, life in last for queue in life.queues}


def _count_offsets(
    found: _Groups, offsets: OffsetTable, read: Iterable[GroupQueue], logged: Mapping[QueueKey, int]
) -> None:
    for group, topic in offsets:
        found.left.add(_group(group))
        found.topics.setdefault(_group(group), set()).add(topic)
    for queue in read:
        at, group = queue.position, _group(queue.group)
        offset = at.consumer_offset or 0
        unknown = found.unknown.setdefault(group, {})
        if at.broker_offset is None:
            unknown[queue.topic] = at.why_unknown or QUEUE_UNKNOWN
        elif logged.get((queue.topic, queue.queue_id), 0) > at.broker_offset:
            unknown[queue.topic] = QUEUE_SHORT
        elif offset > at.broker_offset:
            found.doubtful[group] += 1
        else:
            found.unread[group] += max(0, at.broker_offset - max(offset, at.min_queue_offset or 0))


def _count_own_topics(
    found: _Groups, offsets: OffsetTable, ends: QueueEnds, logged: Mapping[QueueKey, int], named: frozenset[str]
) -> None:
    """Dead letters, and the retry topic of a group without offsets there; `named`: the topics of topics.json."""
    known = set(found.left)
    ordinary = {topic for topic, _ in (*ends, *logged) if not is_retry(topic)}
    has_queue = {topic for topic, _ in ends}
    for topic in named | {topic for topic, _ in logged}:
        if is_dead_letter(topic) and topic not in has_queue:
            found.no_dead_letters[topic.removeprefix(DLQ_PREFIX)] = NO_DEAD_LETTER_QUEUE
            found.left.add(topic.removeprefix(DLQ_PREFIX))
    for key in ends.keys() | logged.keys():
        topic, (first, end) = key[0], ends.get(key, (0, 0))
        is_short = logged.get(key, 0) > end
        if is_dead_letter(topic):
            group = topic.removeprefix(DLQ_PREFIX)
            found.dead_letters[group] += end - first
            if is_short:
                found.no_dead_letters.setdefault(group, QUEUE_SHORT)
        elif is_retry(topic):
            group = retry_topic_of(topic, topics=ordinary, groups=known).group
            if (group, topic) not in offsets:
                found.unread[group] += end - first
                if is_short:
                    found.unknown.setdefault(group, {})[topic] = QUEUE_SHORT
        else:
            continue
        found.left.add(group)


def _count_retries(found: _Groups, retried: RetryAnswer) -> None:
    """Retries that still wait, and those of which nothing tells whether they do; of popped ones `_count_pops` tells."""
    for (group, state, doubt), chains in retried.standing().items():
        found.left.add(group)
        if state is RetryState.WAITING:
            found.unread[group] += chains
        elif state is RetryState.UNKNOWN and doubt is not Doubt.POPPED:
            found.doubt(group, f"of {chains} retries: {doubt}")
        if doubt is Doubt.POPPED:
            found.pops.add(group)


def _count_pops(found: _Groups, popped: PopAnswer) -> None:
    """Popped messages that the broker will deliver again, and those of which nothing tells."""
    for group, state in _pops_told(popped):
        found.left.add(group)
        found.pops.add(group)
        if state == PopState.IN_FLIGHT:
            found.in_flight[group] += 1
        elif state == PopState.UNKNOWN:
            found.doubt(group, POPS_UNKNOWN)


def _pops_told(popped: PopAnswer) -> Iterator[tuple[str, str]]:
    """Group and state of each popped message."""
    for batch in popped.batches():
        yield from zip(batch["group"].to_pylist(), batch["state"].to_pylist(), strict=True)


@dataclass(frozen=True, slots=True)
class _Table:
    """A saved table of offsets, by group. `is_timed`: it was written at `written_ms`, else not before."""

    written_ms: int
    is_timed: bool
    offsets: Mapping[str, OffsetTable]

    @classmethod
    def of(cls, saved: OffsetsAt) -> _Table:
        found: dict[str, dict[tuple[str, str], Mapping[int, int]]] = {}
        for where, queues in saved.offsets.items():
            found.setdefault(_group(where[0]), {})[where] = queues
        return cls(saved.written_ms, saved.times_lost is None, found)


def _unchanged(group: str, tables: Sequence[_Table]) -> tuple[int | None, int | None]:
    """When the oldest of the tables was written that all have the newest one's offsets of a group; and when the one
    before it was, which has others: they changed after that."""
    since, last, is_timed = None, None, True
    for table in reversed(tables):
        own = table.offsets.get(group)
        if not own or own != (last or own):
            return since, table.written_ms if last else None
        is_timed = is_timed and table.is_timed
        since, last = table.written_ms if is_timed else since, own
    return since, None


def _left(group: str, found: _Groups, tables: Sequence[_Table]) -> GroupLeft:
    former = found.former.get(group, set())
    topics = {topic for topic in found.topics.get(group, ()) if not is_retry(topic)}
    of_queues = (why for topic, why in found.unknown.get(group, {}).items() if topic not in former)
    why = "; ".join(dict.fromkeys([*of_queues, *found.doubts.get(group, ())])) or None
    knows = not why and not found.doubtful[group] and (topics or found.unread[group])
    why_dead = found.no_dead_letters.get(group)
    since_ms, differed_ms = _unchanged(group, tables)
    return GroupLeft(
        group,
        None if found.named is None else group in found.named,
        is_system_group(group),
        len(topics),
        len(former),
        found.unread[group] if knows else None,
        why,
        None if why_dead else found.dead_letters[group],
        found.doubtful[group],
        since_ms,
        why_dead_letters=why_dead,
        at_least=found.unread[group],
        in_flight=found.in_flight[group],
        changed_after_ms=differed_ms,
    )
