"""The lives of each topic: what was deleted, what was created again under the same name, and what lives now.

A topic created again counts its messages from 0, and its former messages stay in the log until their files expire. They
are in no queue, and nothing is lost: an operator deleted them. Decided from the log's numbering
(`recovery.lives.numbering`), the queues that are there, topics.json, and what a log of the broker says
(`recovery.knowledge.topic_events`). Where these do not decide it, the topic is undecided and its messages count as
living.
Source: AdminBrokerProcessor#deleteTopic, DefaultMessageStore#cleanUnusedTopic @4.9.7, #deleteTopics @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import Literal

import numpy as np

from parsers.config.document import read_document
from parsers.config.topics import FILE as TOPICS_FILE
from parsers.config.topics import TopicConfig, document_topics
from parsers.java import INT_MAX, LONG_MAX
from parsers.queues import Queue, StoreQueues
from parsers.store import QueueKey, Store, StoreFile
from parsers.topics import is_brokers_own, is_lmq
from recovery.knowledge.inference import StoreKnowledge, infer
from recovery.knowledge.topic_events import (
    DELETION_MS,
    NOTHING_LOGGED,
    Contradiction,
    Deletion,
    Logged,
    TopicEvent,
    TopicLog,
    by_topic,
)
from recovery.lives.numbering import (
    EARLIEST,
    END_AT,
    FIRST,
    FIRST_AT,
    LAST,
    LAST_AT,
    LATEST,
    MESSAGES,
    Numbering,
    read_numbering,
    together,
)
from recovery.rules.dispatch import DispatchRules
from recovery.scan.kernel import Longs

State = Literal["alive", "recreated", "deleted", "vanished"]
NEVER = LONG_MAX
"""The place from which on messages of a queue live, where none does."""
PERM_INHERIT = 1
MOST_STRETCHES = 1 << 10
"""Stretches of one queue that are looked at; numbers that fall more often are damage, not lives."""


class Ground(Enum):
    """What shows the state of a life."""

    SERVED = "its queues are there"
    FOLLOWED = "the numbers of its queues start again at 0 behind it, in a later life of the topic"
    NOT_CONFIGURED = "no queue of it is there, and topics.json, changed after its last message, does not name it"
    NO_CONFIG = "no queue of it is there, and no topics.json that tells whether it was deleted or its queues were lost"
    CONFIG_OLDER = (
        "no queue of it is there; topics.json does not name it, and is not known to have changed after its last message"
    )
    NOTHING_LEFT = "no queue of it is there, topics.json does not name it, and both hold no other topic of a user"
    QUEUES_LOST = "no queue of it is there, and topics.json, last changed before its last message, names it"
    ALL_QUEUES_LOST = "no queue at all is there, and topics.json names it"
    BARE_LOG = "there is neither a queue nor a topics.json: any topic of the log may have been deleted"
    CREATED_OR_LOST = (
        "no queue of it is there, and topics.json, changed after its last message, names it: the queues were lost, or "
        "the topic was created again and got no message yet"
    )
    DELETION_LOGGED = "broker.log says that it was deleted after its last message, and no queue holds that message"
    CREATION_LOGGED = (
        "broker.log says that it was created after its last message, which no queue holds, and tells no deletion: it "
        "was deleted without a line of these logs, or its queues and topics.json were lost"
    )
    NO_MESSAGE_YET = "broker.log says that it was created, and it got no message yet"
    NAMED_THOUGH_DELETED = (
        "broker.log says that it was deleted after its last message, and topics.json names it: it was created again "
        "without a line of these logs, or topics.json is not of that time"
    )
    DELETION_NOT_SAVED = (
        "broker.log says that it was deleted after its last message, which no queue holds, but topics.json, which a "
        "deletion changes, is older than that message: log and topics.json are not of one store, or of one time"
    )
    BROKERS_OWN = "no queue of it is there, and nobody deletes a topic of the broker's own"


UNDECIDED = frozenset(
    {
        Ground.NO_CONFIG,
        Ground.CONFIG_OLDER,
        Ground.NOTHING_LEFT,
        Ground.CREATED_OR_LOST,
        Ground.BARE_LOG,
        Ground.NAMED_THOUGH_DELETED,
        Ground.CREATION_LOGGED,
        Ground.DELETION_NOT_SAVED,
    }
)
DELETED = frozenset({Ground.FOLLOWED, Ground.NOT_CONFIGURED, Ground.DELETION_LOGGED})


@dataclass(frozen=True, slots=True)
class QueueLife:
    """The messages of one queue in one life: first and last queue offset, how many, where the first one starts."""

    queue_id: int
    first_queue_offset: int
    last_queue_offset: int
    messages: int
    first_physical_offset: int


@dataclass(frozen=True, slots=True)
class TopicLife:
    """One life of a topic, as far as the log still has messages of it, or a log of the broker told its creation.

    Attributes:
        life: 1 is the first one that the log knows of.
        state: `alive`, or `recreated` where it follows a deletion; `deleted`; `vanished`: its queues are gone, and the
            store does not show that somebody deleted it.
        first_physical_offset, end_physical_offset: its messages start at or behind the one, and end at the other.
        earliest_ms, latest_ms: store times, epoch ms; None of a life without a message.
        logged: what a log of the broker says of it.
        certain: nothing else explains what is there.
    """

    topic: str
    life: int
    state: State
    first_physical_offset: int
    end_physical_offset: int
    queues: tuple[QueueLife, ...]
    messages: int
    earliest_ms: int | None
    latest_ms: int | None
    certain: bool
    ground: Ground
    logged: Logged = NOTHING_LOGGED

    @property
    def begins_ms(self) -> int | None:
        """When its first message was stored; of a life without one, when the topic was created."""
        return self.logged.created_ms if self.earliest_ms is None else self.earliest_ms

    @property
    def evidence(self) -> str:
        """What shows its state, and what contradicts that."""
        contradiction = self.logged.contradiction
        return self.ground.value if contradiction is None else f"{self.ground.value}; but {contradiction.value}"

    @property
    def lives(self) -> bool:
        return self.state in ("alive", "recreated")

    def begins_before(self, queue_id: int, physical_offset: int) -> bool:
        """Whether it has a message of a queue at or before a place of the log."""
        places = (queue.first_physical_offset for queue in self.queues if queue.queue_id == queue_id)
        return any(place <= physical_offset for place in places)


@dataclass(frozen=True, slots=True)
class RestartedQueue:
    """A queue whose numbers start again at `first_physical_offset` while its topic went on: its files were lost."""

    topic: str
    queue_id: int
    first_physical_offset: int
    former: QueueLife


@dataclass(frozen=True, slots=True)
class TopicLives:
    """The lives of a store's topics.

    Attributes:
        topics: the lives of each topic of the log, in log order.
        living_from: where the living messages of a queue start, for each queue that has others; NEVER: none lives.
        restarted: queues that lost their files and started again, by queue.
    """

    topics: Mapping[str, tuple[TopicLife, ...]] = field(default_factory=dict)
    living_from: Mapping[QueueKey, int] = field(default_factory=dict)
    restarted: Mapping[QueueKey, RestartedQueue] = field(default_factory=dict)

    @property
    def former(self) -> tuple[TopicLife, ...]:
        """Every life that a deletion ended."""
        return tuple(life for lives in self.topics.values() for life in lives if life.state == "deleted")

    @property
    def contradicted(self) -> tuple[TopicLife, ...]:
        """Every life about which a log of the broker and the files contradict each other."""
        return tuple(life for lives in self.topics.values() for life in lives if life.logged.contradiction)

    @property
    def undecided(self) -> tuple[TopicLife, ...]:
        """The last lives of topics of which the store does not tell whether they were deleted."""
        return tuple(lives[-1] for lives in self.topics.values() if lives[-1].ground in UNDECIDED)

    def is_deleted(self, topic: str) -> bool:
        """Whether the topic has messages in the log, and no life now."""
        lives = self.topics.get(topic)
        return lives is not None and lives[-1].state == "deleted"

    def living_start(self, key: QueueKey) -> int:
        """The place from which on messages of a queue live."""
        return self.living_from.get(key, 0)

    def former_before(self, key: QueueKey) -> int:
        """The place before which messages of a queue are of a life that a deletion ended."""
        return 0 if key in self.restarted else self.living_start(key)

    def living_end(self, key: QueueKey, log_end: int) -> int | None:
        """The number behind the last living message of a queue, None where none lives; `log_end`: behind all."""
        if key not in self.living_from:
            return log_end
        last = self.topics[key[0]][-1] if key not in self.restarted else None
        found = last.queues if last is not None and last.state != "deleted" else ()
        return next((queue.last_queue_offset + 1 for queue in found if queue.queue_id == key[1]), None)

    def life_at(self, key: QueueKey, physical_offset: int) -> TopicLife | None:
        """The life that a message of a queue belongs to, None of a queue that the log does not have."""
        topic, queue_id = key
        found = [life for life in self.topics.get(topic, ()) if life.begins_before(queue_id, physical_offset)]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class TopicsKnown:
    """What topics.json says: the topics that it names, those of them that a broker does not make at its start, and when
    it was last changed (epoch ms). `names` None: it tells nothing."""

    names: frozenset[str] | None = None
    users: frozenset[str] = frozenset()
    changed_ms: int | None = None

    @classmethod
    def of(cls, files: Sequence[StoreFile]) -> TopicsKnown:
        """`files`: those of config/. A file without a single topic tells nothing: no broker writes one."""
        document = read_document(files, TOPICS_FILE, on_damage="collect")
        topics = [] if document is None else list(document_topics(document, "collect"))
        if document is None or not topics:
            return cls()
        users = frozenset(topic.topic for topic in topics if not _made_at_start(topic))
        return cls(frozenset(topic.topic for topic in topics), users, document.data_version.timestamp)

    def changed_before(self, time_ms: int) -> bool:
        """Whether it is known to be older than a message."""
        return self.changed_ms is not None and self.changed_ms < time_ms


def _made_at_start(topic: TopicConfig) -> bool:
    """Whether every start makes this topic, so that its entry tells nothing: topics named after cluster and broker."""
    inherits = topic.perm is not None and topic.perm & PERM_INHERIT
    return bool(inherits or topic.topic.endswith("_REPLY_TOPIC") or is_brokers_own(topic.topic))


def lives_of(store: Store, rules: DispatchRules, events: Sequence[TopicEvent] = ()) -> TopicLives:
    """The lives of a store's topics, from one pass over its log; `events`: what a log of its broker says."""
    return lives_from(store, read_numbering(store.commitlog, rules), events)


