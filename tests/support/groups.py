"""Facts by group, for replays of their own."""

from __future__ import annotations

from collections.abc import Iterable

from rebalance.facts import Fact, GroupFact


def split_by_group(facts: Iterable[Fact]) -> tuple[list[Fact], dict[str, list[Fact]]]:
    """What is said of brokers and topics, which goes to every group; and each group's own facts, in order."""
    common: list[Fact] = []
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        if isinstance(fact, GroupFact):
            groups.setdefault(fact.group, []).append(fact)
        else:
            common.append(fact)
    return common, {group: groups[group] for group in sorted(groups)}
