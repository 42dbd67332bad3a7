"""Corrected pulls whose queue no line names: it follows where as many queues fit as pulls were corrected alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pipelines.answers.offsets.corrections import BELOW_MINIMUM
from pipelines.answers.offsets.ends import Ends
from pipelines.answers.offsets.event import OffsetEvent
from pipelines.answers.offsets.record import GroupQueueKey

LastSaved = Callable[[GroupQueueKey, int], tuple[int, int] | None]
Alike = tuple[str, str, int | None, int | None]
AS_MANY = "the broker's line does not name the queue; as many queues of the topic fit as pulls were corrected alike"


def with_queues(corrected: Sequence[OffsetEvent], ends: Ends, last_saved: LastSaved) -> Iterator[OffsetEvent]:
    """The corrected pulls, those below a queue's minimum with their queue where all that fit were corrected."""
    unnamed: dict[Alike, list[OffsetEvent]] = {}
    for event in corrected:
        if event.queue_id is None and event.cause == BELOW_MINIMUM:
            unnamed.setdefault(_alike(event), []).append(event)
    fitting = {alike: _fitting(events[0], ends, last_saved) for alike, events in unnamed.items()}
    for event in corrected:
        queues = fitting.get(_alike(event), []) if event.queue_id is None else []
        if queues and len(queues) == len(unnamed[_alike(event)]):
            number = next(n for n, other in enumerate(unnamed[_alike(event)]) if other is event)
            event = replace(event, queue_id=queues[number], certain=False, reason=AS_MANY)
        yield event


def _alike(event: OffsetEvent) -> Alike:
    return event.group, event.topic, event.before, event.after


def _fitting(event: OffsetEvent, ends: Ends, last_saved: LastSaved) -> list[int]:
    """The queues of the topic that have no message left before where the group was sent, and where no saved table has
    another offset of the group."""
    saved = (
        (queue_id, last_saved((event.group, event.topic, queue_id), event.earliest_ms or 0))
        for queue_id, first in sorted(ends.first_of(event.topic).items())
        if first >= (event.after or 0)
    )
    return [queue_id for queue_id, table in saved if table is None or table[1] == event.before]
