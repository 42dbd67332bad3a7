"""Pulls that a broker corrected: its line, the client's, and the message about it are one row.

Source: PullMessageProcessor#composeResponseHeader, DefaultMQPushConsumerImpl#pullMessage @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from pipelines.answers.offsets.ends import Ends
from pipelines.answers.offsets.event import TOGETHER_MS, OffsetEvent, differences, moved
from pipelines.answers.offsets.in_time import InTime
from pipelines.answers.offsets.moved_records import MovedRecord
from pipelines.answers.offsets.record import OffsetRecord, Statement, statements_by
from rebalance.readers.logs.facts.offset_lines import LineKind
from recovery.query.move_kind import MoveKind

AFTER_RESET_MS = 60_000
"""How long after a reset a client's next pull may come."""
BEYOND_END = "beyond the queue's end"
EMPTY = "the queue has no message"
FORMER_LIFE = f"{BEYOND_END}: a number of a former life of the topic"
EMPTY_OR_BEYOND = "the queue had no message, or the offset was beyond its end"
NOT_FOUND = "a pop found no message at the stored offset: below the queue's minimum, or in a gap of its files"
BELOW_MINIMUM = "below the queue's minimum: the messages were deleted"
OF_RESET, NOT_TOLD = "a reset: the client goes on where the broker says", "not told"
UNTOLD = "how much of the queue the group had read, an offset beyond its end does not tell"
Move = tuple[str | None, str | None, int | None, int | None]
"""(group, topic, offset before, offset after)."""


def corrections(record: OffsetRecord, moved: Iterable[MovedRecord]) -> Iterator[OffsetEvent]:
    """One row for each corrected pull."""
    lines = record.of(LineKind.CORRECTED)
    of_clients = statements_by(_move, (each for each in lines if each.line.queue_id is not None))
    records: InTime[Move, MovedRecord] = InTime(moved, _told_move, _instant)
    causes = Causes(record)
    for each in (each for each in lines if each.line.queue_id is None):
        window = each.from_ms - TOGETHER_MS, each.until_ms + TOGETHER_MS
        client = of_clients.take(_move(each), *window)
        told = records.take(_move(each), *window)
        queue_id = client.line.queue_id if client else told.queue_id if told else None
        others = [other.evidence for other in (client, told) if other is not None]
        yield _correction(each, queue_id, causes.of(each), [each.evidence, *others])
    for each in sorted(of_clients.rest(), key=lambda each: each.line.at_ms):
        told = _told_of_queue(records, each)
        evidence = [each.evidence, *([told.evidence] if told else [])]
        yield _correction(each, each.line.queue_id, causes.of(each), evidence)
    yield from map(_of_pop, record.of(LineKind.POP_CORRECTED))
    yield from map(_of_record, sorted(records.rest(), key=lambda told: told.stored_ms))


def _told_of_queue(records: InTime[Move, MovedRecord], each: Statement) -> MovedRecord | None:
    """The message about a pull whose queue a client's line names."""
    window = each.from_ms - TOGETHER_MS, each.until_ms + TOGETHER_MS
    return records.take(_move(each), *window, lambda told: told.queue_id == each.line.queue_id)


def _move(each: Statement) -> Move:
    return each.line.group, each.line.topic, each.line.before, each.line.after


def _told_move(told: MovedRecord) -> Move:
    return told.group, told.topic, told.before, told.after


def _instant(told: MovedRecord) -> tuple[int, int]:
    return told.stored_ms, told.stored_ms


def _correction(
    each: Statement, queue_id: int | None, why: tuple[str, str | None], evidence: Sequence[str]
) -> OffsetEvent:
    line, (cause, by) = each.line, why
    skipped, repeated = differences(line.before, line.after)
    reasons = [] if queue_id is not None else ["the broker's line does not name the queue"]
    if cause == BEYOND_END:
        skipped = repeated = None
        reasons.append(UNTOLD)
    elif cause == EMPTY:
        skipped = repeated = 0
    event = moved(
        (line.group or "", line.topic or "", queue_id),
        MoveKind.CORRECTED,
        (line.before, line.after),
        each.span,
        cause,
        "; ".join(evidence),
        by,
    )
    return event.passing(skipped, repeated).doubted("; ".join(reasons), certain=True)


