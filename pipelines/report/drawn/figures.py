"""The first screen: six numbers, each with what makes it worth a look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.answers import losses
from pipelines.report.facts.model import Facts, Figure, Row


def figures_of(facts: Facts) -> list[Figure]:
    """Cards in the order a reader asks: how much, is it whole, do files agree, who is behind, what would a start do."""
    return [
        _messages(facts.topics),
        _damage(facts.regions),
        _findings(facts.findings),
        _behind(facts.lag),
        _loss(facts.forecast),
        _owners(facts),
    ]


def grouped(number: float) -> str:
    """A number with thin spaces between thousands."""
    return f"{number:,.0f}".replace(",", "\u202f")


def counted(number: int, noun: str) -> str:
    """`1 range`, `2 ranges`."""
    return f"{grouped(number)} {noun}" + ("" if number == 1 else "s")


def in_bytes(size: float) -> str:
    """`3.2 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _messages(topics: Sequence[Row] | None) -> Figure:
    if topics is None:
        return Figure("Messages in the CommitLog", None, "the log was not read", "unknown")
    return Figure(
        "Messages in the CommitLog", grouped(sum(row["messages"] for row in topics)), counted(len(topics), "topic")
    )


def _damage(regions: Sequence[Row] | None) -> Figure:
    if regions is None:
        return Figure("Damaged bytes", None, "the log was not read", "unknown")
    damaged = [row for row in regions if row["kind"] == "damage"]
    if not damaged:
        return Figure("Damaged bytes", "0", "every byte is accounted for", "good")
    return Figure(
        "Damaged bytes", grouped(sum(row["length"] for row in damaged)), counted(len(damaged), "range"), "finding"
    )


def _findings(findings: Sequence[Row] | None) -> Figure:
    if findings is None:
        return Figure("Disagreements between files", None, "not compared", "unknown")
    if not findings:
        return Figure("Disagreements between files", "0", "CommitLog, ConsumeQueue and index agree", "good")
    kinds = len({row["kind"] for row in findings})
    return Figure("Disagreements between files", grouped(len(findings)), counted(kinds, "kind"), "finding")


def _behind(lag: Sequence[Row] | None) -> Figure:
    if lag is None:
        return Figure("Messages behind", None, "no consumer offsets were read", "unknown")
    known = [row["messages_behind"] for row in lag if row["messages_behind"] is not None]
    unknown = len(lag) - len(known)
    note = counted(len({row["group"] for row in lag}), "group")
    note += f", {counted(unknown, 'queue')} unknown" if unknown else ""
    return Figure("Messages behind", grouped(sum(max(0, n) for n in known)), note)


def _loss(forecast: Mapping[str, Any] | None) -> Figure:
    title = "Lost by a start now"
    if forecast is None:
        return Figure(title, None, "no forecast: the version is not known", "unknown")
    comes_up, lost = losses.starts(forecast), sum(filter(None, forecast["lost_counts"].values()))
    if comes_up is False:
        why = "load() would fail" if not forecast["load"]["ok"] else "load() ends, and the broker does not come up"
        return Figure(title, "no start", why, "finding")
    if comes_up is None or losses.loses(forecast) is None:
        return Figure(title, None, "not decided: see the forecast", "unknown")
    if not losses.loses(forecast):
        return Figure(title, "0", "nothing", "good")
    return Figure(title, grouped(lost) if lost else "settings", losses.all_lost(forecast), "finding")


def _owners(facts: Facts) -> Figure:
    if facts.anomalies is None:
        return Figure("Ownership disorders", None, "no logs or captures were given", "unknown")
    count = len(facts.anomalies)
    return Figure(
        "Ownership disorders",
        grouped(count),
        "as the section on ownership lists them" if count else "none",
        "finding" if count else "good",
    )
