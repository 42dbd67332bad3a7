"""Who owned which queue, when: a timeline per group, and its disorders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pipelines.report.drawn import svg
from pipelines.report.drawn.figures import counted
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Row, Section, State, texts

COLOURS = tuple(f"c{number}" for number in range(1, 9))
MOST_ROWS = 60
MEANINGS = {
    "double_owner": "two clients surely owned the queue at once, for a second or more; both may have consumed messages",
    "orphan": "nobody owned the queue for five seconds or more though the group had members; its messages waited",
    "silent_owner": "the owner showed no sign of life; nobody consumed the queue",
    "flapping": "the same clients took the queue from each other four times or more within a minute",
    "lock_stall": "a client was refused the queue's lock for five seconds or more; an ordered queue stands still then",
    "lock_late": "a client had the queue's lock and pulled nothing until it asked for its locks again (before 4.9.5)",
    "commit_rollback": "a client committed an offset below the one that was stored",
    "offset_rewind": "a new owner began below what was committed before; messages were consumed again",
    "subscriptions_differ": "members subscribed to unlike topics or tags; what one alone asks for is passed over",
    "offset_skip": "a new owner began beyond what was committed before; messages in between were not consumed",
}
"""Kind of an anomaly -> what it is, for who reads of it the first time."""
TICKS, FINE_TICKS = 7, 5
DAY_S = 86_400


def ownership_section(facts: Facts) -> Section:
    """One timeline for each group; anomalies as a table, and one of when and why nothing is certain."""
    title = "Who owned which queue"
    if facts.intervals is None:
        return Section("ownership", title, "No broker logs, client logs or captures were given.", "unknown")
    groups = list(dict.fromkeys(row["group"] for row in facts.intervals))
    charts = [
        svg.titled(group, timeline_of([row for row in facts.intervals if row["group"] == group])) for group in groups
    ]
    anomalies = facts.anomalies or []
    owned = "The record tells of no group that owned a queue"
    if groups:
        intervals = counted(len(facts.intervals), "ownership interval")
        owned = f"{intervals} of {counted(len(groups), 'group')}{_between(facts.intervals)}"
    verdict = f"{owned}, {counted(len(anomalies), 'disorder')}." if groups or anomalies else f"{owned}."
    columns = [
        *texts("kind", "group", "topic", "broker"),
        QUEUE,
        Column("begin_at", "from"),
        Column("end_at", "to"),
        *texts("clients"),
        Column("cause", "cause", blank=True),
    ]
    names = short_names({row["client_id"] for row in facts.intervals})
    rows = [
        {**row, "clients": [names.get(c, c) for c in row["clients"] or ()], "cause": in_short(row["cause"], names)}
        for row in anomalies
    ]
    tables = [PrintedTable(columns, rows, "Disorders")] if anomalies else []
    if facts.ownership_notes:
        why = texts("group", "kind", "subject", "detail")
        tables.append(PrintedTable(why, facts.ownership_notes, "Where not all of it is certain"))
    kinds = dict.fromkeys(row["kind"] for row in anomalies)
    remarks = [f"{kind}: {MEANINGS[kind]}." for kind in kinds if kind in MEANINGS]
    state: State = "finding" if anomalies else "good" if groups else "unknown"
    return Section("ownership", title, verdict, state, charts, tables, remarks)


def short_names(client_ids: Iterable[str]) -> Mapping[str, str]:
    """Client ids up to the `#`, address@process id, where these differ as the whole ids do."""
    short = {client: client.partition("#")[0] for client in client_ids}
    return short if len(set(short.values())) == len(short) else {client: client for client in short}


def in_short(cause: str | None, names: Mapping[str, str]) -> str | None:
    """A cause with the short names of its clients."""
    if not cause or not names:
        return cause
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: names[found[0]], cause)


def timeline_of(intervals: Sequence[Row]) -> str:
    """Queues downwards, time to the right; solid where certain, pale and hatched where only possible."""
    known = [t for row in intervals for t in _instants(row)]
    if not known:
        return ""
    first, last = min(known), max(known)
    owners = list(dict.fromkeys(row["client_id"] for row in intervals))
    colours = {owner: COLOURS[number % len(COLOURS)] for number, owner in enumerate(owners)}
    spans = [_span(row, first, last) for row in intervals]
    kept = set(list(dict.fromkeys(span.row for span in spans))[:MOST_ROWS])
    return svg.timeline([span for span in spans if span.row in kept], ticks_of(first, last), colours)


def _between(intervals: Sequence[Row]) -> str:
    known = [t for row in intervals for t in _instants(row)]
    if not known:
        return ""
    first, last = (datetime.fromtimestamp(at, UTC) for at in (min(known), max(known)))
    return f" from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} UTC"


def _instants(row: Row) -> list[float]:
    names = ("begin_earliest", "begin_latest", "end_earliest", "end_latest")
    return [_seconds(row[name]) for name in names if row[name] is not None]


def _seconds(instant: datetime) -> float:
    return instant.timestamp()


def _span(row: Mapping[str, Any], first: float, last: float) -> svg.Span:
    def at(name: str, otherwise: float) -> float:
        return otherwise if row[name] is None else _seconds(row[name])

    return svg.Span(
        row=f"{row['topic']} · {row['broker']} {row['queue_id']}",
        earliest=at("begin_earliest", first),
        sure_from=at("begin_latest", last),
        sure_to=at("end_earliest", last),
        latest=at("end_latest", last),
        owner=row["client_id"],
        title=f"{row['client_id']}: {row['cause'] or 'cause unknown'}",
    )


def ticks_of(first: float, last: float) -> list[svg.Tick]:
    """Evenly from the first instant to the last, epoch seconds; fewer where their texts have milliseconds."""
    ticks = TICKS if last - first >= TICKS - 1 else FINE_TICKS
    step = (last - first) / (ticks - 1) or 1
    instants = [first + step * number for number in range(ticks)]
    return [svg.Tick(at, _clock(at, last - first)) for at in instants]


def _clock(at: float, span: float) -> str:
    """An instant as finely as tells it from the other ticks of so many seconds."""
    if span >= DAY_S:
        return f"{datetime.fromtimestamp(at, UTC):%m-%d %H:%M}"
    if span >= TICKS - 1:
        return f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"
    return f"{datetime.fromtimestamp(round(at, 3), UTC):%H:%M:%S.%f}"[:-3]