def lives_from(store: Store, numbering: Numbering, events: Sequence[TopicEvent] = ()) -> TopicLives:
    """The lives of a store's topics, whose log is numbered so; none where its queues cannot be read."""
    with StoreQueues(store, on_damage="collect") as queues:
        if queues.unread is not None:
            return TopicLives()
        return topic_lives(numbering, TopicsKnown.of(store.config), queues, events)


@dataclass(slots=True)
class StoreLives:
    """The lives of a store's topics, from a pass over its log when they are first asked for."""

    store: Store
    known: StoreKnowledge | None = None
    found: TopicLives | None = None

    def __call__(self) -> TopicLives:
        if self.found is None:
            known = self.known or infer(self.store)
            self.found = lives_of(self.store, known.rules, known.topic_events)
        return self.found


def topic_lives(
    numbering: Numbering,
    config: TopicsKnown,
    queues: Mapping[QueueKey, Queue],
    events: Sequence[TopicEvent] = (),
) -> TopicLives:
    """The lives of every topic; `queues`: those that the store has. Light queues (LMQ) have none of their own."""
    stretches_of: dict[str, dict[int, Longs]] = {}
    for (topic, queue_id), stretches in sorted(numbering.items(), key=lambda item: item[0]):
        if not is_lmq(topic):
            stretches_of.setdefault(topic, {})[queue_id] = stretches
    served = frozenset(topic for topic, _ in queues)
    users = config.users | {topic for topic in served if not is_brokers_own(topic)}
    logs, silent = by_topic(events), TopicLog()
    decided = [
        _Topic(
            topic,
            stretches,
            config,
            queues,
            logs.get(topic, silent),
            is_served=topic in served,
            others=bool(users - {topic}),
        ).decide()
        for topic, stretches in stretches_of.items()
    ]
    return TopicLives(
        {lives[0].topic: lives for lives, _, _ in decided},
        {key: start for _, living, _ in decided for key, start in living.items()},
        {(queue.topic, queue.queue_id): queue for _, _, restarted in decided for queue in restarted},
    )


