"""Commits of less than the broker had, commits that it rejected, and owners that began above the last commit.

Source: ConsumerOffsetManager#commitOffset, ConsumerManageProcessor#updateConsumerOffset @4.4.0 - 5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from pipelines.answers.offsets.corrections import UNTOLD
from pipelines.answers.offsets.event import TOGETHER_MS, WENT_WITH, EventsInTime, OffsetEvent, key_of, moved
from pipelines.answers.offsets.record import GroupQueueKey, OffsetRecord, Statement
from rebalance.readers.logs.facts.offset_lines import LineKind
from recovery.query.move_kind import MoveKind

MOST_EVIDENCE = 8
"""Lines that one row names as its evidence; of more their number."""


class CorrectedCommits:
    """Corrections, and the commits with which clients took them over; such a line names the queue, as the broker's
    correction does not."""

    def __init__(self, corrected: Sequence[OffsetEvent]) -> None:
        self._corrected = corrected
        self._queue_of = [event.queue_id for event in corrected]
        self._evidence: list[list[str]] = [[event.evidence] for event in corrected]
        self._first: dict[tuple[GroupQueueKey, int | None, int | None], int] = {}
        self._unnamed: dict[tuple[str, str, int | None, int | None], list[int]] = {}
        for number, event in reversed(list(enumerate(corrected))):
            if event.queue_id is None:
                self._unnamed.setdefault((event.group, event.topic, event.before, event.after), []).append(number)
            else:
                self._first[(event.group, event.topic, event.queue_id), event.before, event.after] = number

    def take(self, each: Statement) -> bool:
        """Whether a client commits where a correction sent it; the correction then knows its queue."""
        key, move = key_of(each), (each.line.before, each.line.after)
        unnamed = self._unnamed.get((*key[:2], *move), [])
        number = self._first.get((key, *move))
        if unnamed and (number is None or unnamed[-1] < number):
            number = unnamed.pop()
            self._first[(key, *move)] = number
            self._queue_of[number] = key[2]
        if number is None:
            return False
        self._evidence[number].append(each.evidence)
        return True

    def events(self) -> Iterator[OffsetEvent]:
        """The corrections with what commits show of them."""
        for event, queue_id, lines in zip(self._corrected, self._queue_of, self._evidence, strict=True):
            if len(lines) == 1:
                yield event
                continue
            more = [f"{len(lines) - MOST_EVIDENCE} more lines"] if len(lines) > MOST_EVIDENCE else []
            reason = UNTOLD if event.skipped is None else None
            evidence = "; ".join([*lines[:MOST_EVIDENCE], *more])
            yield replace(event, queue_id=queue_id, reason=reason, evidence=evidence)


def late_commits(record: OffsetRecord, landed: Collection[int], corrected: CorrectedCommits) -> Iterator[OffsetEvent]:
    """Commits below the offset that the table had, without those that a reset (`landed`: ids of statements) or a
    correction explains."""
    admins = {asked.line.by for asked in record.of(LineKind.RESET_REQUESTED)}
    for each in record.of(LineKind.COMMIT_LESS):
        if id(each) in landed or corrected.take(each):
            continue
        line = each.line
        cause = "a late commit of a consumer"
        kind, reason = MoveKind.MOVED_BACK, None
        if line.by in admins:
            kind, cause = MoveKind.RESET, "set by an admin: the address is one that also asked for resets"
        elif line.by not in record.clients:
            cause, reason = "not told", "no line shows whose connection it is: an admin's, or a consumer's"
        pair, by = (line.before, line.after), record.client(line.by)
        yield moved(key_of(each), kind, pair, each.span, cause, each.evidence, by).doubted(reason)


def dropped_with_topics(record: OffsetRecord) -> Iterator[OffsetEvent]:
    """Offsets that brokers since 5.0 name when they drop them with their topic."""
    for each in record.of(LineKind.DROPPED):
        key = key_of(each)
        life = record.deletion_of(key[0], key[1], each.from_ms - TOGETHER_MS, each.until_ms)
        by, evidence = (None, each.evidence) if life is None else (life.by, f"{life.evidence}; {each.evidence}")
        pair, cause = (each.line.before, None), WENT_WITH.format("topic")
        yield moved(key, MoveKind.REMOVED, pair, each.span, cause, evidence, by)


def rejected_commits(record: OffsetRecord) -> Iterator[OffsetEvent]:
    """Runs of equal commits that a broker rejected after a reset."""
    runs: dict[tuple[GroupQueueKey, int | None], list[Statement]] = {}
    for each in record.of(LineKind.COMMIT_REJECTED):
        runs.setdefault((key_of(each), each.line.after), []).append(each)
    for (key, offset), run in runs.items():
        cause = f"{len(run)} commits of {offset} rejected: the offset was reset, and the client had not pulled since"
        pair, span = (offset, None), (run[0].from_ms, run[-1].until_ms)
        yield moved(key, MoveKind.COMMITS_REJECTED, pair, span, cause, run[0].evidence).passing(0, 0)


def starts_above_commit(
    record: OffsetRecord,
    told: Iterable[OffsetEvent],
    last_saved: Callable[[GroupQueueKey, int], tuple[int, int] | None],
) -> Iterator[OffsetEvent]:
    """Queues whose new owner began above the last offset on record, where no movement in `told` leads there.

    A client writes two lines of one start, when it makes the pull request and with its first pull: one row.
    """
    moves = EventsInTime(told)
    began: dict[GroupQueueKey, int] = {}
    for each in sorted(record.of(LineKind.STARTED), key=lambda each: each.line.at_ms):
        key, start, at_ms = key_of(each), each.line.after, each.line.at_ms
        commits = record.commits.get(key, {}).get(each.line.broker or "")
        heard = None if commits is None else commits.last_before(at_ms)
        is_same_start = key in began and (heard is None or heard[0] < began[key])
        known = [found for found in (heard, last_saved(key, at_ms)) if found is not None]
        last = max(known)[1] if heard is not None else None
        if last is None or start is None or start <= last or is_same_start:
            continue
        if any(event.after == start for event in moves.about(key, each.from_ms, each.until_ms)):
            continue
        began[key] = at_ms
        yield moved(
            key,
            MoveKind.STARTED_ABOVE_COMMIT,
            (last, start),
            each.span,
            "the new owner began above the last commit",
            each.evidence,
            record.client(each.line.by),
        ).doubted("a commit of a client whose log is not here may lie between")
