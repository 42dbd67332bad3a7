"""One night on one page: lag, owners, incidents, disorders, findings and lines of logs on one time axis."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from parsers.store.store import Store
from pipelines.notebook.cluster import Cluster
from pipelines.recordings.recordings import Recording, facts_of
from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.drawn.svg import Lane, Mark, lanes
from pipelines.report.facts.model import Column, PrintedTable, Row, Section, State
from pipelines.report.facts.store import with_instants
from pipelines.report.sections.ownership import COLOURS, in_short, short_names, ticks_of
from rebalance.readers.logs.lines.reader import LogEvent
from recovery.scan.log_access import LogAccess

BUCKETS = 140
MOST_QUEUES, MOST_LOGS, QUEUES_NAMED = 24, 12, 6
LAG_HEIGHT = 64
EVENTS = [
    Column("begin_at", "no earlier than"),
    Column("end_at", "no later than"),
    Column("kind", "what happened"),
    Column("subject", "to whom"),
    Column("detail", "seen as", blank=True),
]


@dataclass(frozen=True, slots=True)
class Night:
    """What is laid on the axis.

    Attributes:
        lag: rows of `lag` at each moment at which offsets were kept; None: no store was given.
        findings: rows of `verify`, with `at`: when the record at their place was stored, None where none says it.
    """

    cluster: Cluster
    lag: Sequence[Row] | None
    findings: Sequence[Row]

    def section(self) -> Section:
        """Who was furthest behind and what had happened before; the picture; everything that happened, in order."""
        owned = [with_instants(asdict(row)) for row in self.cluster.replay.intervals]
        names = short_names(row["client_id"] for row in owned)
        owners = [{**row, "owner": names[row["client_id"]], "cause": in_short(row["cause"], names)} for row in owned]
        happened = self._happened(names)
        worst = furthest_behind(self.lag or ())
        state: State = "finding" if worst or self.findings or self.cluster.replay.anomalies else "good"
        remarks = [] if self.lag is not None else ["No store was given: lag and findings are not known."]
        return Section(
            "night",
            "One night",
            _told(worst, owners, happened) if worst else _without_lag(self.lag, happened),
            state,
            [picture] if (picture := self._picture(owners, happened)) else [],
            [PrintedTable(EVENTS, happened, "What happened, in order")],
            remarks,
        )

    def _happened(self, names: Mapping[str, str]) -> list[Row]:
        """Incidents, disorders and findings by the time at which they began."""
        rows: list[Row] = []
        for row in self.cluster.replay.incidents:
            rows.append({**_timed(asdict(row), row.earliest_ms, row.latest_ms), "lane": "clients and brokers"})
        for each in self.cluster.replay.anomalies:
            told = with_instants(asdict(each))
            queue = f"{each.topic} {each.broker} {each.queue_id}"
            cause = in_short(each.cause, names)
            rows.append({**told, "subject": queue, "detail": cause, "lane": "disorders"})
        for found in self.findings:
            told = {"kind": found["kind"], "subject": found["place"], "detail": found["severity"]}
            rows.append({**told, "begin_at": found["at"], "end_at": found["at"], "lane": "findings"})
        return sorted(rows, key=lambda row: (row["begin_at"] is None, row["begin_at"] or 0))

    def _picture(self, owners: Sequence[Row], happened: Sequence[Row]) -> str:
        instants = [at for row in (*owners, *happened) for name, at in row.items() if isinstance(at, datetime)]
        instants += [row["at"] for row in self.lag or ()]
        if not instants:
            return ""
        first, last = min(instants).timestamp(), max(instants).timestamp()
        colours = {name: COLOURS[n % len(COLOURS)] for n, name in enumerate(dict.fromkeys(r["owner"] for r in owners))}
        rows = [
            *_lag_lanes(self.lag or (), last),
            *_owner_lanes(owners, colours, first, last),
            *(_event_lane(name, happened) for name in dict.fromkeys(row["lane"] for row in happened)),
            *_log_lanes(self.cluster, first, last),
        ]
        return lanes(rows, ticks_of(first, last), colours)


def placed(store: Store, findings: Iterable[Row]) -> list[Row]:
    """Findings with `at`: the store time of the record at their physical offset, None where there is no such record."""
    log = LogAccess(store.commitlog)
    return [{**found, "at": _stored_at(log, json.loads(found["document"]))} for found in findings]


def _stored_at(log: LogAccess, document: Mapping[str, Any]) -> datetime | None:
    offset = (document.get("span") or {}).get("physical_offset")
    message = None if offset is None else log.message(offset)
    return None if message is None else datetime.fromtimestamp(message.store_timestamp_ms / 1000, UTC)


def _timed(row: Row, from_ms: int, to_ms: int) -> Row:
    return with_instants({**row, "from_ms": from_ms, "to_ms": to_ms})


@dataclass(frozen=True, slots=True)
class Furthest:
    """The moment at which a group was furthest behind, and how it came to that.

    Attributes:
        since, before: the last moment before it from which the lag only grew, and the messages behind then.
        queues: rows of the lag at `at`, of the queues that were at least half as far behind as the furthest one.
    """

    group: str
    at: datetime
    messages: int
    since: datetime
    before: int
    queues: Sequence[Row]


def furthest_behind(lag: Sequence[Row]) -> Furthest | None:
    """The highest lag of any group at a moment at which all of its queues are known; None where nobody was behind."""
    sums: dict[tuple[str, datetime], int | None] = {}
    for row in lag:
        key, behind = (row["group"], row["at"]), row["messages_behind"]
        sums[key] = None if behind is None or sums.get(key, 0) is None else (sums.get(key) or 0) + behind
    known = {key: behind for key, behind in sums.items() if behind}
    if not known:
        return None
    (group, at), most = max(known.items(), key=lambda pair: pair[1])
    since, before = at, most
    for then in sorted((then for name, then in sums if name == group and then < at), reverse=True):
        behind = sums[group, then]
        if behind is None or behind >= before:
            break
        since, before = then, behind
    queues = [row for row in lag if (row["group"], row["at"]) == (group, at)]
    largest = max(row["messages_behind"] for row in queues)
    return Furthest(group, at, most, since, before, [row for row in queues if 2 * row["messages_behind"] >= largest])


def _told(worst: Furthest, owners: Sequence[Row], happened: Sequence[Row]) -> str:
    queues = [f"{row['topic']} {row['queue_id']} ({row['messages_behind']})" for row in worst.queues]
    more = f" and {len(queues) - QUEUES_NAMED} more" if len(queues) > QUEUES_NAMED else ""
    words = (
        f"{worst.group} was furthest behind at {worst.at:%H:%M:%S}: {counted(worst.messages, 'message')}, furthest in"
        f" {', '.join(queues[:QUEUES_NAMED])}{more}."
    )
    places = {(row["topic"], row["queue_id"]) for row in worst.queues}
    then = [row for row in owners if (row["topic"], row["queue_id"]) in places and _surely_at(row, worst.at)]
    begun: dict[tuple[str, str | None], datetime] = {}
    for row in (row for row in then if row["group"] == worst.group):
        key = row["owner"], row["cause"]
        begun[key] = min(begun.get(key, row["begin_latest"]), row["begin_latest"])
    for (owner, cause), at in begun.items():
        words += f" {owner} had taken them by {at:%H:%M:%S}, after {cause or 'an unknown cause'}."
    if worst.since < worst.at:
        during = [
            f"{row['kind']} {row['subject'].partition('#')[0]}"
            for row in happened
            if _overlaps(row, worst.since, worst.at)
        ]
        told = "; ".join(during) or "nothing is told"
        words += f" The lag grew from {worst.before} at {worst.since:%H:%M:%S} on; meanwhile: {told}."
    return words


def _overlaps(row: Row, since: datetime, until: datetime) -> bool:
    return row["begin_at"] is not None and row["begin_at"] <= until and (row["end_at"] or row["begin_at"]) >= since


def _surely_at(row: Row, at: datetime) -> bool:
    begin, end = row["begin_latest"], row["end_earliest"]
    return begin is not None and begin <= at and (end is None or end > at)


def _without_lag(lag: Sequence[Row] | None, happened: Sequence[Row]) -> str:
    behind = "How far behind anybody was is not known" if not lag else "Nobody was behind"
    return f"{behind}; {counted(len(happened), 'thing')} happened."


def _lag_lanes(lag: Sequence[Row], last: float) -> list[Lane]:
    """A bar for each moment of a group until the next one; hatched where a queue's figure is unknown."""
    moments: dict[str, dict[datetime, list[int | None]]] = defaultdict(lambda: defaultdict(list))
    for row in lag:
        moments[row["group"]][row["at"]].append(row["messages_behind"])
    found = []
    for group, by_time in moments.items():
        times = sorted(by_time)
        sums = {at: sum(b or 0 for b in by_time[at]) for at in times if None not in by_time[at]}
        most = max(sums.values(), default=0) or 1
        marks = []
        for at, until in zip(times, [*(t.timestamp() for t in times[1:]), last], strict=True):
            behind = sums.get(at)
            told = "unknown" if behind is None else f"{grouped(behind)} messages behind"
            share = 1.0 if behind is None else behind / most
            marks.append(
                Mark(at.timestamp(), until, "hatch" if behind is None else "bad", f"{at:%H:%M:%S} {told}", share)
            )
        found.append(Lane(f"{group} · up to {grouped(most)} behind", marks, LAG_HEIGHT))
    return found


