"""What a broker makes of the next pull of a group that goes on at its stored offset.

Source: DefaultMessageStore#getMessage, #nextOffsetCorrection, PullMessageProcessor#composeResponseHeader
@4.4.0 - 5.3.3; the client goes on where a PULL_OFFSET_MOVED answer says
(DefaultMQPushConsumerImpl#pullMessage, OFFSET_ILLEGAL).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from recovery.rules.versions import BrokerVersion


class PullAnswer(StrEnum):
    """How a pull is answered."""

    FOUND = "messages are there"
    AT_END = "nothing new yet"
    EMPTY = "the queue has no message"
    TOO_SMALL = "the offset is below the queue's minimum"
    BEYOND_END = "the offset is beyond the queue's end"


@dataclass(frozen=True, slots=True)
class NextPull:
    """Where the group goes on: at `queue_offset`; other than its offset where `is_moved`.

    Attributes:
        expired: messages from the offset on that the queue no longer has.
        skipped_at_most, repeated_at_most: messages of the queue that the group never gets, or gets again; how many of
            them it had read, an offset beyond the end does not tell.
    """

    answer: PullAnswer
    queue_offset: int
    is_moved: bool = False
    expired: int = 0
    skipped_at_most: int = 0
    repeated_at_most: int = 0


def next_pull(offset: int, minimum: int, maximum: int, version: BrokerVersion) -> NextPull:
    """The answer to a pull at `offset`, of a master (a slave corrects nothing unless `offsetCheckInSlave`).

    Args:
        minimum, maximum: of the queue, as this version answers them.
    Example: offset 575 of a queue 0 to 75: 5.3.3 goes on at 75, a broker before 4.9.4 at 0.
    """
    if maximum == 0:
        return NextPull(PullAnswer.EMPTY, 0, is_moved=offset != 0)
    if offset < minimum:
        return NextPull(PullAnswer.TOO_SMALL, minimum, is_moved=True, expired=minimum - max(offset, 0))
    if offset == maximum:
        return NextPull(PullAnswer.AT_END, offset)
    if offset < maximum:
        return NextPull(PullAnswer.FOUND, offset)
    if minimum == 0 and version.restarts_overflown_at_zero:
        return NextPull(PullAnswer.BEYOND_END, 0, is_moved=True, repeated_at_most=maximum)
    return NextPull(PullAnswer.BEYOND_END, maximum, is_moved=True, skipped_at_most=maximum - minimum)
