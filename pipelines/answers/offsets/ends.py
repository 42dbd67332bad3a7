"""Where the queues of a store end, now and at an instant in the past."""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.queues.queue import BatchQueue, FileQueue
from parsers.queues.store_queues import StoreQueues
from recovery.lives.topic_lives import StoreLives
from recovery.query.by_time.queue import search_of
from recovery.query.by_time.time_search import QueueSearch
from recovery.query.queue_minimum import broker_minimum
from recovery.rules.versions import BrokerVersion
from recovery.scan.log_access import LogAccess


@dataclass(slots=True)
class Ends:
    """The ends of a store's queues; without a store nothing is known of any."""

    queues: StoreQueues | None = None
    log: LogAccess | None = None
    lives: StoreLives | None = None
    searches: dict[tuple[str, int], QueueSearch | None] = field(default_factory=dict)
    firsts: dict[str, dict[int, int]] | None = None

    @property
    def has_whole_log(self) -> bool:
        """Whether the log still has its first file."""
        return self.log is not None and self.log.min_physical_offset == 0

    def may_have_one_life(self, topic: str) -> bool:
        """Whether the log shows no deletion of a topic. Reads the whole log when it is first asked."""
        found = () if self.lives is None else self.lives().topics.get(topic, ())
        return all(life.state == "alive" for life in found)

    def is_of_former_life(self, topic: str, queue_id: int | None, offset: int | None, at_ms: int | None) -> bool:
        """Whether an offset beyond a queue's end is of a former life of the topic, by an instant (None: now).

        A life that a later one follows had messages up to there. Reads the whole log when it is first asked.
        """
        if self.lives is None or queue_id is None or offset is None:
            return False
        found = self.lives().topics.get(topic, ())
        begun = [life for life in found if at_ms is None or (life.begins_ms is not None and life.begins_ms <= at_ms)]
        former = (queue for life in begun[:-1] for queue in life.queues if queue.queue_id == queue_id)
        return any(offset <= queue.last_queue_offset + 1 for queue in former)

    def first_of(self, topic: str) -> dict[int, int]:
        """The first message number that each queue of a topic still has; none where they are not known."""
        if self.queues is None or self.log is None or self.queues.unread is not None:
            return {}
        if self.firsts is None:
            self.firsts = {}
            for (name, queue_id), queue in self.queues.items():
                self.firsts.setdefault(name, {})[queue_id] = queue.ends(self.log.min_physical_offset)[0]
        return self.firsts.get(topic, {})

    def now(self, topic: str, queue_id: int) -> int | None:
        """The queue's maximum; None where it is not known, 0 of a queue that the store does not have."""
        if self.queues is None or self.log is None or self.queues.unread is not None:
            return None
        queue = self.queues.get((topic, queue_id))
        return 0 if queue is None else queue.ends(self.log.min_physical_offset)[1]

    def at(self, topic: str, queue_id: int, at_ms: int) -> int | None:
        """The queue's maximum at an instant, by the store times of its messages.

        None where these do not tell: the queue's messages of that time are deleted, or it is a queue of batches.
        """
        key = topic, queue_id
        if key not in self.searches:
            queue = None if self.queues is None else self.queues.get(key)
            is_known = queue is not None and self.log is not None and not isinstance(queue, BatchQueue)
            self.searches[key] = search_of(queue, self.log) if is_known and queue and self.log else None
        search = self.searches[key]
        found = None if search is None else search.bounded(at_ms + 1, "lower")
        return found if search is not None and found is not None and found > search.min_queue_offset else None

    def limits(self, topic: str, queue_id: int, version: BrokerVersion) -> tuple[int, int] | None:
        """Minimum and maximum as the broker answers them; None where they are not known."""
        if self.queues is None or self.log is None or self.queues.unread is not None:
            return None
        queue = self.queues.get((topic, queue_id))
        if queue is None:
            return 0, 0
        summary = queue.summary(self.log.min_physical_offset)
        files = queue.files if isinstance(queue, FileQueue | BatchQueue) else ()
        return broker_minimum(summary, files, self.log.min_physical_offset, version), summary.max_queue_offset