def _owner_lanes(owners: Sequence[Row], colours: Mapping[str, str], first: float, last: float) -> list[Lane]:
    """A lane for each queue; pale where an owner is only possible."""
    marks: dict[str, list[Mark]] = defaultdict(list)
    for row in owners:
        begin, sure, ended, end = (
            otherwise if row[name] is None else row[name].timestamp()
            for name, otherwise in (
                ("begin_earliest", first),
                ("begin_latest", last),
                ("end_earliest", last),
                ("end_latest", last),
            )
        )
        colour, title = colours[row["owner"]], f"{row['owner']}: {row['cause'] or 'cause unknown'}"
        lane = marks[f"{row['topic']} · {row['broker']} {row['queue_id']}"]
        lane.append(Mark(begin, end, f"{colour} maybe", title))
        if ended > sure:
            lane.append(Mark(sure, ended, colour, title))
    return [Lane(label, found) for label, found in list(marks.items())[:MOST_QUEUES]]


def _event_lane(name: str, happened: Sequence[Row]) -> Lane:
    rows = [row for row in happened if row["lane"] == name and row["begin_at"] is not None]
    colour = "c1" if name == "clients and brokers" else "bad"
    return Lane(
        name,
        [
            Mark(
                row["begin_at"].timestamp(),
                (row["end_at"] or row["begin_at"]).timestamp(),
                colour,
                f"{row['begin_at']:%H:%M:%S} {row['kind']} {row['subject']}: {row['detail'] or ''}",
            )
            for row in rows
        ],
    )


