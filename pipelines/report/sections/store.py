"""What is in the store, do its files agree, who is behind."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence, Set

from pipelines.report.drawn import svg
from pipelines.report.drawn.figures import counted, grouped, in_bytes
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Row, Section, numbers, texts, with_notes
from recovery.query.lag import tells_of_pops

REGION_COLOURS = {"messages": "c1", "blank": "quiet", "unwritten": "hatch", "damage": "bad"}
MOST_BARS = 16


def contents_section(facts: Facts) -> Section:
    """Bytes by what they are, messages by topic, queues, files."""
    charts = []
    if facts.regions:
        charts.append(svg.strip(_shares(facts.regions)))
    if facts.topics:
        charts.append(
            svg.bars([svg.Bar(row["topic"], row["messages"], _amount(row)) for row in _largest(facts.topics)])
        )
    damaged = [row for row in facts.regions or () if row["kind"] == "damage"]
    return Section(
        "contents",
        "What is in the store",
        _contents_verdict(facts, damaged),
        "finding" if damaged or facts.unread else "unknown" if None in (facts.regions, facts.topics) else "good",
        charts,
        [*_damage_table(damaged, facts.findings), *_queue_table(facts.queues), _file_table(facts.files)],
        [*facts.unread, *(f"not understood, left out: {name}" for name in facts.left_out)],
    )


def _contents_verdict(facts: Facts, damaged: Sequence[Row]) -> str:
    if facts.topics is None or facts.regions is None:
        return "The CommitLog could not be read; what follows comes from the other files."
    total = sum(row["length"] for row in facts.regions)
    messages = grouped(sum(row["messages"] for row in facts.topics))
    words = f"{messages} messages of {counted(len(facts.topics), 'topic')} in {in_bytes(total)} of CommitLog"
    if not damaged:
        return f"{words}. Every byte is a message, padding, or not written yet."
    return (
        f"{words}. {grouped(sum(r['length'] for r in damaged))} bytes are damaged ({counted(len(damaged), 'range')})."
    )


def _shares(regions: Sequence[Row]) -> list[svg.Part]:
    totals: Counter[str] = Counter()
    for row in regions:
        totals[row["kind"]] += row["length"]
    return [svg.Part(kind, size, REGION_COLOURS.get(kind, "c5"), in_bytes(size)) for kind, size in totals.most_common()]


def _largest(topics: Sequence[Row]) -> list[Row]:
    return sorted(topics, key=lambda row: -row["messages"])[:MOST_BARS]


def _amount(row: Row) -> str:
    return f"{grouped(row['messages'])} messages, {in_bytes(row['bytes'])}"


def _damage_table(damaged: Sequence[Row], findings: Sequence[Row] | None) -> list[PrintedTable]:
    """Each damaged range with the repair of the finding that begins there."""
    repairs = {(row["place"], row["begin"]): row["repair"] for row in findings or ()}
    rows = [{**row, "repair": repairs.get((row["file"], row["file_pos"]))} for row in damaged]
    columns = [
        *texts("file"),
        Column("file_pos", "from byte", True),
        Column("length", "bytes", True),
        Column("reason", "reason", blank=True),
        Column("repair", "what puts it right", blank=True, advises=True),
    ]
    return [PrintedTable(columns, rows, "Damaged ranges")] if damaged else []


def _queue_table(queues: Sequence[Row] | None) -> list[PrintedTable]:
    if queues is None:
        return []
    columns = [
        *texts("topic"),
        QUEUE,
        Column("min_queue_offset", "minimum", True),
        Column("max_queue_offset", "maximum", True),
        *numbers("messages", "files"),
    ]
    return [PrintedTable(columns, queues, "Queues, as the broker would report them")]


def _file_table(files: Sequence[Row]) -> PrintedTable:
    """Files by kind; `abort` by its name: only `abort` itself tells of a crash, `abort.bak` stays behind.

    Source: DefaultMessageStore#createTempFile @5.0.0.
    """
    kinds: dict[str, list[int]] = defaultdict(list)
    for row in files:
        kinds[row["file"] if row["kind"] == "abort" else row["kind"]].append(row["size"])
    rows = [{"kind": k, "files": len(sizes), "bytes": sum(sizes)} for k, sizes in sorted(kinds.items())]
    return PrintedTable([Column("kind", "kind of file"), *numbers("files", "bytes")], rows, "Files")


def agreement_section(facts: Facts) -> Section:
    """Findings first; what looks odd but is not follows."""
    title = "Do CommitLog, ConsumeQueue and index agree"
    if facts.findings is None:
        return Section("agreement", title, "Not compared.", "unknown")
    explained = [
        f"odd, but in order: {row['what']}: {row['why']} ({row['place'] or 'the store'})"
        for row in facts.explained or ()
    ]
    if not facts.findings:
        return Section("agreement", title, "They agree: no finding.", "good", remarks=explained)
    columns = [
        *texts("severity", "kind", "place"),
        Column("begin", "from", True),
        Column("end", "to", True),
        Column("evidence", "evidence", blank=True),
        Column("repair", "what puts it right", blank=True, advises=True),
    ]
    verdict = f"{counted(len(facts.findings), 'disagreement')}, worst first; what each kind means is said below."
    remarks = [*dict.fromkeys(map(_meaning, facts.findings)), *explained]
    return Section(
        "agreement", title, verdict, "finding", tables=[PrintedTable(columns, facts.findings)], remarks=remarks
    )


def _meaning(finding: Row) -> str:
    """What a kind of finding means, and what a start would do about it."""
    told = json.loads(finding["document"])
    return f"{finding['kind']}: {told['why']} At a start: {told['broker_would']}"


def lag_section(facts: Facts) -> Section:
    """Per group and topic as a picture, per queue as a table."""
    title = "How far behind are the consumers"
    if facts.lag is None:
        return Section("lag", title, "No consumer offsets were found, so lag is unknown.", "unknown")
    columns = [
        *texts("group", "topic"),
        QUEUE,
        *numbers("broker_offset", "consumer_offset", "messages_behind", "seconds_behind"),
        Column("reason", "reason", blank=True),
    ]
    behind = [row for row in facts.lag if row["messages_behind"] != 0]
    rows, notes = with_notes(sorted(behind, key=lambda row: -(row["messages_behind"] or 0)))
    return Section(
        "lag",
        title,
        _lag_verdict(facts.lag, behind, {(row["group"], row["topic"]) for row in facts.pops or ()}),
        "plain" if behind else "good",
        [svg.bars(_lag_bars(facts.lag))] if behind else [],
        [PrintedTable(columns, rows)] if rows else [],
        notes,
    )


def _lag_verdict(lag: Sequence[Row], behind: Sequence[Row], popped_at_all: Set[tuple[str, str]]) -> str:
    """`popped_at_all`: group and topic of whatever the log has a checkpoint of; lag looks at the newest ones only."""
    at_end = [row for row in lag if row["messages_behind"] == 0]
    popped = sum(tells_of_pops(row["reason"]) or (row["group"], row["topic"]) in popped_at_all for row in at_end)
    unknown = sum(1 for row in lag if row["messages_behind"] is None or row["seconds_behind"] is None)
    read = len(lag) - len(behind) - popped
    waiting = [row["messages_behind"] for row in behind if (row["messages_behind"] or 0) > 0]
    words = f"{counted(sum(waiting), 'message')} behind on {counted(len(waiting), 'queue')}; " if waiting else ""
    words += f"{read} of {counted(len(lag), 'queue')} of all groups are proven to be read to the end"
    if popped:
        words += f"; {grouped(popped)} more are popped to the end, acknowledged or not"
    return f"{words}; of {unknown} a figure is unknown." if unknown else f"{words}."


def _lag_bars(lag: Sequence[Row]) -> list[svg.Bar]:
    totals: dict[str, int | None] = {}
    for row in lag:
        name, number = f"{row['group']} · {row['topic']}", row["messages_behind"]
        before = totals.get(name, 0)
        totals[name] = None if number is None or before is None else before + max(0, number)
    ordered = sorted(totals.items(), key=lambda pair: -(pair[1] or 0))
    return [
        svg.Bar(name, number, "unknown" if number is None else grouped(number), "c2")
        for name, number in ordered
        if number != 0
    ][:MOST_BARS]
