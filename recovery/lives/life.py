"""What a life of a topic is: which of its messages a deletion ended, which live now, and what shows that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from parsers.store.store_file import QueueKey
from parsers.values.java import LONG_MAX
from recovery.knowledge.topic_events import NOTHING_LOGGED, Logged

State = Literal["alive", "recreated", "deleted", "vanished"]
NEVER = LONG_MAX
"""The place from which on messages of a queue live, where none does."""


class Ground(Enum):
    """What shows the state of a life."""

    SERVED = "its queues are there"
    SERVED_FROM_BEFORE = (
        "some of its queues count from 0 again, and another one still holds messages from before: it was deleted, and "
        "a later start gave that queue its former messages back, or the queues that count from 0 again lost their files"
    )
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

    @property
    def is_proof(self) -> bool:
        """Whether nothing else explains what is there."""
        return self not in UNDECIDED and self is not Ground.SERVED_FROM_BEFORE


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
ALIVE = frozenset({Ground.SERVED, Ground.SERVED_FROM_BEFORE})
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
    """One life of a topic, as far as the log still has messages of it, or a log of the broker shows its creation.

    Attributes:
        life: 1 is the first one that the log knows of.
        state: `alive`, or `recreated` where it follows a deletion; `deleted`; `vanished`: its queues are gone, and the
            store does not show that somebody deleted it.
        first_physical_offset, end_physical_offset: its messages start at or after the one, and end at the other.
        earliest_ms, latest_ms: store times, epoch ms; None of a life without a message.
        logged: what a log of the broker says of it.
        certain: nothing else explains what is there.
        size_bytes: what its messages take of the log; None where that was not counted.
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
    size_bytes: int | None = None

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
    """A queue whose numbers start again at `first_physical_offset`, and not all queues of its topic do.

    `lost_files`: it is shown that the topic was not deleted in between, so that the queue lost its files. Otherwise
    the one or the other happened: a start may have given another queue its messages of before back.
    """

    topic: str
    queue_id: int
    first_physical_offset: int
    former: QueueLife
    lost_files: bool = True


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

    def living_firsts(self) -> dict[QueueKey, int]:
        """The number of the first living message of each queue of which the log has one."""
        living = ((topic, lives[-1]) for topic, lives in self.topics.items() if lives and lives[-1].state != "deleted")
        firsts = {(topic, queue.queue_id): queue.first_queue_offset for topic, life in living for queue in life.queues}
        return {key: first for key, first in firsts.items() if key not in self.restarted}

    def living_end(self, key: QueueKey, log_end: int) -> int | None:
        """The number after the last living message of a queue, None where none lives; `log_end`: after all."""
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
