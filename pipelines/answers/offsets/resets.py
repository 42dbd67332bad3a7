"""Resets that an admin asked a broker for; what the broker does not log of them comes from commits and saved tables.

Source: AdminBrokerProcessor#resetOffset(Inner), Broker2Client#resetOffset, ConsumerOffsetManager#commitOffset
@4.4.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pipelines.answers.offsets.ends import Ends
from pipelines.answers.offsets.event import LANDING_MS, OffsetEvent, SavedTable, differences, key_of, moved
from pipelines.answers.offsets.record import GroupQueueKey, OffsetRecord, Statement, statements_by
from rebalance.readers.logs.facts.offset_lines import LineKind
from recovery.query.move_kind import MoveKind

REJECTED_MS = 60_000
"""How long after a reset a broker still rejects what a client commits that has not pulled since."""
MAXIMUM = -1
"""The timestamp of a reset that skips what has accumulated."""


class Resets:
    """The joins over the lines of one set of sources.

    Attributes:
        landed: lines of commits that the rows of a reset account for.
    """

    def __init__(self, record: OffsetRecord, copies: Sequence[SavedTable], ends: Ends) -> None:
        self.record, self.copies, self.ends = record, copies, ends
        self.landed: set[int] = set()
        self._less = statements_by(_where, record.of(LineKind.COMMIT_LESS))
        self._asked = statements_by(_where, record.of(LineKind.RESET_REQUESTED))
        self._done = statements_by(_where, record.of(LineKind.RESET_DONE))
        self._sent = statements_by(_where, record.of(LineKind.RESET_SENT))
        self._rejected = statements_by(key_of, record.of(LineKind.COMMIT_REJECTED))

    def events(self) -> Iterator[OffsetEvent]:
        """One row for each queue of each reset."""
        for asked in self.record.of(LineKind.RESET_REQUESTED):
            done = self._done_of(asked)
            sent = any(self._sent.touching(_where(asked), asked.from_ms, self._ends_ms(asked)))
            landed = [] if done else self._landed_of(asked, sent=sent)
            if done:
                yield from (self._done_event(asked, each) for each in done)
            elif landed:
                self.landed.update(map(id, landed))
                yield from (_landed_event(asked, each) for each in _first_of_queue(landed))
            elif sent:
                yield from self._forward(asked)
            else:
                yield _refused(asked)

    def _done_of(self, asked: Statement) -> list[Statement]:
        at_ms, until_ms = asked.line.at_ms, self._ends_ms(asked)
        near = self._done.touching(_where(asked), at_ms, until_ms)
        return [each for each in near if at_ms <= each.line.at_ms <= until_ms]

    def _ends_ms(self, asked: Statement) -> int:
        """Until when lines of a reset are looked for: a broker that is busy takes seconds to carry one out."""
        until_ms = asked.until_ms + LANDING_MS
        later = self._asked.touching(_where(asked), asked.until_ms + 1, until_ms)
        return min((each.from_ms - 1 for each in later if each.from_ms > asked.until_ms), default=until_ms)

    def _landed_of(self, asked: Statement, *, sent: bool) -> list[Statement]:
        """Commits by which a reset took place: by the clients it was sent to, else by who asked for it."""
        near = self._less.touching(_where(asked), asked.from_ms, asked.until_ms + LANDING_MS)
        return [each for each in near if id(each) not in self.landed and sent != (each.line.by == asked.line.by)]

    def _done_event(self, asked: Statement, each: Statement) -> OffsetEvent:
        key = key_of(each)
        rejected = self._rejected_after(key, each)
        before, reason = self._before(key, each, rejected)
        event = _reset(asked, key[2], before, each.line.after, each.until_ms, reason, each.evidence)
        read_to = max([offset for offset in rejected if before is not None and offset > before], default=None)
        if read_to is None:
            return event
        skipped, repeated = differences(read_to, event.after)
        return replace(
            event, skipped=skipped, repeated=repeated, reason=f"a consumer read on to {read_to} before it came"
        )

    def _rejected_after(self, key: GroupQueueKey, each: Statement) -> list[int]:
        """What clients committed that did not know of a reset yet: the broker rejects that, and logs it."""
        near = self._rejected.touching(key, each.from_ms, each.until_ms + REJECTED_MS)
        return [other.line.after for other in near if other.line.after is not None]

    def _before(self, key: GroupQueueKey, each: Statement, rejected: Sequence[int]) -> tuple[int | None, str | None]:
        """What the table had before a reset, and why that is not certain."""
        group, topic, queue_id = key
        tables = ((copy.written_ms, copy.offsets.get((group, topic), {})) for copy in self.copies)
        saved = [(at, table[queue_id]) for at, table in tables if at <= each.from_ms and queue_id in table]
        old = saved[-1][1] if saved else None
        first = next((offset for offset in rejected if offset != each.line.after), None)
        if first is not None:
            return first, None if first == old else "by the first commit that the broker rejected"
        if saved and self.record.is_offline(group, saved[-1][0], each.from_ms):
            return old, None
        return old, "by the last saved table: the group may have consumed in between"

    def _forward(self, asked: Statement) -> Iterator[OffsetEvent]:
        """A 4.x broker logs no offsets of a reset: those of the saved tables around it."""
        where = asked.line.group or "", asked.line.topic or ""
        before = [copy for copy in self.copies if copy.written_ms <= asked.from_ms]
        after = [c for c in self.copies if asked.until_ms < c.written_ms <= asked.until_ms + LANDING_MS]
        if not before or not after:
            unknown = "the broker logs no offsets of this reset, and no table was saved before and after it"
            yield _reset(asked, None, None, None, asked.until_ms + LANDING_MS, unknown, "")
            return
        for queue_id, old in sorted(before[-1].offsets.get(where, {}).items()):
            values = [(copy.offsets.get(where, {}).get(queue_id), copy.written_ms) for copy in after]
            new, seen_ms = next(((value, at) for value, at in values if value not in (None, old)), values[-1])
            at_maximum = asked.line.timestamp_ms == MAXIMUM and new == self.ends.at(where[1], queue_id, asked.until_ms)
            doubt = None if at_maximum else "by the saved tables alone: the group may have consumed in between"
            tables = f"tables of {before[-1].written_ms} and {seen_ms}"
            yield _reset(asked, queue_id, old, new, seen_ms, doubt, tables)


def _where(each: Statement) -> tuple[str | None, str | None]:
    return each.line.group, each.line.topic


def _first_of_queue(statements: Iterable[Statement]) -> Iterable[Statement]:
    found: dict[int | None, Statement] = {}
    for each in statements:
        found.setdefault(each.line.queue_id, each)
    return found.values()


def _landed_event(asked: Statement, each: Statement) -> OffsetEvent:
    line = each.line
    return _reset(asked, line.queue_id, line.before, line.after, each.until_ms, None, each.evidence)


def _refused(asked: Statement) -> OffsetEvent:
    refused = _reset(asked, None, None, None, asked.until_ms, None, "")
    why = "the broker sent it to no consumer: none was online, and nothing was moved by it"
    return replace(refused, kind=MoveKind.RESET_REFUSED, skipped=0, repeated=0, reason=why)


def _reset(
    asked: Statement,
    queue_id: int | None,
    before: int | None,
    after: int | None,
    latest_ms: int,
    reason: str | None,
    evidence: str,
) -> OffsetEvent:
    stamp = asked.line.timestamp_ms
    to = "to the queue's maximum" if stamp == MAXIMUM else f"to the time {stamp}"
    key, span = (asked.line.group or "", asked.line.topic or "", queue_id), (asked.from_ms, latest_ms)
    cause, told = f"reset by an admin {to}", "; ".join(filter(None, (asked.evidence, evidence)))
    return moved(key, MoveKind.RESET, (before, after), span, cause, told, asked.line.by).doubted(reason)
