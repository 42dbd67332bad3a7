"""Each consumer group of a store as a row of the table `group_lives`: is it alive, and what is lost without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from parsers.values.utc import utc
from pipelines.answers.offsets.record import OffsetRecord, Presence
from pipelines.lake.tables.lives import GROUP_LIVES
from recovery.lives.group_life import GroupLeft, GroupState, Seen, judge_group

NOT_THERE = Seen()


def seen_of(record: OffsetRecord | None, group: str) -> Seen:
    """What the logs of the broker show of a group's consumers where they end: before the broker's last stop."""
    if record is None or not record.covered:
        return NOT_THERE
    logged_until_ms = max(end for _, end in record.covered)
    last_boot = max(record.boots, default=0)
    end_ms = min((at - 1 for at in record.stops if at > last_boot), default=logged_until_ms)
    if record.is_offline(group, end_ms, end_ms):
        spans = record.presence.get(group, Presence()).absences(record.boots, end_ms)
        return Seen(False, spans[-1][0] if spans else None, end_ms, logged_until_ms)
    if group in record.presence and record.presence[group].is_somebody(end_ms):
        return Seen(True, None, end_ms, logged_until_ms)
    return Seen(None, None, end_ms, logged_until_ms)


def group_rows(
    left: Iterable[GroupLeft], record: OffsetRecord | None, *, broker: str | None = None
) -> Iterator[dict[str, Any]]:
    """Rows of the table `group_lives`; `record`: what the logs of the broker say, None without any."""
    for one in left:
        seen = seen_of(record, one.group)
        verdict = judge_group(one, seen)
        yield GROUP_LIVES.row(
            one,
            verdict,
            broker=broker,
            absent_since=None if verdict.state is GroupState.CONNECTED else utc(seen.since_ms),
            unordered_topics=None if one.unordered_topics is None else list(one.unordered_topics),
            seen_until=utc(seen.until_ms),
            offsets_unchanged_since=utc(one.unchanged_since_ms),
        )
