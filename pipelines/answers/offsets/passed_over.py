"""What movements took groups' offsets over: messages that the broker takes for consumed, and that nobody read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipelines.answers.offsets.corrections import BELOW_MINIMUM
from pipelines.answers.offsets.event import OffsetEvent
from recovery.lives.life import TopicLives
from recovery.query.ledger import LedgerRange, State
from recovery.query.move_kind import MoveKind
from recovery.verify.store_ledger import PassedOver

MOVES = (MoveKind.RESET, MoveKind.CORRECTED, MoveKind.MOVED_FORWARD, MoveKind.MOVED_BACK, MoveKind.FIRST_OFFSET)
UNNAMED = "a pull of the group was sent on from {} to {} on a queue of the topic that the broker's line does not name"


def passed_over(events: Iterable[OffsetEvent], lives: TopicLives, until_ms: int | None = None) -> PassedOver:
    """Ranges of the living queues by group, topic and queue, in order of queue offsets.

    A later movement back to before a range makes its messages come again: they are read then, or wait.

    Args:
        events: in order of time.
        until_ms: when the offsets that are looked at were written; later movements do not count.
    """
    found: dict[tuple[str, str, int], list[LedgerRange]] = {}
    for event in events:
        if event.kind not in MOVES or event.after is None or not _is_of_now(event, lives, until_ms):
            continue
        over = _range(event, event.after)
        for queue_id in _queues_of(event, lives):
            key = event.group, event.topic, queue_id
            before = list(_below(found.get(key, ()), over.first))
            found[key] = [*before, over] if over.messages else before
    return found


def _range(event: OffsetEvent, after: int) -> LedgerRange:
    """What the event took the offset over; empty where it went back, or where nothing tells."""
    cause = f"{event.kind.value}: {event.cause}"
    if not event.is_told:
        return LedgerRange(event.before or 0, after, State.CONSUMED, certain=False, reason=event.cause)
    if event.kind is MoveKind.FIRST_OFFSET:
        state = State.SKIPPED if event.certain else State.CONSUMED
        return LedgerRange(0, after, state, event.certain, cause)
    first = after - (event.skipped or 0)
    if event.queue_id is None:
        return LedgerRange(first, after, State.CONSUMED, certain=False, reason=UNNAMED.format(event.before, after))
    state = State.EXPIRED_UNREAD if event.cause == BELOW_MINIMUM else State.SKIPPED
    return LedgerRange(first, after, state, event.certain, cause)


def _queues_of(event: OffsetEvent, lives: TopicLives) -> list[int]:
    """The queue of an event; where no line names it, all of the topic that have messages."""
    if event.queue_id is not None:
        return [event.queue_id]
    of_topic = lives.topics.get(event.topic, ())
    return [queue.queue_id for queue in of_topic[-1].queues] if of_topic and event.skipped else []


def _below(ranges: Iterable[LedgerRange], end: int) -> Iterator[LedgerRange]:
    return (replace(each, end=min(each.end, end)) for each in ranges if each.first < end)


def passing_events(
    events: Iterable[OffsetEvent], lives: TopicLives, topic: str, queue_id: int, queue_offset: int
) -> dict[str, OffsetEvent]:
    """For each group whose offset a movement took over a message of a living queue the last such movement, as far as
    none came back to before the message. `events`: in order of time."""
    found: dict[str, OffsetEvent] = {}
    for event in events:
        if (event.topic, event.queue_id) != (topic, queue_id) or event.kind not in MOVES or event.after is None:
            continue
        if event.after <= queue_offset:
            found.pop(event.group, None)
        elif event.is_told and _is_of_now(event, lives, None) and _range(event, event.after).first <= queue_offset:
            found[event.group] = event
    return found


def _is_of_now(event: OffsetEvent, lives: TopicLives, until_ms: int | None) -> bool:
    """Whether it happened in the topic's present life, and before the offsets were written."""
    of_topic = lives.topics.get(event.topic, ())
    begins_ms = of_topic[-1].begins_ms if len(of_topic) > 1 else None
    is_late = until_ms is not None and event.earliest_ms is not None and event.earliest_ms > until_ms
    return not is_late and (begins_ms is None or (event.latest_ms or 0) >= begins_ms)