def _log_lanes(cluster: Cluster, first: float, last: float) -> list[Lane]:
    """How many known lines each log has in each stretch of time, and of which kinds."""
    wide = (last - first) / BUCKETS or 1
    found: dict[str, dict[int, Counter[str]]] = {}
    for recording in [one for one in cluster.recordings if one.kind == "log"][:MOST_LOGS]:
        found[f"lines of {recording.source}"] = _lines_by_stretch(recording, first, wide)
    lanes_of_logs = []
    for label, kinds in found.items():
        inside = {number: counts for number, counts in kinds.items() if 0 <= number <= BUCKETS}
        most = max((counts.total() for counts in inside.values()), default=1)
        marks = [
            Mark(first + n * wide, first + (n + 1) * wide, "quiet", _kinds(counts), counts.total() / most)
            for n, counts in sorted(inside.items())
        ]
        lanes_of_logs.append(Lane(label, marks))
    return lanes_of_logs


def _lines_by_stretch(recording: Recording, first: float, wide: float) -> dict[int, Counter[str]]:
    """Kinds of lines, counted for each stretch of `wide` seconds from `first` on."""
    kinds: dict[int, Counter[str]] = defaultdict(Counter)

    def count(event: LogEvent) -> None:
        kinds[int((event.at_ms / 1000 - first) // wide)].update([event.template.name])

    for _ in facts_of(recording, _told_already, count):
        pass
    return kinds


def _kinds(counts: Counter[str]) -> str:
    named = ", ".join(f"{number} {kind}" for kind, number in counts.most_common(5))
    return f"{counted(counts.total(), 'line')}: {named}{', …' if len(counts) > 5 else ''}"


def _told_already(sentence: str) -> None:
    """Reading the recordings has reported it."""
