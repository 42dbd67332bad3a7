"""One movement of a group's offset: what is certain of it, in which window of time, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pipelines.answers.offsets.in_time import InTime
from pipelines.answers.offsets.record import GroupQueueKey, Statement
from recovery.query.move_kind import MoveKind

LANDING_MS = 30_000
"""After a reset was sent, a client stops consuming, waits ten seconds, and commits the new offset with its next one."""
TOGETHER_MS = 2_000
"""Lines of one pull, on both sides."""
WENT_WITH = "the {} was deleted, and the offset with it"

READ_OR_SET = (
    "the group's consumers read them, or the offset was set: by the saved tables it moved in a time in a part of which "
    "none of them was connected"
)
"""Why an event is not told as a movement: of most groups that stop it is the last that they read."""


@dataclass(frozen=True, slots=True)
class SavedTable:
    """The broker's table of offsets as one file held it; `dated` False: it was written at `written_ms` or before."""

    written_ms: int
    offsets: Mapping[tuple[str, str], Mapping[int, int]]
    dated: bool = True


@dataclass(frozen=True, slots=True)
class OffsetEvent:
    """One movement of one group's offset on one queue.

    Attributes:
        queue_id: None where no line names it.
        before, after: the offset it had and has; None where not known.
        skipped, repeated: messages that the move passes over, or makes come again; None where not known.
        earliest_ms, latest_ms: when, epoch ms; both None of what is still to come.
        by: who moved it: a client id or an address.
        certain: False where something else could explain the sources, which `reason` says.
        is_told: it is a movement, and no reading that could have been one; the latter is no row of any table.
    """

    group: str
    topic: str
    queue_id: int | None
    kind: MoveKind
    before: int | None
    after: int | None
    skipped: int | None
    repeated: int | None
    earliest_ms: int | None
    latest_ms: int | None
    by: str | None
    cause: str
    certain: bool
    reason: str | None
    evidence: str
    is_told: bool = True

    def passing(self, skipped: int | None, repeated: int | None) -> OffsetEvent:
        """The event with other numbers of messages than lie between the two offsets."""
        return replace(self, skipped=skipped, repeated=repeated)

    def doubted(self, reason: str | None, *, certain: bool = False) -> OffsetEvent:
        """The event with what is not known of it, if anything is; `certain`: that it happened is known all the same."""
        return replace(self, reason=reason, certain=certain) if reason else self

    def explains(self, before: int | None, after: int | None) -> bool:
        """Whether it moves an offset the same way as from `before` to `after`."""
        if None in (self.before, self.after, before, after):
            return self.after == after
        return (self.after > self.before) == (after > before)  # type: ignore[operator]


def differences(before: int | None, after: int | None) -> tuple[int | None, int | None]:
    """Messages that a move passes over, and that come again."""
    if before is None or after is None:
        return None, None
    return max(0, after - before), max(0, before - after)


def moved(
    key: tuple[str, str, int | None],
    kind: MoveKind,
    pair: tuple[int | None, int | None],
    span: tuple[int | None, int | None],
    cause: str,
    evidence: str,
    by: str | None = None,
) -> OffsetEvent:
    """A certain movement of one queue's offset, from one offset to another (`pair`), at a time within `span`."""
    return OffsetEvent(*key, kind, *pair, *differences(*pair), *span, by, cause, True, None, evidence)


def order_of(event: OffsetEvent) -> tuple[bool, int, str, str, int]:
    """By time, what is still to come last; then by group, topic and queue."""
    at_ms = event.latest_ms if event.earliest_ms is None else event.earliest_ms
    return at_ms is None, at_ms or 0, event.group, event.topic, -1 if event.queue_id is None else event.queue_id


def key_of(each: Statement) -> GroupQueueKey:
    line = each.line
    return line.group or "", line.topic or "", -1 if line.queue_id is None else line.queue_id


class EventsInTime:
    """Dated movements by group and topic."""

    def __init__(self, events: Iterable[OffsetEvent]) -> None:
        dated = (event for event in events if event.earliest_ms is not None and event.latest_ms is not None)
        self._events = InTime(
            dated,
            lambda event: (event.group, event.topic),
            lambda event: (event.earliest_ms or 0, event.latest_ms or 0),
        )

    def about(self, key: GroupQueueKey, from_ms: int, until_ms: int) -> Iterator[OffsetEvent]:
        """Movements of one queue's offset within a window; a reset lands up to LANDING_MS after it was sent."""
        near = self._events.touching(key[:2], from_ms - LANDING_MS, until_ms)
        return (event for event in near if event.queue_id in (None, key[2]))
