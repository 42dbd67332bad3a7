"""Movements that lines tell: corrected pulls, resets, late and rejected commits, and owners that began too far.

What several lines tell, on both sides or in an OFFSET_MOVED_EVENT message, is one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pipelines.answers.offset_ends import Ends
from pipelines.answers.offset_event import (
    LANDING_MS,
    TOGETHER_MS,
    OffsetEvent,
    SavedTable,
    differences,
    key_of,
    within,
)
from pipelines.answers.offset_moved_records import MovedRecord
from pipelines.answers.offset_record import GroupQueueKey, OffsetRecord, Statement
from rebalance.readers.logs.offset_lines import LineKind
from recovery.query.move_kind import MoveKind

REJECTED_MS = 60_000
BEYOND_END = "beyond the queue's end"
EMPTY = "the queue has no message"
UNTOLD = "how much of the queue the group had read, an offset beyond its end does not tell"
MAXIMUM = -1
"""The timestamp of a reset that skips what has accumulated."""


@dataclass(slots=True)
class LogMoves:
    """The joins over the lines of one set of sources.

    Attributes:
        copies: of the broker's table, oldest first.
        events: what was found so far; `taken`: lines that another row has told.
    """

    record: OffsetRecord
    copies: Sequence[SavedTable]
    moved: Sequence[MovedRecord]
    ends: Ends
    events: list[OffsetEvent] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)

    def take_all(self) -> None:
        """Find what lines tell of moves, those that explain others first."""
        for told in (self.corrections, self.resets, self.late_commits, self.rejected_commits):
            self.events += list(told())

    # Pulls that a broker corrected

    def corrections(self) -> Iterator[OffsetEvent]:
        """One row for each corrected pull: the broker's line, the client's, and the message about it are one."""
        lines = self.record.of(LineKind.CORRECTED)
        named = [each for each in lines if each.line.queue_id is not None]
        records = list(self.moved)
        for each in (each for each in lines if each.line.queue_id is None):
            client = next((other for other in named if _same_pull(each, other)), None)
            told = next((other for other in records if _tells(other, each)), None)
            if client is not None:
                named.remove(client)
            if told is not None:
                records.remove(told)
            queue_id = client.line.queue_id if client else told.queue_id if told else None
            others = [client.evidence] if client else []
            yield self._correction(each, queue_id, [each.evidence, *others, *([told.evidence] if told else [])])
        for each in named:
            told = next((other for other in records if _tells(other, each)), None)
            if told is not None:
                records.remove(told)
            yield self._correction(each, each.line.queue_id, [each.evidence, *([told.evidence] if told else [])])
        yield from map(_of_record, records)

    def _correction(self, each: Statement, queue_id: int | None, evidence: Sequence[str]) -> OffsetEvent:
        line, (cause, by) = each.line, self._cause(each)
        skipped, repeated = differences(line.before, line.after)
        reasons = [] if queue_id is not None else ["the broker's line does not name the queue"]
        if cause == BEYOND_END:
            skipped = repeated = None
            reasons.append(UNTOLD)
        elif cause == EMPTY:
            skipped = repeated = 0
        return OffsetEvent(
            line.group or "",
            line.topic or "",
            queue_id,
            MoveKind.CORRECTED,
            line.before,
            line.after,
            skipped,
            repeated,
            each.from_ms,
            each.until_ms,
            by,
            cause,
            certain=True,
            reason="; ".join(reasons) or None,
            evidence="; ".join(evidence),
        )

    def _cause(self, each: Statement) -> tuple[str, str | None]:
        """Why the broker corrected a pull, and whose it was, by the line it writes before."""
        line = each.line
        for other in self.record.around(line.at_ms, TOGETHER_MS):
            near = other.line.before == line.before
            if near and other.line.kind is LineKind.TOO_SMALL and (other.line.group, other.line.topic) == line[5:7]:
                return "below the queue's minimum: the messages were deleted", self._client(other.line.by)
            if near and other.line.kind is LineKind.BEYOND_END and other.line.after in (None, line.after):
                return BEYOND_END, self._client(other.line.by)
            if near and other.line.kind is LineKind.EMPTY_QUEUE and (other.line.group, other.line.topic) == line[5:7]:
                return EMPTY, self._client(other.line.by)
        for other in self.record.of(LineKind.RESET_DONE):
            same = (other.line.group, other.line.topic, other.line.after) == (line.group, line.topic, line.after)
            if same and 0 <= each.until_ms - other.from_ms <= REJECTED_MS:
                return "a reset: the client goes on where the broker says", None
        return "not told", None

    def _client(self, address: str | None) -> str | None:
        return self.record.clients.get(address, address) if address is not None else None

    # Resets

    def resets(self) -> Iterator[OffsetEvent]:
        """One row for each queue of a reset; what the broker does not log of it comes from commits and saved tables."""
        less, done = self.record.of(LineKind.COMMIT_LESS), self.record.of(LineKind.RESET_DONE)
        told = self.record.of(LineKind.RESET_SENT)
        for asked in self.record.of(LineKind.RESET_REQUESTED):
            where = asked.line[5:7]
            queues = [d for d in done if d.line[5:7] == where and 0 <= d.line.at_ms - asked.line.at_ms <= TOGETHER_MS]
            sent = [each for each in told if each.line[5:7] == where and within(asked, each, TOGETHER_MS)]
            landed = [
                each
                for each in less
                if each.line[5:7] == where
                and within(asked, each, LANDING_MS)
                and id(each) not in self.taken
                and (sent or each.line.by == asked.line.by)
            ]
            if queues:
                yield from (self._reset_done(asked, each) for each in queues)
            elif landed:
                self.taken.update(map(id, landed))
                yield from (self._reset_landed(asked, each) for each in _first_of_queue(landed))
            elif sent:
                yield from self._reset_forward(asked)
            else:
                yield self._reset_refused(asked)

    def _reset_done(self, asked: Statement, each: Statement) -> OffsetEvent:
        key = key_of(each)
        rejected = self._rejected_after(key, each)
        before, reason = self._before(key, each, rejected)
        event = self._reset(asked, key[2], before, each.line.after, each.until_ms, reason, each.evidence)
        read_to = max([offset for offset in rejected if before is not None and offset > before], default=None)
        if read_to is None:
            return event
        skipped, repeated = differences(read_to, event.after)
        return replace(
            event, skipped=skipped, repeated=repeated, reason=f"a consumer read on to {read_to} before it came"
        )

    def _reset_landed(self, asked: Statement, each: Statement) -> OffsetEvent:
        return self._reset(
            asked, each.line.queue_id, each.line.before, each.line.after, each.until_ms, None, each.evidence
        )

    def _reset_forward(self, asked: Statement) -> Iterator[OffsetEvent]:
        """A 4.x broker logs no offsets of a reset: those of the saved tables around it."""
        where = asked.line.group or "", asked.line.topic or ""
        before = [copy for copy in self.copies if copy.written_ms <= asked.from_ms]
        after = [c for c in self.copies if asked.until_ms < c.written_ms <= asked.until_ms + LANDING_MS]
        if not before or not after:
            unknown = "the broker logs no offsets of this reset, and no table was saved before and after it"
            yield self._reset(asked, None, None, None, asked.until_ms + LANDING_MS, unknown, "")
            return
        for queue_id, old in sorted(before[-1].offsets.get(where, {}).items()):
            values = [(copy.offsets.get(where, {}).get(queue_id), copy.written_ms) for copy in after]
            new, seen_ms = next(((value, at) for value, at in values if value not in (None, old)), values[-1])
            at_maximum = asked.line.timestamp_ms == MAXIMUM and new == self.ends.at(where[1], queue_id, asked.until_ms)
            doubt = None if at_maximum else "by the saved tables alone: the group may have consumed in between"
            tables = f"tables of {before[-1].written_ms} and {seen_ms}"
            yield self._reset(asked, queue_id, old, new, seen_ms, doubt, tables)

    def _reset_refused(self, asked: Statement) -> OffsetEvent:
        refused = self._reset(asked, None, None, None, asked.until_ms, None, "")
        why = "the broker sent it to no consumer: none was online, and nothing was moved by it"
        return replace(refused, kind=MoveKind.RESET_REFUSED, skipped=0, repeated=0, reason=why)

    def _reset(
        self,
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
        skipped, repeated = differences(before, after)
        return OffsetEvent(
            asked.line.group or "",
            asked.line.topic or "",
            queue_id,
            MoveKind.RESET,
            before,
            after,
            skipped,
            repeated,
            asked.from_ms,
            latest_ms,
            asked.line.by,
            f"reset by an admin {to}",
            certain=reason is None,
            reason=reason,
            evidence="; ".join(filter(None, (asked.evidence, evidence))),
        )

    def _rejected_after(self, key: GroupQueueKey, each: Statement) -> list[int]:
        """What clients committed that did not know of a reset yet: the broker rejects that, and logs it."""
        return [
            other.line.after
            for other in self.record.of(LineKind.COMMIT_REJECTED)
            if key_of(other) == key and other.line.after is not None and within(each, other, REJECTED_MS)
        ]

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

    # Commits

    def late_commits(self) -> Iterator[OffsetEvent]:
        """Commits of less than the table had, as far as no reset or correction tells of them."""
        admins = {asked.line.by for asked in self.record.of(LineKind.RESET_REQUESTED)}
        for each in self.record.of(LineKind.COMMIT_LESS):
            if id(each) in self.taken:
                continue
            line, key = each.line, key_of(each)
            if self._is_of_correction(each):
                continue
            cause = "a late commit of a consumer"
            kind, reason = MoveKind.MOVED_BACK, None
            if line.by in admins:
                kind, cause = MoveKind.RESET, "set by an admin: the address is one that also asked for resets"
            elif line.by not in self.record.clients:
                cause, reason = "not told", "no line shows whose connection it is: an admin's, or a consumer's"
            skipped, repeated = differences(line.before, line.after)
            yield OffsetEvent(
                *key,
                kind,
                line.before,
                line.after,
                skipped,
                repeated,
                each.from_ms,
                each.until_ms,
                self._client(line.by),
                cause,
                certain=reason is None,
                reason=reason,
                evidence=each.evidence,
            )

    def _is_of_correction(self, each: Statement) -> bool:
        """Whether a client commits where a correction sent it; its line names the queue, as the broker's does not."""
        line, key = each.line, key_of(each)
        for number, event in enumerate(self.events):
            same = (event.group, event.topic, event.before, event.after) == (*key[:2], line.before, line.after)
            if event.kind is MoveKind.CORRECTED and same and event.queue_id in (None, key[2]):
                evidence = f"{event.evidence}; {each.evidence}"
                reason = UNTOLD if event.cause == BEYOND_END else None
                self.events[number] = replace(event, queue_id=key[2], reason=reason, evidence=evidence)
                return True
        return False

    def rejected_commits(self) -> Iterator[OffsetEvent]:
        """Runs of equal commits that a broker rejected after a reset."""
        runs: dict[tuple[GroupQueueKey, int | None], list[Statement]] = {}
        for each in self.record.of(LineKind.COMMIT_REJECTED):
            runs.setdefault((key_of(each), each.line.after), []).append(each)
        for (key, offset), run in runs.items():
            yield OffsetEvent(
                *key,
                MoveKind.COMMITS_REJECTED,
                offset,
                None,
                0,
                0,
                run[0].from_ms,
                run[-1].until_ms,
                None,
                f"{len(run)} commits of {offset} rejected: the offset was reset, and the client had not pulled since",
                certain=True,
                reason=None,
                evidence=run[0].evidence,
            )

    def starts(self) -> Iterator[OffsetEvent]:
        """Queues whose new owner began above the last commit on record."""
        for each in self.record.of(LineKind.STARTED):
            key, start = key_of(each), each.line.after
            last = self.record.commits[key].last_before(each.line.at_ms) if key in self.record.commits else None
            if last is None or start is None or start <= last:
                continue
            moves = [event for event in self.events if event.is_about(key, each.from_ms, each.until_ms)]
            if any(event.after == start for event in moves):
                continue
            yield OffsetEvent(
                *key,
                MoveKind.STARTED_ABOVE_COMMIT,
                last,
                start,
                start - last,
                0,
                each.from_ms,
                each.until_ms,
                self._client(each.line.by),
                "the new owner began above the last commit",
                certain=False,
                reason="a commit of a client whose log is not here may lie between",
                evidence=each.evidence,
            )


