"""Replicas of real groups compared, against what their lab noted, their own classes, and numpy on the same bytes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from recovery.compare.comparison import Comparison, Pair
from recovery.compare.logs.history import Relation
from recovery.compare.replica import Mode
from tests.support.replicas import compared, group, records_of, whole_log
from tests.support.stores import group_names, truth

PAIRS = group_names("ha-clean", "ha-behind", "ha-ahead", "autoswitch")
DLEDGER = group_names("dledger3")
RELATIONS = {
    "ha-clean": {Relation.LEVEL},
    "ha-behind": {Relation.LEFT_LONGER},
    "ha-ahead": {Relation.RIGHT_LONGER},
    "autoswitch": {Relation.DIVERGED},
}
KEPT = {"ha-clean": ("master", "slave"), "ha-behind": ("master",), "ha-ahead": ("slave",), "autoswitch": ()}


def kind(name: str) -> str:
    return name.partition("-")[2]


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_is_told_as_its_lab_noted_it(name: str) -> None:
    comparison, noted = compared(group(name)), truth(name, "pair.json")
    (pair,) = comparison.pairs
    assert {pair.history.relation} == RELATIONS[kind(name)]
    assert pair.history.compared_from == noted["comparedFrom"]
    assert pair.history.common_prefix_end == pair.history.agreed_until == noted["commonPrefixEnd"]
    assert {f"store-{member.name}": member.log_end for member in comparison.members} == noted["recoveredMaxPhy"]
    assert {f"store-{member.name}": member.log_begin for member in comparison.members} == noted["firstFile"]
    assert pair.altered == ()
    assert comparison.mode is (Mode.CONTROLLER if kind(name) == "autoswitch" else Mode.CLASSIC)


@pytest.mark.parametrize("name", PAIRS)
def test_the_prefix_is_that_of_the_bytes(name: str) -> None:
    (pair,) = compared(group(name)).pairs
    begin, end = pair.history.compared_from, pair.history.common_prefix_end
    assert begin is not None
    assert end is not None
    last = max(pair.left.log_end or 0, pair.right.log_end or 0)
    (left, in_left), (right, in_right) = (whole_log(root, last) for root in group(name).values())
    both = in_left & in_right
    assert int(np.argmax(both)) == begin
    assert both[begin:end].all()
    assert np.array_equal(left[begin:end], right[begin:end])
    if end < last:
        behind = ~both[end:] | (left[end:] != right[end:])
        assert int(np.argmax(behind)) < 1024
        assert behind.any()


@pytest.mark.parametrize("name", PAIRS)
def test_what_each_has_alone_is_what_its_broker_had(name: str) -> None:
    (pair,) = compared(group(name)).pairs
    for member, other in ((pair.left, pair.right), (pair.right, pair.left)):
        side, agreed = pair.side(member.name), pair.history.agreed_until or 0
        wanted = list(records_of(name, member.name, agreed, member.log_end or 0))
        assert side.tail.records == len(wanted)
        if wanted:
            assert (side.tail.begin, side.tail.end) == (wanted[0][0], sum(wanted[-1]))
        begins = other.log_begin or 0
        assert side.head.records == len(list(records_of(name, member.name, 0, begins)))


@pytest.mark.parametrize("name", PAIRS)
def test_the_replica_to_keep_has_every_byte_of_the_others_messages(name: str) -> None:
    roots = group(name)
    comparison = compared(roots)
    assert comparison.advice.keep == KEPT[kind(name)]
    assert comparison.advice.decided == bool(comparison.advice.keep)
    ends = {member.name: member.log_end or 0 for member in comparison.members}
    for kept in comparison.advice.keep:
        held, there = whole_log(roots[kept], max(ends.values()))
        for other in roots:
            data, _ = whole_log(roots[other], max(ends.values()))
            for at, size in records_of(name, other, 0, ends[other]):
                if there[at] or other == kept:
                    assert np.array_equal(held[at : at + size], data[at : at + size])


@pytest.mark.parametrize("name", group_names("autoswitch"))
def test_epochs_say_what_a_slave_cuts(name: str) -> None:
    comparison = compared(group(name))
    (pair,) = comparison.pairs
    steps = truth(name, "pair.json")["steps"]
    shared = max(step["epoch"] for step in steps[:2])
    point = min(
        entry["endOffset"]
        for epochs in (steps[-1]["epochs1"], steps[-1]["epochs2"])
        for entry in epochs
        if entry["epoch"] == shared
    )
    for cut in pair.cuts:
        end = next(member.log_end for member in comparison.members if member.name == cut.slave)
        assert cut.consistent_point == point
        assert cut.is_aligned
        assert cut.records == len(list(records_of(name, cut.slave, point, end or 0)))
    newest = str(steps[-1]["master"])
    assert comparison.election.best == (newest,)
    assert set(comparison.election.candidates.values()) == {None}


@pytest.mark.parametrize("name", DLEDGER)
def test_a_dledger_group_is_told_entry_by_entry(name: str) -> None:
    comparison, noted = compared(group(name)), truth(name, "pair.json")
    first, position = noted["firstDifferingIndex"], noted["entryOfCutOff"][2]
    assert comparison.mode is Mode.DLEDGER
    for member in comparison.members:
        entries = truth(f"{name}/{member.name}", "dledger.json")["entries"]
        told = [(index, run.term) for run in member.terms for index in range(run.first_index, run.last_index + 1)]
        assert told == [(index, term) for index, term, *_ in entries]
        assert [run.begin for run in member.terms] == [
            entry[2]
            for before, entry in zip([None, *entries], entries, strict=False)
            if not before or before[1] != entry[1]
        ]
    for pair in comparison.pairs:
        names = {pair.left.name, pair.right.name}
        if noted["cutOff"] not in names:
            assert pair.history.relation is Relation.LEVEL
            continue
        assert pair.history.relation is Relation.DIVERGED
        assert pair.history.common_prefix_end == position
        assert pair.first is not None
        terms = next(field for field in pair.first.fields if field.field == "term")
        other = next(iter(names - {noted["cutOff"]}))
        assert terms.values[noted["cutOff"]] == str(noted["entryOfCutOff"][1])
        assert terms.values[other] == str(noted["entryOfOthers"][1])
        entries = truth(f"{name}/{noted['cutOff']}", "dledger.json")["entries"]
        assert pair.side(noted["cutOff"]).tail.records == sum(entry[0] >= first for entry in entries)


@pytest.mark.parametrize("name", DLEDGER)
def test_the_leader_that_was_elected_can_be_elected(name: str) -> None:
    noted, roots = truth(name, "pair.json"), group(name)
    others = tuple(sorted(set(roots) - {noted["cutOff"]}))
    comparison = compared(roots, group_size=len(roots))
    assert noted["lastLeader"] in others
    assert {member for member, wins in comparison.election.candidates.items() if wins} == set(others)
    assert comparison.advice.keep == others
    assert comparison.election.unknown == ""


@pytest.mark.parametrize("name", DLEDGER)
def test_a_group_of_unknown_size_leaves_it_open(name: str) -> None:
    comparison = compared(group(name))
    assert set(comparison.election.candidates.values()) == {None}
    assert "--group-size" in comparison.election.unknown
    assert not comparison.advice.decided
    assert set(comparison.election.best) == set(group(name)) - {truth(name, "pair.json")["cutOff"]}


@pytest.mark.parametrize("name", DLEDGER)
def test_too_few_nodes_of_a_group_leave_it_open(name: str) -> None:
    cut_off = truth(name, "pair.json")["cutOff"]
    roots = group(name)
    other = next(member for member in roots if member != cut_off)
    comparison = compared({member: roots[member] for member in (cut_off, other)}, group_size=5)
    assert set(comparison.election.candidates.values()) == {None}
    assert not comparison.advice.decided
    (member,) = (each for each in comparison.members if each.name == cut_off)
    noted = truth(name, "pair.json")["firstDifferingIndex"]
    assert member.beyond_committed == truth(f"{name}/{cut_off}", "dledger.json")["entries"][-1][0] - (noted - 1)


@pytest.mark.parametrize("name", [*PAIRS, *DLEDGER])
def test_the_answer_is_the_same_the_other_way_round(name: str) -> None:
    roots = group(name)
    forth, back = compared(roots), compared(dict(reversed(roots.items())))
    assert sorted(forth.advice.keep) == sorted(back.advice.keep)
    for left, right in combinations(roots, 2):
        one, other = _pair(forth, left, right), _pair(back, right, left)
        assert one.history.agreed_until == other.history.agreed_until
        assert one.history.common_prefix_end == other.history.common_prefix_end
        assert one.history.left == other.history.right
        assert one.history.right == other.history.left


def _pair(comparison: Comparison, left: str, right: str) -> Pair:
    return next(pair for pair in comparison.pairs if (pair.left.name, pair.right.name) == (left, right))
