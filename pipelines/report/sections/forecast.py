"""What a start of this broker would do, and which files retention would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.answers import losses
from pipelines.report.drawn import svg
from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Section, State, numbers, texts, with_notes


def forecast_section(facts: Facts, *, losses_shown: int = 30) -> Section:
    """Load, truncation, re-dispatch, loss (none listed with `losses_shown` 0); the rules with their evidence; what
    stays unknown."""
    title = "If this broker were started now"
    document = facts.forecast
    if document is None:
        return Section("forecast", title, "No forecast was made.", "unknown")
    lossy = losses.loses(document)
    is_bad = losses.starts(document) is False or lossy or losses.missing(document)
    state: State = "finding" if is_bad else "unknown" if lossy is None else "good"
    lost, notes = _loss_table(document["lost"], losses_shown)
    tables = [_facts_table(document), *lost, *_remedies_table(document["advice"]), *_rules_table(document["reasons"])]
    others = [_other(other, document) for other in document["otherwise"]]
    unknown = [f"Unknown: {entry['what']} – {entry['why']}" for entry in document["unknown"]]
    return Section("forecast", title, _verdict(document), state, tables=tables, remarks=[*notes, *others, *unknown])


def _other(other: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """What a start by other versions, which the store may be of, would do."""
    versions, told = f"Version {', '.join(other['holds_for'])}", _verdict(other)
    if told == _verdict(document):
        return f"{versions} would come to the same on another way: `rocketlens forecast --version {other['version']}`."
    return f"{versions} would end otherwise: {told}"


def loss_section(document: Mapping[str, Any], *, shown: int = 30) -> Section:
    """What is lost for good, message by message."""
    lost = document["lost"]
    tables, notes = _loss_table(lost, shown)
    told, state = losses.all_lost(document), losses.loses(document)
    if state is None:
        return Section("lost", "What is lost", "What would be lost is not known.", "unknown")
    verdict = f"A start would lose {told}." if state else "Nothing would be lost."
    return Section("lost", "What is lost", verdict, "finding" if state else "good", tables=tables, remarks=notes)


def _verdict(document: Mapping[str, Any]) -> str:
    exit_ = f"The last exit was {document['exit']}"
    if document["load"]["ok"] is None:
        return f"{exit_}. What a start would do, and what it would lose, is not known."
    if not document["load"]["ok"]:
        return (
            f"{exit_}; load() would fail: {document['load']['error'] or 'reason unknown'}. The broker would not start."
        )
    if losses.starts(document) is False:
        return f"{exit_}; the store would load and the broker not come up: {document['start']['error']}."
    log = document["commitlog"]
    again = document["redispatched_messages"]
    end = f"the log would end at {_number(log['max_physical_offset'])}"
    if again is None:
        return f"{exit_}; {end}. What would be dispatched again, and what lost, is not known."
    lost = losses.all_lost(document)
    told = (
        "what would be lost is not known" if lost == "not known" else f"lost by it: {losses.lost_or_nothing(document)}"
    )
    facts = [exit_, f"{end}, {_number(again)} messages would be dispatched again, {told}", *losses.missing(document)]
    return f"{'; '.join(facts)}."


def _number(value: int | None) -> str:
    return "an unknown number of" if value is None else grouped(value)


def _facts_table(document: Mapping[str, Any]) -> PrintedTable:
    log = document["commitlog"]
    rows = [
        {"what": "RocketMQ version", "value": document["version"]},
        {"what": "CommitLog after recovery, first byte", "value": log["min_physical_offset"]},
        {"what": "CommitLog after recovery, end", "value": log["max_physical_offset"]},
        {"what": "CommitLog files deleted", "value": ", ".join(log["files_deleted"]) or "none"},
        {"what": "Dispatch starts again at", "value": document["dispatch_from"]},
        {"what": "Messages dispatched again", "value": document["redispatched_messages"]},
    ]
    return PrintedTable([Column("what", "decided by the start"), Column("value", "answer")], rows)


def _loss_table(lost: Sequence[Mapping[str, Any]], shown: int) -> tuple[list[PrintedTable], list[str]]:
    """The first losses and the notes that stand for their reasons; nothing when nothing is lost or to be shown."""
    columns = [
        *texts("what", "topic"),
        QUEUE,
        *numbers("queue_offset", "physical_offset"),
        Column("reason", "reason", blank=True),
    ]
    if not lost or not shown:
        return [], []
    rows, notes = with_notes(lost)
    return [PrintedTable(columns, rows, "Lost for good", shown=shown)], notes


def _remedies_table(advice: Sequence[Mapping[str, Any]]) -> list[PrintedTable]:
    """The repairs that were played, and what each would lose."""
    columns = [
        Column("do", "do", advises=True),
        Column("evidence", "because", blank=True, advises=True),
        Column("lost", "then lost", blank=True),
        Column("costs", "it costs", blank=True),
    ]
    rows = [{**each, "lost": _lost_then(each["then"])} for each in advice]
    return [PrintedTable(columns, rows, "What would lose less")] if rows else []


def _lost_then(then: Mapping[str, Any] | None) -> str | None:
    return None if then is None else losses.lost_then(then) or "nothing"


def _rules_table(reasons: Sequence[Mapping[str, Any]]) -> list[PrintedTable]:
    columns = [*texts("rule", "source"), Column("evidence", "evidence", blank=True)]
    return [PrintedTable(columns, reasons, "Why: each rule with its evidence")] if reasons else []


def retention_section(facts: Facts) -> Section:
    """Per group and queue, when its oldest unread message is due to be deleted."""
    title = "When will unread messages be deleted"
    risk = facts.retention_risk
    if risk is None:
        return Section("retention", title, "Not known: no consumer offsets were found.", "unknown")
    waiting = [row for row in risk if row["status"] != "zero"]
    gone = sum(row["deleted_unread"] or 0 for row in risk)
    if not waiting:
        return Section("retention", title, "No group has unread messages that could be deleted.", "good")
    columns = [
        *texts("group", "topic"),
        QUEUE,
        Column("unread_messages", "unread", True),
        Column("due_at", "oldest is deleted at"),
        *numbers("deleted_unread"),
        Column("reason", "reason", blank=True),
    ]
    ordered = sorted(waiting, key=lambda row: (row["due_at"] is None, row["due_at"] or 0))
    verdict = f"{counted(len(waiting), 'queue')} of some group may hold unread messages{_first_due(ordered[0])}" + (
        f"; {grouped(gone)} messages were already deleted unread." if gone else "; none was deleted unread so far."
    )
    rows, notes = with_notes(ordered)
    charts = [svg.bars(_due_bars(ordered))] if any(row["unread_messages"] for row in ordered) else []
    state: State = "finding" if gone else "plain"
    return Section("retention", title, verdict, state, charts, [PrintedTable(columns, rows)], notes)


def _first_due(row: Mapping[str, Any]) -> str:
    """When the first of all unread messages is deleted, where that is known."""
    return "" if row["due_at"] is None else f", the first of which is deleted at {row['due_at']:%Y-%m-%d %H:%M:%S}"


def _due_bars(rows: Sequence[Mapping[str, Any]]) -> list[svg.Bar]:
    return [
        svg.Bar(
            f"{row['group']} · {row['topic']}/{row['queue_id']}",
            row["unread_messages"],
            "unknown" if row["unread_messages"] is None else f"{grouped(row['unread_messages'])} unread",
            "c4",
        )
        for row in rows[:16]
    ]
