"""Movements that saved copies of a broker's table show, and no line explains."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from parsers.values.utc import utc_text
from pipelines.answers.offsets.corrections import BEYOND_END
from pipelines.answers.offsets.ends import Ends
from pipelines.answers.offsets.event import (
    READ_OR_SET,
    WENT_WITH,
    EventsInTime,
    OffsetEvent,
    SavedTable,
    differences,
    key_of,
    moved,
)
from pipelines.answers.offsets.record import GroupQueueKey, OffsetRecord, statements_by
from rebalance.readers.logs.facts.offset_lines import LineKind
from recovery.query.move_kind import MoveKind

STALLED_MS = 60_000
LEFT_LIFE = "a life of the topic that has left the log could explain it"
LEFT_THE_LOG = "the broker's log tells of the topic's deletion; the messages of that life have left the log"
LOST_END = (
    "a consumer of the group could have read messages that are gone since: where a store was put back from an older "
    "copy, or lost the end of its log"
)
BY_TABLES = "by the saved tables alone"
DROPPED = "the broker dropped it: its topic or group was deleted"
READ_OR_BEGAN = (
    "a consumer of the group may have read them, or begun at the queue's end, as those of a new group do by default"
)
STORED_AGAIN = (
    "stored again after it was dropped: its consumers went on with what they had in memory, or began as those of a new "
    "group do. Before, it was"
)
COMES_AGAIN = "at most {} messages came again: where the consumers began is in their own logs alone"
TABLES_BACK = 1_000
"""Of so many tables before it a newer one is looked for: an hour and more, at a table every five seconds."""
PUT_BACK = (
    "its offsets on the topic are those of {}, as a store that was put back from a copy has them, or a start by .bak"
)
SET_OFFLINE = (
    "set while no consumer of the group was connected: by an admin's tool, or by a client that does not register"
)


class TableMoves:
    """The changes of one broker's table.

    Args:
        copies: oldest first.
    """

    def __init__(self, record: OffsetRecord, copies: Sequence[SavedTable], ends: Ends) -> None:
        self.record, self.copies, self.ends = record, copies, ends
        self._pulls = statements_by(key_of, record.of(LineKind.FLOW_CONTROL))
        self._dropped = statements_by(key_of, record.of(LineKind.DROPPED))

    def changes(self, told: Iterable[OffsetEvent]) -> Iterator[OffsetEvent]:
        """Changes that neighbouring tables show and no line of a log does; most offsets that go forward were
        consumed."""
        lines = EventsInTime(told)
        for old, new in pairwise(self.copies):
            clones = _Clones(old)
            for where in sorted(old.offsets.keys() | new.offsets.keys()):
                before, after = old.offsets.get(where, {}), new.offsets.get(where, {})
                for queue_id in sorted(before.keys() | after.keys()):
                    key, pair = (*where, queue_id), (before.get(queue_id), after.get(queue_id))
                    if pair[0] == pair[1]:
                        continue
                    near = lines.about(key, old.written_ms, new.written_ms)
                    if not any(event.explains(*pair) for event in near):
                        yield from self._change(key, pair, old, new, clones)

    def _change(
        self, key: GroupQueueKey, pair: tuple[int | None, int | None], old: SavedTable, new: SavedTable, clones: _Clones
    ) -> Iterator[OffsetEvent]:
        (before, after), from_ms, until_ms = pair, old.written_ms, new.written_ms
        most = None if after is None else self._most(key, until_ms)
        skipped, repeated = differences(before, after)
        cause, reason, is_told = "not told", BY_TABLES, True
        if after is None:
            yield self._removed(key, before, old, new)
            return
        if before is None and (dropped := self._dropped_at(key, from_ms)) is not None:
            kind, cause = MoveKind.FIRST_OFFSET, f"{STORED_AGAIN} {dropped}"
            reason, repeated = COMES_AGAIN.format(dropped), None
        elif before is not None and after < before:
            kind, reason = MoveKind.MOVED_BACK, f"{BY_TABLES}: at least so many come again"
            cause = f"{cause}{self._put_back(key, old, new)}"
        elif most is not None and after > most and self._may_have_one_life(key[1]):
            offline = self.record.is_offline(key[0], from_ms, until_ms)
            kind, skipped, reason = MoveKind.MOVED_FORWARD, None, self._why_not_by_hand(offline)
            by_whom = "set by hand" if offline else "set by hand, or read of a longer queue"
            cause = f"{by_whom}: beyond the queue's end, which was {most} at most"
        elif self.record.is_offline(key[0], from_ms, until_ms):
            kind = MoveKind.FIRST_OFFSET if before is None else MoveKind.MOVED_FORWARD
            cause, reason = f"{SET_OFFLINE}{clones.of(key, new)}", ""
        elif before is None and (clone := clones.of(key, new)):
            kind, cause = MoveKind.FIRST_OFFSET, f"not told{clone}"
            reason = READ_OR_BEGAN if after == most else "a consumer of the group may have read them"
        elif self._may_be_set(key[0], before, from_ms, until_ms):
            kind = MoveKind.FIRST_OFFSET if before is None else MoveKind.MOVED_FORWARD
            cause, reason, is_told = READ_OR_SET, BY_TABLES, False
        else:
            return
        evidence = f"tables of {from_ms} and {until_ms}"
        span = from_ms if old.dated else None, until_ms
        event = moved(key, kind, pair, span, cause, evidence).passing(skipped, repeated).doubted(reason)
        yield replace(event, is_told=is_told)

    def _put_back(self, key: GroupQueueKey, old: SavedTable, new: SavedTable) -> str:
        """The words for a group's offsets on a topic that an older table had; empty where none of the last ones did."""
        end, own = bisect_right(self.copies, old.written_ms - 1, key=lambda copy: copy.written_ms), new.offsets[key[:2]]
        older = reversed(self.copies[max(0, end - TABLES_BACK) : end])
        same = next((copy for copy in older if copy.offsets.get(key[:2]) == own), None)
        return "" if same is None else f"; {PUT_BACK.format(utc_text(same.written_ms))}"

    def _may_be_set(self, group: str, before: int | None, from_ms: int, until_ms: int) -> bool:
        """Whether an offset that went forward may have been set in a part of a time in which nobody was connected; of a
        first one only where nobody was left: who comes first is not there before."""
        if before is not None:
            return self.record.was_offline_within(group, from_ms, until_ms)
        return (self.record.offline_since(group, until_ms) or from_ms) > from_ms

    def _removed(self, key: GroupQueueKey, before: int | None, old: SavedTable, new: SavedTable) -> OffsetEvent:
        """An offset that a table no longer has; a line of its group's or topic's deletion says who, when and why."""
        from_ms, until_ms = old.written_ms if old.dated else None, new.written_ms
        span, evidence = (from_ms, until_ms), f"tables of {old.written_ms} and {until_ms}"
        event = moved(key, MoveKind.REMOVED, (before, None), span, DROPPED, evidence).doubted(BY_TABLES)
        life = self.record.deletion_of(key[0], key[1], from_ms or 0, until_ms)
        if life is None:
            return event
        return replace(
            event,
            earliest_ms=max(from_ms or 0, life.earliest_ms or 0),
            latest_ms=min(until_ms, life.latest_ms or until_ms),
            by=life.by,
            cause=WENT_WITH.format(life.subject),
            certain=True,
            reason=None,
            evidence=f"{life.evidence}; {event.evidence}",
        )

    def _dropped_at(self, key: GroupQueueKey, at_ms: int) -> int | None:
        """The offset that a queue had before the table of an instant, which has none of it; None where it never had
        one, or counted messages of a former life of the topic."""
        saved = self.last_saved(key, at_ms)
        return saved[1] if saved is not None and self._may_have_one_life(key[1]) else None

    def _may_have_one_life(self, topic: str) -> bool:
        """Whether neither a line nor the log shows a deletion of a topic."""
        return not self.record.deletions.get(("topic", topic)) and self.ends.may_have_one_life(topic)

    def doubt_of_deleted(self, event: OffsetEvent) -> str | None:
        """What else than a life whose deletion a line tells explains the offset of a corrected pull: nothing (empty)
        where the broker dropped that offset with the topic. None where no line tells, or a table that was saved since
        has an offset that the living queue had then."""
        group, topic, queue_id, at_ms = event.group, event.topic, event.queue_id, event.latest_ms or 0
        told = self.record.deletions.get(("topic", topic), ())
        deleted_ms = max((life.latest_ms or 0 for life in told if (life.earliest_ms or 0) <= at_ms), default=None)
        if deleted_ms is None or queue_id is None:
            return None
        if any(each.line.before == event.before for each in self._dropped.touching((group, topic, queue_id), 0, at_ms)):
            return ""
        begin, end = (bisect_right(self.copies, edge, key=lambda copy: copy.written_ms) for edge in (deleted_ms, at_ms))
        saved = (copy.offsets.get((group, topic), {}).get(queue_id) for copy in self.copies[begin:end])
        is_living = any(offset is not None and offset <= (event.after or 0) for offset in saved)
        return None if is_living else LEFT_THE_LOG

    def set_beyond_end(self, told: Sequence[OffsetEvent]) -> Iterator[OffsetEvent]:
        """Offsets beyond the end that a correction shows, that no saved table has, and that no event of `told`
        explains."""
        moves = EventsInTime(told)
        for event in told:
            if event.kind is not MoveKind.CORRECTED or event.cause != BEYOND_END or event.queue_id is None:
                continue
            key, at_ms = (event.group, event.topic, event.queue_id), event.earliest_ms or 0
            saved = self.last_saved(key, at_ms)
            before = None if saved is None else saved[1]
            near = moves.about(key, at_ms, event.latest_ms or at_ms)
            is_told = any(other is not event and other.after == event.before for other in near)
            if saved is None or before == event.before or is_told or not self._may_have_one_life(key[1]):
                continue
            reason = self._why_not_by_hand(self.record.was_offline_within(event.group, saved[0], at_ms))
            pair, span = (before, event.before), (saved[0], event.latest_ms)
            evidence = f"table of {saved[0]}; {event.evidence}"
            cause = "set by hand: beyond the queue's end, as the next pull showed"
            found = moved(key, MoveKind.MOVED_FORWARD, pair, span, cause, evidence)
            yield found.passing(None, 0).doubted(reason)

    def _why_not_by_hand(self, was_offline: bool) -> str:
        """What else explains an offset beyond the queue's end; empty where nothing does."""
        lost = "" if was_offline else LOST_END
        return "; ".join(filter(None, (lost, "" if self.ends.has_whole_log else LEFT_LIFE)))

    def last_saved(self, key: GroupQueueKey, at_ms: int) -> tuple[int, int] | None:
        """The newest table by an instant that holds a queue's offset: when it was written, and the offset."""
        older = self.copies[: bisect_right(self.copies, at_ms, key=lambda copy: copy.written_ms)]
        queues = ((copy.written_ms, copy.offsets.get(key[:2], {})) for copy in reversed(older))
        return next(((written_ms, offsets[key[2]]) for written_ms, offsets in queues if key[2] in offsets), None)

    def _most(self, key: GroupQueueKey, at_ms: int) -> int | None:
        """The most that the queue's maximum can have been at an instant."""
        then = self.ends.at(key[1], key[2], at_ms)
        return self.ends.now(key[1], key[2]) if then is None else then

    def stalls(self) -> Iterator[OffsetEvent]:
        """Offsets that stood still for STALLED_MS and more while the queue had messages after them."""
        runs: dict[GroupQueueKey, tuple[int, int, int]] = {}
        for copy in self.copies:
            for (group, topic), queues in copy.offsets.items():
                for queue_id, offset in queues.items():
                    key = group, topic, queue_id
                    value, begin, _ = runs.get(key, (None, 0, 0))
                    if value != offset:
                        yield from self._stall(key, runs.get(key))
                        begin = copy.written_ms
                    runs[key] = offset, begin, copy.written_ms
        for key, run in sorted(runs.items()):
            yield from self._stall(key, run)

    def _stall(self, key: GroupQueueKey, run: tuple[int, int, int] | None) -> Iterator[OffsetEvent]:
        if run is None or run[2] - run[1] < STALLED_MS:
            return
        offset, begin, end_ms = run
        end = self.ends.at(key[1], key[2], end_ms)
        if end is None or end <= offset:
            return
        near = self._pulls.touching(key, begin, end_ms)
        pulls = [each for each in near if begin <= each.line.at_ms <= end_ms]
        offline_ms = self.record.offline_since(key[0], end_ms)
        cause = (
            f"pulls went on to {max(each.line.after or 0 for each in pulls)}: the message at {offset} is not finished"
            if pulls
            else "not told"
            if offline_ms is None
            else "no consumer of the group was connected"
            if offline_ms <= begin
            else f"no consumer of the group was connected since {utc_text(offline_ms)}"
        )
        reason = (
            None if pulls or offline_ms is not None else "no line shows whether a consumer owned the queue and pulled"
        )
        by, evidence = pulls[-1].line.by if pulls else None, f"tables of {begin} and {end_ms}"
        cause = f"{cause}; {end - offset} messages waited at the end of that time"
        found = moved(key, MoveKind.STALLED, (offset, offset), (begin, end_ms), cause, evidence, by)
        yield found.doubted(reason, certain=True)


class _Clones:
    """Which groups had the same offsets on every queue of a topic in a table: what a clone of a group leaves."""

    def __init__(self, table: SavedTable) -> None:
        self._groups: dict[str, list[tuple[str, Mapping[int, int]]]] = {}
        for (group, topic), queues in sorted(table.offsets.items()):
            self._groups.setdefault(topic, []).append((group, queues))

    def of(self, key: GroupQueueKey, new: SavedTable) -> str:
        """The words for a group's offset in a newer table; empty where no group had the same."""
        own = new.offsets.get(key[:2])
        same = [group for group, queues in self._groups.get(key[1], ()) if group != key[0] and queues == own]
        return f"; the offsets are those that {', '.join(same[:3])} had, as a clone leaves them" if same else ""
