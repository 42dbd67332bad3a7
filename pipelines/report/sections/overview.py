"""The brokers of a lake beside each other, the one that needs a look first."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.answers.verdicts import SEVERITIES, BrokerVerdict
from pipelines.report.drawn.figures import counted, grouped, in_bytes
from pipelines.report.facts.model import Column, Figure, Link, PrintedTable, Row, Section, State

COLUMNS = (
    Column("broker", "broker"),
    Column("verdict", "verdict"),
    Column("worst", "worst finding", blank=True),
    Column("findings", "findings", True),
    Column("lost", "lost by a start"),
    Column("behind", "messages behind", True),
    Column("seconds", "seconds behind", True),
    Column("disk", "disk", True),
    Column("also", "also to look at", blank=True),
    Column("next", "ask next", blank=True),
)
WORDS: dict[State, str] = {"finding": "look at it", "unknown": "not known", "good": "in order", "plain": "behind"}


def anchor_of(number: int) -> str:
    """The address of a broker's part in the page."""
    return f"broker-{number}"


def state_of(verdict: BrokerVerdict) -> State:
    """finding: files disagree, are missing, or a start loses something; unknown: one of these was not looked at."""
    if verdict.findings or verdict.starts is False or verdict.loses or verdict.lacks_files:
        return "finding"
    if verdict.findings is None or verdict.loses is None:
        return "unknown"
    return "plain" if verdict.messages_behind or verdict.queues_unknown else "good"


def overview_section(
    verdicts: Sequence[BrokerVerdict], also: Sequence[str | None] | None = None, *, linked: bool = True
) -> Section:
    """One row for each broker, worst first.

    Args:
        also: what else of each broker's store asks for a look.
        linked: a broker's name leads to its part of the page.
    """
    numbered = sorted(enumerate(verdicts), key=lambda pair: (rank_of(pair[1]), pair[0]))
    rows = [
        {**_row(number if linked else None, verdict), "also": also[number] if also else None}
        for number, verdict in numbered
    ]
    worst = [verdict for verdict in verdicts if state_of(verdict) == "finding"]
    unknown = [verdict for verdict in verdicts if state_of(verdict) == "unknown"]
    words = f"{counted(len(verdicts), 'broker')}: {grouped(len(worst)) if worst else 'none'} to look at"
    return Section(
        "brokers",
        "The brokers",
        f"{words}, {grouped(len(unknown))} not known." if unknown else f"{words}.",
        "finding" if worst else "unknown" if unknown else "good",
        tables=[PrintedTable(COLUMNS, rows, shown=len(rows))],
    )


def lake_figures(verdicts: Sequence[BrokerVerdict]) -> list[Figure]:
    """The first screen of a page about several brokers."""
    unread = sum(1 for each in verdicts if each.findings is None)
    findings = [each.findings for each in verdicts if each.findings is not None]
    lost = [each.lost for each in verdicts if each.lost is not None]
    behind = [each.messages_behind for each in verdicts if each.messages_behind is not None]
    disk = [each.disk_bytes for each in verdicts if each.disk_bytes is not None]
    of_all = f"of {counted(len(verdicts), 'broker')}"
    return [
        Figure("Brokers", grouped(len(verdicts)), f"{unread} were not read" if unread else "all were read"),
        Figure(
            "Findings",
            grouped(sum(findings)) if findings else None,
            f"files that disagree, known of {len(findings)} {of_all}" if unread else "files that disagree",
            "finding" if sum(findings) else "unknown" if unread else "good",
        ),
        Figure(
            "Lost by a start now",
            grouped(sum(lost)) if lost else None,
            f"messages, {f'known of {len(lost)} ' if len(lost) < len(verdicts) else ''}{of_all}",
            "finding" if any(each.loses for each in verdicts) else "good" if len(lost) == len(verdicts) else "unknown",
        ),
        Figure("Messages behind", grouped(sum(behind)) if behind else None, f"known of {len(behind)} {of_all}"),
        Figure("On disk", in_bytes(sum(disk)) if disk else None, "files of the stores"),
    ]


def rank_of(verdict: BrokerVerdict) -> tuple[int, int, int]:
    """By which brokers are ordered, the worst first."""
    order: tuple[State, ...] = ("finding", "unknown", "plain", "good")
    severity = SEVERITIES.index(verdict.worst["severity"]) if verdict.worst else len(SEVERITIES)
    return order.index(state_of(verdict)), severity, -(verdict.lost or 0)


def _behind(verdict: BrokerVerdict) -> int | str | None:
    known, unknown = verdict.messages_behind, verdict.unknown_queues
    return known if unknown is None else unknown if known is None else f"{grouped(known)}, {unknown}"


def _row(number: int | None, verdict: BrokerVerdict) -> Row:
    worst = verdict.worst
    return {
        "broker": verdict.broker if number is None else Link(verdict.broker, f"#{anchor_of(number)}"),
        "verdict": WORDS[state_of(verdict)],
        "worst": None if worst is None else f"{worst['severity']} {worst['kind']}",
        "findings": verdict.findings,
        "lost": "no start" if verdict.starts is False else verdict.lost_in_words,
        "behind": _behind(verdict),
        "seconds": verdict.seconds_behind,
        "disk": None if verdict.disk_bytes is None else in_bytes(verdict.disk_bytes),
        "next": None if verdict.next_command is None else " ".join(verdict.next_command.split(" ")[:2]),
    }