@dataclass(slots=True)
class _Cut:
    """A place where a topic may have been created again: behind `after`, at or before `at` (epoch ms `at_ms`).

    `queues` start again, each at a place of its own.
    """

    after: int
    at: int
    at_ms: int
    queues: dict[int, int] = field(default_factory=dict)
    goes_on: bool = False
    deletion: Deletion | None = None

    def of_queue(self, queue_id: int) -> int:
        """The place from which on messages of a queue are behind the cut."""
        return self.queues.get(queue_id, self.at)


@dataclass(slots=True)
class _Topic:
    """One topic of the log; `others`: queues or topics.json hold another topic of a user."""

    topic: str
    stretches: dict[int, Longs]
    config: TopicsKnown
    queues: Mapping[QueueKey, Queue]
    log: TopicLog
    is_served: bool
    others: bool

    def decide(self) -> tuple[tuple[TopicLife, ...], dict[QueueKey, int], list[RestartedQueue]]:
        self.stretches = {queue_id: self._numbered(queue_id, rows) for queue_id, rows in self.stretches.items()}
        cuts = [self._placed(cut) for cut in self._cuts()]
        lost = [cut for cut in cuts if cut.goes_on or self._was_not_deleted(cut)]
        cuts = [cut for cut in cuts if cut not in lost]
        cuts = sorted((*cuts, *self._logged_cuts(cuts)), key=lambda cut: cut.at)
        restarted = list(self._restarted(lost))
        lives = tuple(self._lives(cuts))
        living = {(queue.topic, queue.queue_id): queue.first_physical_offset for queue in restarted}
        none_lives = lives[-1].state == "deleted" or not lives[-1].messages
        if cuts or none_lives:
            for queue_id, rows in self.stretches.items():
                start = NEVER if none_lives else cuts[-1].of_queue(queue_id)
                if rows[0, FIRST_AT] < start:
                    key = self.topic, queue_id
                    living[key] = max(start, living.get(key, 0))
        return lives, living, restarted

    def _numbered(self, queue_id: int, rows: Longs) -> Longs:
        """The stretches of a queue that start where it started again; a damaged number starts none."""
        kept = [rows[0]]
        for row in rows[1:MOST_STRETCHES]:
            if self._starts_again(queue_id, kept[-1], row):
                kept.append(row)
            else:
                kept[-1] = together(kept[-1], row)
        return np.array(kept)

    def _starts_again(self, queue_id: int, before: Longs, row: Longs) -> bool:
        """Whether the queue itself started again: its unit of that number says so; without it, its numbers do.

        Where the unit before it is of a message before it, the queue only went on behind a damaged number.
        """
        if row[FIRST_AT] <= before[LAST_AT]:
            return False  # bytes that were read twice: two files of the log claim one place
        place, preceding = (self._place(queue_id, int(row[FIRST]) - step) for step in (0, 1))
        if preceding is not None and preceding <= before[LAST_AT]:
            return False
        if place in (row[FIRST_AT], before[FIRST_AT]):
            return bool(place == row[FIRST_AT])
        missing = row[LAST] - row[FIRST] + 1 - row[MESSAGES]
        return bool(row[FIRST] == 0 and (missing == 0 or missing != before[LAST] + 1))

    def _place(self, queue_id: int, queue_offset: int) -> int | None:
        """Where the message of that number starts, as the queue says; None where it has no unit for it."""
        queue = self.queues.get((self.topic, queue_id))
        pointer = None if queue is None else queue.pointer(queue_offset)
        return None if pointer is None or pointer.msg_size == INT_MAX else pointer.physical_offset  # no pre-blank

    def _cuts(self) -> list[_Cut]:
        """The fewest places that explain every new start of a queue."""
        starts = sorted(
            (int(row[FIRST_AT]), int(row[EARLIEST]), int(before[LAST_AT]), int(before[LATEST]), queue_id)
            for queue_id, rows in self.stretches.items()
            for before, row in pairwise(rows)
        )
        cuts: list[_Cut] = []
        for at, at_ms, after, after_ms, queue_id in starts:
            cut = cuts[-1] if cuts else None
            if cut is None or (after >= cut.at and (after_ms > cut.at_ms + DELETION_MS or queue_id in cut.queues)):
                cut = _Cut(after, at, at_ms)
                cuts.append(cut)
            cut.after = max(cut.after, min(after, cut.at - 1))
            cut.queues[queue_id] = at
        return cuts

    def _placed(self, cut: _Cut) -> _Cut:
        """The cut before the first message that belongs behind it: queues that only start there start the new life."""
        rows = np.concatenate(list(self.stretches.values()))
        ends = rows[(rows[:, FIRST_AT] <= cut.after) & (rows[:, LAST_AT] < cut.at), LAST_AT]
        cut.after = max(cut.after, int(ends.max(initial=cut.after)))
        begins = rows[(rows[:, FIRST_AT] > cut.after) & (rows[:, FIRST] == 0), FIRST_AT]
        cut.at = min(cut.at, int(begins.min(initial=cut.at)))
        crosses = (rows[:, FIRST_AT] < cut.at) & (rows[:, LAST_AT] >= cut.at)
        cut.goes_on = bool((crosses & (rows[:, LATEST] > cut.at_ms + DELETION_MS)).any())
        cut.deletion = self.log.deletion_between(self._latest_before(cut), cut.at_ms)
        return cut

    def _latest_before(self, cut: _Cut) -> int:
        """The latest store time of a message before a cut."""
        return max(
            int(rows[rows[:, FIRST_AT] < cut.of_queue(queue_id), LATEST].max(initial=0))
            for queue_id, rows in self.stretches.items()
        )

    def _was_not_deleted(self, cut: _Cut) -> bool:
        """A deletion changes topics.json: one that is older than a message before the cut saw none.

        Not even where a log says so: it may be of another broker, and messages that live are not given up for it.
        """
        rows = np.concatenate(list(self.stretches.values()))
        return self.config.changed_before(int(rows[rows[:, FIRST_AT] < cut.at, LATEST].max()))

    def _logged_cuts(self, cuts: Sequence[_Cut]) -> Iterator[_Cut]:
        """The places of deletions that only a log of the broker tells: no queue of both lives has messages."""
        known = {cut.deletion for cut in cuts}
        rows = np.concatenate(list(self.stretches.values()))
        for deletion in self.log.deletions:
            before = rows[:, LATEST] <= deletion.over_ms
            behind = ~before & (rows[:, EARLIEST] >= deletion.event.from_ms) & (rows[:, FIRST] == 0)
            if deletion in known or not before.any() or before.all() or not (before | behind).all():
                continue
            if self.config.changed_before(int(rows[before, LATEST].max())):
                continue
            after, at = int(rows[before, LAST_AT].max()), int(rows[behind, FIRST_AT].min())
            if after < at and not any(after < cut.at <= at for cut in cuts):
                yield _Cut(after, at, int(rows[behind, EARLIEST].min()), deletion=deletion)

    def _restarted(self, lost: Iterable[_Cut]) -> Iterable[RestartedQueue]:
        """The queues that lost their files, each where it last started again."""
        last = {queue_id: at for cut in lost for queue_id, at in cut.queues.items()}
        for queue_id, at in last.items():
            rows = self.stretches[queue_id]
            yield RestartedQueue(self.topic, queue_id, at, _queue_life(queue_id, rows[rows[:, FIRST_AT] < at]))

    def _lives(self, cuts: Sequence[_Cut]) -> Iterable[TopicLife]:
        of_queue = {q: np.array([cut.of_queue(q) for cut in cuts], np.int64) for q in self.stretches}
        number = {q: np.searchsorted(of_queue[q], rows[:, FIRST_AT], "right") for q, rows in self.stretches.items()}
        for life in range(len(cuts) + 1):
            within = {q: rows[number[q] == life] for q, rows in self.stretches.items()}
            around = (cuts[life - 1].deletion if life else None, cuts[life].deletion if life < len(cuts) else None)
            queues = {q: rows for q, rows in within.items() if len(rows)}
            found = self._life(life + 1, queues, around, is_last=life == len(cuts))
            yield found
        yield from self._without_message(found)

    def _life(
        self, life: int, queues: dict[int, Longs], around: tuple[Deletion | None, Deletion | None], *, is_last: bool
    ) -> TopicLife:
        """One life; `around`: the logged deletions that end the life before it, and this one where another follows."""
        rows = np.concatenate(list(queues.values()))
        earliest_ms, latest_ms = int(rows[:, EARLIEST].min()), int(rows[:, LATEST].max())
        deletion = self._ended_by(latest_ms, around[0]) if is_last else around[1]
        ground = self._ground(latest_ms, queues, deletion) if is_last else Ground.FOLLOWED
        created = self.log.created_before(earliest_ms)
        contradiction = self._contradiction(rows, ground, deletion)
        is_told = any(around) or ground is Ground.DELETION_LOGGED
        return TopicLife(
            topic=self.topic,
            life=life,
            state=_state(ground, is_first=life == 1),
            first_physical_offset=int(rows[:, FIRST_AT].min()),
            end_physical_offset=int(rows[:, END_AT].max()),
            queues=tuple(_queue_life(queue_id, of_queue) for queue_id, of_queue in queues.items()),
            messages=int(rows[:, MESSAGES].sum()),
            earliest_ms=earliest_ms,
            latest_ms=latest_ms,
            certain=ground not in UNDECIDED and (self.config.names is not None or is_told) and contradiction is None,
            ground=ground,
            logged=Logged(
                None if created is None else created.from_ms,
                None if deletion is None else deletion.event.from_ms,
                contradiction,
            ),
        )

    def _without_message(self, last: TopicLife) -> Iterator[TopicLife]:
        """The life that was created behind the last one with messages, as the log says."""
        created = None if last.latest_ms is None else self.log.created_behind(last.latest_ms)
        is_named = self.config.names is None or self.topic in self.config.names
        if last.state == "deleted" and created is not None and is_named:
            end, life = last.end_physical_offset, last.life + 1
            logged, ground = Logged(created.from_ms), Ground.NO_MESSAGE_YET
            yield TopicLife(self.topic, life, "recreated", end, end, (), 0, None, None, True, ground, logged)

    def _ended_by(self, latest_ms: int, before: Deletion | None) -> Deletion | None:
        """The logged deletion behind the last message of the last life; `before`: the one that it follows."""
        behind = (d for d in self.log.deletions if d != before and d.over_ms >= latest_ms)
        return next(behind, None)

    def _contradiction(self, rows: Longs, ground: Ground, deletion: Deletion | None) -> Contradiction | None:
        """How the log contradicts the files about a life with these stretches, which `deletion` ended by the log."""
        begin, end = rows[:, EARLIEST].min(), rows[:, LATEST].max()
        within = [d for d in self.log.deletions if d != deletion and begin < d.event.from_ms and d.over_ms < end]
        if within:
            is_older = self.config.changed_before(within[0].event.from_ms)
            return Contradiction.CONFIG_OLDER if is_older else Contradiction.WENT_ON
        if deletion is None:
            return None
        if ground is Ground.SERVED:
            return Contradiction.SERVED
        names, created = self.config.names, self.log.created_behind(int(end))
        is_named = names is None or self.topic in names
        return None if is_named or created is None or ground is Ground.FOLLOWED else Contradiction.NOT_NAMED

    def _holds_last(self, queues: Mapping[int, Longs]) -> bool:
        """Whether any queue of the store has a unit for the last message of its life."""
        return any(self._place(queue_id, int(rows[-1, LAST])) == rows[-1, LAST_AT] for queue_id, rows in queues.items())

    def _ground(self, latest_ms: int, queues: Mapping[int, Longs], deletion: Deletion | None) -> Ground:
        """What shows the state of the last life, which `deletion` ended by a log of the broker."""
        told = None if is_brokers_own(self.topic) else self._logged_ground(latest_ms, queues, deletion)
        return told or self._ground_of_files(latest_ms)

    def _logged_ground(self, latest_ms: int, queues: Mapping[int, Longs], deletion: Deletion | None) -> Ground | None:
        """What a log of the broker shows, None where it does not tell or the queues contradict it."""
        created = self.log.created_behind(latest_ms)
        if (deletion is None and created is None) or self._holds_last(queues):
            return None
        if deletion is None:
            return Ground.CREATION_LOGGED if self.queues and not self.is_served else None
        if self.topic in (self.config.names or ()) and created is None:
            return Ground.NAMED_THOUGH_DELETED
        return Ground.DELETION_NOT_SAVED if self.config.changed_before(latest_ms) else Ground.DELETION_LOGGED

    def _ground_of_files(self, latest_ms: int) -> Ground:
        """What the queues and topics.json show."""
        if self.is_served:
            return Ground.SERVED
        if is_brokers_own(self.topic):
            return Ground.BROKERS_OWN
        if self.config.names is None:
            return Ground.NO_CONFIG if self.queues else Ground.BARE_LOG
        older = self.config.changed_before(latest_ms)
        if self.topic in self.config.names:
            found = Ground.QUEUES_LOST if older else Ground.CREATED_OR_LOST
            return found if self.queues else Ground.ALL_QUEUES_LOST
        if older or self.config.changed_ms is None:
            return Ground.CONFIG_OLDER
        return Ground.NOT_CONFIGURED if self.others else Ground.NOTHING_LEFT


def _state(ground: Ground, *, is_first: bool) -> State:
    if ground in DELETED:
        return "deleted"
    if ground is Ground.SERVED:
        return "alive" if is_first else "recreated"
    return "vanished"


def _queue_life(queue_id: int, rows: Longs) -> QueueLife:
    first, last = int(rows[:, FIRST].min()), int(rows[:, LAST].max())
    return QueueLife(queue_id, first, last, int(rows[:, MESSAGES].sum()), int(rows[0, FIRST_AT]))
