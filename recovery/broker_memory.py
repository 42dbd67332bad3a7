"""What a broker holds in memory while it loads and starts, and what its dispatchers do to it.

`commitlog_recovery.py` and `redispatch.py` play the methods of CommitLog and DefaultMessageStore on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from parsers.commitlog.tags import SCHEDULE_TOPIC
from parsers.java import to_long
from recovery.dispatch import DispatchRequest, DispatchRules, queue_units
from recovery.evidence import Evidence, QueueKey
from recovery.file_list import FileList
from recovery.index_recovery import IndexFiles
from recovery.message_check import MessageCheck
from recovery.queue_recovery import Queue
from recovery.queue_writer import Put
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion

Phase = Literal["load", "start"]
CLOCK_TOLERANCE_MS = 3_000


@dataclass(slots=True)
class StoredTimes:
    """The checkpoint as this version reads it; fields that it does not have are 0, as are those of no checkpoint."""

    physic_msg_timestamp: int = 0
    logics_msg_timestamp: int = 0
    index_msg_timestamp: int = 0
    master_flushed_offset: int = 0
    confirm_physical_offset: int = 0
    logics_physical_offset: int = 0

    @property
    def min_timestamp(self) -> int:
        """`StoreCheckpoint#getMinTimestamp`."""
        return max(0, to_long(min(self.physic_msg_timestamp, self.logics_msg_timestamp) - CLOCK_TOLERANCE_MS))

    @property
    def min_timestamp_index(self) -> int:
        return min(self.min_timestamp, self.index_msg_timestamp)


@dataclass(frozen=True, slots=True)
class Dispatched:
    """One message that was handed to the dispatchers, and what became of its unit in its own queue."""

    request: DispatchRequest
    position: int
    phase: Phase
    outcome: Put | None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something happens: the rule, where it stands in the broker's source, and the bytes that made it apply."""

    rule: str
    source: str
    evidence: str


@dataclass(slots=True)
class BrokerMemory:
    """The store classes' state.

    Attributes:
        confirm_offset: CommitLog's field; -1 before anything sets it.
        flushed_where: how far the log counts as flushed.
        next_offsets: `topicQueueTable`, next queue offset by "topic-queue".
        log_ends_because: what is wrong with the record that ends the log.
        last_queued_offset: physical offset of the last message given to a queue, which the next thorough flush keeps.
    """

    evidence: Evidence
    version: BrokerVersion
    settings: StoreSettings
    check: MessageCheck
    rules: DispatchRules
    commitlog: FileList
    index: IndexFiles
    queues: dict[QueueKey, Queue] = field(default_factory=dict)
    checkpoint: StoredTimes = field(default_factory=StoredTimes)
    confirm_offset: int = -1
    flushed_where: int = 0
    next_offsets: dict[str, int] = field(default_factory=dict)
    dispatched: list[Dispatched] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    phase: Phase = "load"
    log_ends_because: str | None = None
    last_queued_offset: int = 0

    def because(self, rule: str, source: str, evidence: str) -> None:
        self.reasons.append(Reason(rule, source, evidence))

    def confirmed_offset(self) -> int:
        """`CommitLog#getConfirmOffset`: how far readers and dispatch may go."""
        if self.version < (5, 0, 0) or self.settings.duplication_enable or self.settings.enable_controller_mode:
            return self.confirm_offset
        if self.settings.flushes_synchronously and self.version.dispatches_flushed_only:
            return self.flushed_where
        return self.commitlog.max_offset

    def max_queued_offset(self) -> int:
        """The maximum of the queues' maximum physical offsets, -1 without queues."""
        return max((queue.max_physical_offset for queue in self.queues.values()), default=-1)

    def queue(self, topic: str, queue_id: int) -> Queue:
        """`findOrCreateConsumeQueue`."""
        key = (topic, queue_id)
        if key not in self.queues:
            self.queues[key] = Queue(topic, queue_id, FileList(self.settings.consume_queue_file_size), self.version)
        return self.queues[key]

    def dispatch(self, request: DispatchRequest, position: int) -> None:
        """Hand one message to the dispatchers: queues, then index."""
        outcomes = [self.queue(unit.topic, unit.queue_id).put(unit) for unit in queue_units(request, self.rules)]
        if outcomes:
            self.last_queued_offset = request.physical_offset
        self.index.put(request)
        self.dispatched.append(Dispatched(request, position, self.phase, outcomes[0] if outcomes else None))

    def recover_offset_table(self) -> None:
        """`recoverTopicQueueTable`: next offsets from the queues' ends, then every queue's minimum."""
        self.next_offsets = {}
        for (topic, queue_id), queue in self.queues.items():
            self.next_offsets[f"{topic}-{queue_id}"] = queue.max_queue_offset
            queue.correct_min(self.commitlog.min_offset)

    def create_delay_queues(self) -> None:
        """4.x: the delay service asks for the queue of every delay level, which creates it in memory."""
        for level in range(len(self.rules.delay_levels.millis)):
            self.queue(SCHEDULE_TOPIC, level)