def _of_record(told: MovedRecord) -> OffsetEvent:
    is_below = told.before < told.after
    event = moved(
        (told.group, told.topic, told.queue_id),
        MoveKind.CORRECTED,
        (told.before, told.after),
        _instant(told),
        BELOW_MINIMUM if is_below else BEYOND_END if told.after else EMPTY_OR_BEYOND,
        told.evidence,
    )
    return event if is_below else event.passing(None, None).doubted(UNTOLD, certain=True)


def _of_pop(each: Statement) -> OffsetEvent:
    """A pop that began elsewhere: backward it was beyond the queue's end, forward no message was there."""
    is_forward = (each.line.before or 0) < (each.line.after or 0)
    return _correction(each, each.line.queue_id, (NOT_FOUND if is_forward else BEYOND_END, None), [each.evidence])


def with_former_lives(
    corrected: Iterable[OffsetEvent], ends: Ends, doubt_of_deleted: Callable[[OffsetEvent], str | None]
) -> Iterator[OffsetEvent]:
    """Corrected pulls, those whose offset was a number of a former life of the topic as such: the group had read
    nothing of the living queue.

    Args:
        doubt_of_deleted: of a correction, why its offset may not be of a life whose deletion a line tells: empty where
            it is, None where no line does or it is not.
    """
    for event in corrected:
        if event.cause in (BEYOND_END, EMPTY_OR_BEYOND):
            of_life = replace(event, cause=FORMER_LIFE, skipped=event.after, repeated=0, reason=None)
            if ends.is_of_former_life(event.topic, event.queue_id, event.before, event.latest_ms):
                event = of_life
            elif (doubt := doubt_of_deleted(event)) is not None:
                event = replace(of_life, certain=not doubt, reason=doubt or None)
        yield event


class Causes:
    """Why a broker corrected a pull, and whose it was, by the line that it writes before the correction."""

    def __init__(self, record: OffsetRecord) -> None:
        self._record = record
        why = (each for each in record.statements if each.line.kind in _WHY)
        self._why = statements_by(lambda each: each.line.before, why)
        self._resets = statements_by(_landing, record.of(LineKind.RESET_DONE))

    def of(self, each: Statement) -> tuple[str, str | None]:
        """The cause in words, and the client; "not told" and None where no line tells."""
        line = each.line
        for other in self._why.touching(line.before, line.at_ms - TOGETHER_MS, line.at_ms + TOGETHER_MS):
            if abs(other.line.at_ms - line.at_ms) > TOGETHER_MS:
                continue
            same_group = (other.line.group, other.line.topic) == (line.group, line.topic)
            same_end = other.line.kind is LineKind.BEYOND_END and other.line.after in (None, line.after)
            if same_end or (same_group and other.line.kind is not LineKind.BEYOND_END):
                return _WHY[other.line.kind], self._record.client(other.line.by)
        # a broker that keeps the reset for the pulls (since 5.1.0) says so after the first of them may have come
        from_ms, until_ms = each.until_ms - AFTER_RESET_MS, each.until_ms + TOGETHER_MS
        resets = self._resets.touching(_landing(each), from_ms, until_ms)
        if any(from_ms <= other.from_ms <= until_ms for other in resets):
            return OF_RESET, None
        return NOT_TOLD, None


_WHY = {LineKind.TOO_SMALL: BELOW_MINIMUM, LineKind.BEYOND_END: BEYOND_END, LineKind.EMPTY_QUEUE: EMPTY}


def _landing(each: Statement) -> tuple[str | None, str | None, int | None]:
    return each.line.group, each.line.topic, each.line.after
