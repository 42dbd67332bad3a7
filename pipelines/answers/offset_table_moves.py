"""Movements that saved copies of a broker's table show, and no line explains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipelines.answers.offset_ends import Ends
from pipelines.answers.offset_event import OffsetEvent, SavedTable, differences, key_of
from pipelines.answers.offset_log_moves import BEYOND_END
from pipelines.answers.offset_record import GroupQueueKey, OffsetRecord
from rebalance.readers.logs.offset_lines import LineKind
from recovery.query.move_kind import MoveKind

STALLED_MS = 60_000
LEFT_LIFE = "a life of the topic that has left the log could explain it"
BY_TABLES = "by the saved tables alone"
SET_OFFLINE = (
    "set while no consumer of the group was connected: by an admin's tool, or by a client that does not register"
)


@dataclass(slots=True)
class TableMoves:
    """The changes of one broker's table; `events`: what lines have told."""

    record: OffsetRecord
    copies: Sequence[SavedTable]
    ends: Ends
    events: Sequence[OffsetEvent]

    def changes(self) -> Iterator[OffsetEvent]:
        """What neighbouring tables show and no line explains; an offset that goes forward was consumed, mostly."""
        for old, new in pairwise(self.copies):
            for where in sorted(old.offsets.keys() | new.offsets.keys()):
                before, after = old.offsets.get(where, {}), new.offsets.get(where, {})
                for queue_id in sorted(before.keys() | after.keys()):
                    pair = before.get(queue_id), after.get(queue_id)
                    if pair[0] != pair[1]:
                        yield from self._change((*where, queue_id), pair, old, new)

    def _change(
        self, key: GroupQueueKey, pair: tuple[int | None, int | None], old: SavedTable, new: SavedTable
    ) -> Iterator[OffsetEvent]:
        (before, after), from_ms, until_ms = pair, old.written_ms, new.written_ms
        if any(event.is_about(key, from_ms, until_ms) and event.explains(before, after) for event in self.events):
            return
        offline = self.record.is_offline(key[0], from_ms, until_ms)
        clone = self._clone_of(key, old, new)
        most = None if after is None else self._most(key, until_ms)
        skipped, repeated = differences(before, after)
        cause, reason = "not told", BY_TABLES
        if after is None:
            kind, cause = MoveKind.REMOVED, "the broker dropped it: its topic or group was deleted"
        elif before is not None and after < before:
            kind, reason = MoveKind.MOVED_BACK, f"{BY_TABLES}: at least so many come again"
        elif most is not None and after > most and self.ends.may_have_one_life(key[1]):
            kind, cause = MoveKind.MOVED_FORWARD, f"set by hand: beyond the queue's end, which was {most} at most"
            skipped = None
            reason = "" if self.ends.has_whole_log else LEFT_LIFE
        elif offline:
            kind = MoveKind.FIRST_OFFSET if before is None else MoveKind.MOVED_FORWARD
            cause, reason = f"{SET_OFFLINE}{clone}", ""
        elif before is None and clone:
            kind, cause = MoveKind.FIRST_OFFSET, f"not told{clone}"
            reason = "a consumer of the group may have read them"
        else:
            return
        yield OffsetEvent(
            *key,
            kind,
            before,
            after,
            skipped,
            repeated,
            from_ms if old.dated else None,
            until_ms,
            None,
            cause,
            certain=not reason,
            reason=reason or None,
            evidence=f"tables of {from_ms} and {until_ms}",
        )

    def set_beyond_end(self) -> Iterator[OffsetEvent]:
        """Offsets that a correction shows beyond the end, that no saved table has, and that nothing else explains."""
        for event in self.events:
            if event.kind is not MoveKind.CORRECTED or event.cause != BEYOND_END or event.queue_id is None:
                continue
            key, at_ms = (event.group, event.topic, event.queue_id), event.earliest_ms or 0
            saved = [c for c in self.copies if c.written_ms <= at_ms and key[2] in c.offsets.get(key[:2], {})]
            before = saved[-1].offsets[key[:2]][key[2]] if saved else None
            known = [other for other in self.events if other is not event and other.after == event.before]
            is_told = any(other.is_about(key, at_ms, event.latest_ms or at_ms) for other in known)
            if before is None or before == event.before or is_told or not self.ends.may_have_one_life(key[1]):
                continue
            yield OffsetEvent(
                *key,
                MoveKind.MOVED_FORWARD,
                before,
                event.before,
                None,
                0,
                saved[-1].written_ms,
                event.latest_ms,
                None,
                "set by hand: beyond the queue's end, as the next pull showed",
                certain=self.ends.has_whole_log,
                reason=None if self.ends.has_whole_log else LEFT_LIFE,
                evidence=f"table of {saved[-1].written_ms}; {event.evidence}",
            )

    def _most(self, key: GroupQueueKey, at_ms: int) -> int | None:
        """The most that the queue's maximum can have been at an instant."""
        then = self.ends.at(key[1], key[2], at_ms)
        return self.ends.now(key[1], key[2]) if then is None else then

    def _clone_of(self, key: GroupQueueKey, old: SavedTable, new: SavedTable) -> str:
        """Another group that had the same offsets on every queue of the topic before: what a clone leaves."""
        own = new.offsets.get(key[:2])
        same = [g for (g, t), queues in sorted(old.offsets.items()) if t == key[1] and g != key[0] and queues == own]
        return f"; the offsets are those that {', '.join(same[:3])} had, as a clone leaves them" if same else ""

    def stalls(self) -> Iterator[OffsetEvent]:
        """Offsets that stood still for STALLED_MS and more while the queue had messages behind them."""
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
        pulls = [
            s for s in self.record.of(LineKind.FLOW_CONTROL) if key_of(s) == key and begin <= s.line.at_ms <= end_ms
        ]
        offline = self.record.is_offline(key[0], begin, end_ms)
        cause = (
            f"pulls went on to {max(each.line.after or 0 for each in pulls)}: the message at {offset} is not finished"
            if pulls
            else "no consumer of the group was connected"
            if offline
            else "not told"
        )
        reason = None if pulls or offline else "no line shows whether a consumer owned the queue and pulled"
        yield OffsetEvent(
            *key,
            MoveKind.STALLED,
            offset,
            offset,
            0,
            0,
            begin,
            end_ms,
            pulls[-1].line.by if pulls else None,
            f"{cause}; {end - offset} messages waited at the end of that time",
            certain=True,
            reason=reason,
            evidence=f"tables of {begin} and {end_ms}",
        )