def _first_of_queue(statements: Iterable[Statement]) -> Iterable[Statement]:
    found: dict[int | None, Statement] = {}
    for each in statements:
        found.setdefault(each.line.queue_id, each)
    return found.values()


def _same_pull(broker: Statement, client: Statement) -> bool:
    one, other = broker.line, client.line
    same = (one.group, one.topic, one.before, one.after) == (other.group, other.topic, other.before, other.after)
    return same and _near(broker, client.from_ms, client.until_ms)


def _tells(told: MovedRecord, each: Statement) -> bool:
    line = each.line
    same = (told.group, told.topic, told.before, told.after) == (line.group, line.topic, line.before, line.after)
    return same and line.queue_id in (None, told.queue_id) and _near(each, told.stored_ms, told.stored_ms)


def _near(each: Statement, from_ms: int, until_ms: int) -> bool:
    return each.from_ms - TOGETHER_MS <= until_ms and from_ms <= each.until_ms + TOGETHER_MS


def _of_record(told: MovedRecord) -> OffsetEvent:
    skipped, repeated = differences(told.before, told.after)
    return OffsetEvent(
        told.group,
        told.topic,
        told.queue_id,
        MoveKind.CORRECTED,
        told.before,
        told.after,
        skipped,
        repeated,
        told.stored_ms,
        told.stored_ms,
        None,
        "not told",
        certain=True,
        reason=None,
        evidence=told.evidence,
    )
