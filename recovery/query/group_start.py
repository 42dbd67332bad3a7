"""Where a group without a stored offset begins on a queue: what the broker answers, and what its client makes of it.

Source: ConsumerManageProcessor#queryConsumerOffset, DefaultMessageStore#checkInDiskByConsumeOffset (before 5.1.0) and
#checkInMemByConsumeOffset, RebalancePushImpl#computePullFromWhereWithException @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from parsers.values.topics import is_retry
from recovery.rules.versions import BrokerVersion

IN_MEMORY_PERCENT = 40
"""accessMessageInMemoryMaxRatio by default."""
PAGE_CACHE = "it begins at 0 while the queue's first message is in the page cache, else by its policy"
MEMORY = "it begins at 0 if the broker's machine has memory_needed bytes or more, else by its policy"


class Policy(StrEnum):
    """CONSUME_FROM_LAST_OFFSET, CONSUME_FROM_FIRST_OFFSET, CONSUME_FROM_TIMESTAMP."""

    LAST = "last"
    FIRST = "first"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class QueueNow:
    """One queue as the broker knows it.

    Attributes:
        minimum, maximum: as this version answers them.
        first_place: where the message of queue offset 0 starts in the log, None without a unit for it.
        log_end: where the log ends: the byte after its last record.
        at_timestamp: what the broker's search by time finds for the client's timestamp; None: not asked.
    """

    topic: str
    minimum: int
    maximum: int
    first_place: int | None
    log_end: int
    at_timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class GroupStart:
    """Between which queue offsets the group begins; `earliest` and `latest` are the same where it is certain.

    Attributes:
        never_delivered: messages of the queue before the latest one: as many are skipped at most.
        memory_needed: bytes of memory of the broker's machine with which it begins at 0, where those decide it.
    """

    earliest: int | None
    latest: int | None
    never_delivered: int | None
    reason: str | None
    memory_needed: int | None = None

    @property
    def certain(self) -> bool:
        return self.earliest is not None and self.earliest == self.latest


def group_start(queue: QueueNow, policy: Policy, version: BrokerVersion, memory_bytes: int | None = None) -> GroupStart:
    """Where a push consumer's first pull of a queue gets its messages from.

    Args:
        memory_bytes: of the broker's machine; before 5.1.0 a queue that begins at 0 is read from there as long as the
            log after its first message is not larger than IN_MEMORY_PERCENT of it.
    Example: minimum 0, maximum 75, 4.9.7, 16 GiB and a log of 1 GiB -> begins at 0 whatever the policy says.
    """
    own, unknown = _by_policy(queue, policy)
    zero = max(0, min(queue.minimum, queue.maximum))
    found, why = _answers_zero(queue, version, memory_bytes)
    if found is True:
        return _start(queue, zero, zero, why)
    needed = _memory_needed(queue) if why == MEMORY else None
    if own is None:
        return GroupStart(zero if found is None else None, None, None, unknown, needed)
    if found is False:
        return _start(queue, own, own, why)
    if zero == own:
        return _start(queue, own, own, None)
    return replace(_start(queue, min(zero, own), max(zero, own), why), memory_needed=needed)


def _start(queue: QueueNow, earliest: int, latest: int, reason: str | None) -> GroupStart:
    return GroupStart(earliest, latest, max(0, latest - queue.minimum), reason)


def _by_policy(queue: QueueNow, policy: Policy) -> tuple[int | None, str | None]:
    """Where the client begins when the broker answers that it has no offset."""
    of_retries = is_retry(queue.topic)
    if policy is Policy.FIRST or (policy is Policy.LAST and of_retries):
        return max(0, min(queue.minimum, queue.maximum)), None  # it asks for 0, and is corrected to the minimum
    if policy is Policy.LAST or of_retries:
        return queue.maximum, None
    return queue.at_timestamp, "the client's timestamp is not known"


def _answers_zero(queue: QueueNow, version: BrokerVersion, memory_bytes: int | None) -> tuple[bool | None, str]:
    """Whether the broker answers 0 for an offset that it does not have; None: the files do not tell."""
    if queue.minimum > 0:
        return False, "the queue no longer begins at 0: the client's policy decides"
    if version.starts_by_page_cache:
        if queue.first_place is None:
            return False, "the queue has no message: the client's policy decides"
        return None, PAGE_CACHE
    if queue.first_place is None:
        return True, "the queue begins at 0, and the broker answers 0"
    if memory_bytes is None:
        return None, MEMORY
    is_near = queue.log_end - queue.first_place <= memory_bytes * IN_MEMORY_PERCENT // 100
    return is_near, "the queue begins at 0, and its first message counts as being in memory" if is_near else (
        "the queue's first message counts as being on disk: the client's policy decides"
    )


def _memory_needed(queue: QueueNow) -> int | None:
    """The least memory of which IN_MEMORY_PERCENT holds the log after the queue's first message."""
    return None if queue.first_place is None else -(-(queue.log_end - queue.first_place) * 100 // IN_MEMORY_PERCENT)
