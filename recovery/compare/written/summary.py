"""How two logs stand to each other, in a sentence."""

from __future__ import annotations

from recovery.compare.comparison import Pair
from recovery.compare.logs.history import Relation


def summary(pair: Pair) -> str:
    """How two logs stand to each other, in a sentence without a full stop."""
    left, right, history = pair.left.name, pair.right.name, pair.history
    if history.compared_from is None:
        return "no byte of the log is in both"
    if history.relation is Relation.NOTHING_SHARED:
        return f"both have bytes from {history.compared_from} on, and no record of them is the same"
    agreed = f"the same records from byte {history.compared_from} to {history.agreed_until or history.compared_from}"
    longer = {Relation.LEFT_LONGER: (left, right), Relation.RIGHT_LONGER: (right, left)}.get(history.relation)
    if longer:
        return f"{agreed}; {longer[0]} goes on, {longer[1]} ends there: {_why_shorter(pair, longer[1])}"
    said = {
        Relation.LEVEL: "both end there",
        Relation.DIVERGED: "behind that both have messages of their own: two histories",
        Relation.ALTERED_AT_END: "behind that one record, which differs in a single bit: one copy was altered",
        Relation.UNREADABLE: "behind that one has bytes that are no record of its log",
    }
    return f"{agreed}; {said[history.relation]}"


def _why_shorter(pair: Pair, name: str) -> str:
    member = pair.left if pair.left.name == name else pair.right
    tail = pair.side(name).tail
    strange = "; behind its end lie bytes that are no record of its log" if tail.stale else ""
    cut = " (inside a record, which it had not received whole)" if pair.history.cut_short else strange
    if member.abort_present:
        return f"it was still copying, or its last stop was not in order and what was not on disk is gone{cut}"
    return f"it was still copying, or was stopped first{cut}"
