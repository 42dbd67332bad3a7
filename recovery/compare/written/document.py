"""A comparison as one JSON document: the conclusion first, then what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from recovery.compare.comparison import Comparison, Member, Pair
from recovery.compare.cost import Cost
from recovery.compare.logs.history import Side
from recovery.compare.logs.own_messages import OwnMessages
from recovery.compare.logs.record_difference import RecordDifference
from recovery.compare.written.summary import summary

FIGURES = ("repeated", "lost_unread", "lost_read", "skipped", "beyond_end")

Document = dict[str, Any]


def document_of(comparison: Comparison) -> Document:
    """Everything but the single values that differ, which are counted: those are `rows.rows_of`."""
    advice, election = comparison.advice, comparison.election
    return {
        "mode": comparison.mode.value,
        "conclusion": advice.conclusion,
        "keep": list(advice.keep),
        "steps": list(advice.steps),
        "warnings": list(advice.warnings),
        "election": {
            "rule": election.rule,
            "can_win": dict(election.candidates),
            "best": list(election.best),
            "compared": {name: standing._asdict() for name, standing in election.standings.items()},
            "group_size": election.group_size,
            "unknown": election.unknown or None,
        },
        "replicas": list(map(_replica, comparison.members)),
        "pairs": list(map(_pair, comparison.pairs)),
        "costs_by_group": list(by_group(comparison.costs)),
        "costs": [asdict(cost) for cost in comparison.costs],
    }


def by_group(costs: Iterable[Cost]) -> Iterator[Document]:
    """The costs of each group, added up; None where one of them is not known."""
    groups: dict[tuple[str, str, str], list[Cost]] = {}
    for cost in costs:
        groups.setdefault((cost.keep, cost.instead_of, cost.group), []).append(cost)
    for (keep, instead_of, group), rows in sorted(groups.items()):
        totals = {name: _total([getattr(row, name) for row in rows]) for name in FIGURES}
        yield {"keep": keep, "instead_of": instead_of, "group": group, "queues": len(rows), **totals}


def _total(figures: list[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if len(known) == len(figures) else None


def _replica(member: Member) -> Document:
    epochs = member.replica.epochs
    return {
        "name": member.name,
        "store": str(member.replica.store.root),
        "log_begin": member.log_begin,
        "log_end": member.log_end,
        "abort_present": member.abort_present,
        "offsets_written_ms": member.tables.offsets_written_ms,
        "epochs": None if epochs is None else [asdict(epoch) for epoch in epochs],
        "terms": [asdict(run) for run in member.terms],
        "committed_index": member.committed_index,
        "entries_alone_unknown": member.beyond_committed,
    }


def _pair(pair: Pair) -> Document:
    history = pair.history
    return {
        "left": pair.left.name,
        "right": pair.right.name,
        "relation": history.relation.value,
        "summary": summary(pair),
        "compared_from": history.compared_from,
        "common_prefix_end": history.common_prefix_end,
        "agreed_until": history.agreed_until,
        "cut_short": history.cut_short,
        "left_only": _side(history.left),
        "right_only": _side(history.right),
        "first_difference": None if pair.first is None else _record(pair.first),
        "altered": list(map(_record, pair.altered)),
        "cuts": [asdict(cut) for cut in pair.cuts],
        "differences": dict(Counter(each.subject for each in pair.differences)),
    }


def _side(side: Side) -> Document:
    return {
        "before": _own(side.head),
        "inside": _own(side.inside),
        "behind": _own(side.tail),
        "holes": [hole._asdict() for hole in side.holes],
    }


def _own(own: OwnMessages) -> Document:
    return {
        "records": own.records,
        "messages": own.messages,
        "begin": own.begin,
        "end": own.end,
        "first_ms": own.first_ms,
        "last_ms": own.last_ms,
        "queues": [
            {"topic": topic, "queue_id": queue_id, **asdict(share)}
            for (topic, queue_id), share in sorted(own.queues.items())
        ],
    }


def _record(record: RecordDifference) -> Document:
    return {
        "begin": record.begin,
        "end": record.end,
        "states": dict(record.states),
        "wrong": list(record.wrong),
        "decided_by": record.decided_by,
        "fields": [{"field": each.field, "at": each.at, "values": dict(each.values)} for each in record.fields],
    }
