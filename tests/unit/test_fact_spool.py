"""Facts through files: what is read back of a group is what was put in, in its order, whatever else was spooled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from pipelines.spark.jobs import fact_spool
from pipelines.spark.jobs.fact_spool import COMMON, FactSpool, facts_by_group
from rebalance import facts as facts_package
from rebalance.facts import Evidence, Fact, RouteSeen, UnreadRecord
from tests.support.fixtures import GOLDEN
from tests.support.generate_sessions import generate_group
from tests.support.groups import split_by_group
from tests.support.rebalance_sessions import wire_facts
from tests.support.session_logs import log_facts

KINDS = [
    kind
    for kind in (getattr(facts_package, name) for name in facts_package.__all__)
    if isinstance(kind, type) and issubclass(kind, Fact) and kind is not Fact
]


def through_files(facts: Iterable[Fact], folder: Path, buckets: int = 3) -> tuple[list[Fact], dict[str, list[Fact]]]:
    """The facts about no group, and those of each group, as they come back."""
    spool = FactSpool(folder, "one", buckets)
    for fact in facts:
        spool.add(fact)
    files = spool.close()
    back: dict[int, dict[str, list[Fact]]] = {
        bucket: dict(facts_by_group(file.path for file in files if file.bucket == bucket))
        for bucket in {file.bucket for file in files}
    }
    common = back.pop(COMMON, {}).get("", [])
    return common, {group: own for groups in back.values() for group, own in groups.items()}


def values(hint: Any) -> Iterator[Any]:
    """Values of a declared type, the awkward ones among them."""
    if hint is int:
        yield from (0, -1, 1 << 62, 10**30)
    elif hint is str:
        yield from ("", "cg_ö", '"quoted"\n', "half \ud83d of a pair")
    elif hint is bool:
        yield from (True, False)
    elif get_origin(hint) is tuple:
        part = list(values(get_args(hint)[0]))
        yield from ((), tuple(part), tuple(part[:1]))
    elif isinstance(hint, type) and issubclass(hint, tuple):
        of_parts = [list(values(part)) for part in get_type_hints(hint).values()]
        yield from (hint(*(part[turn % len(part)] for part in of_parts)) for turn in range(4))
    elif hint is type(None):
        yield None
    else:
        yield from (value for part in get_args(hint) for value in values(part))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_fact_comes_back(kind: type[Fact], tmp_path: Path) -> None:
    hints = get_type_hints(kind)
    told = {field.name: list(values(hints[field.name])) for field in fields(kind)}
    facts = [kind(**{name: some[turn % len(some)] for name, some in told.items()}) for turn in range(24)]
    assert through_files(facts, tmp_path) == split_by_group(facts)


@pytest.mark.parametrize("session", sorted((GOLDEN / "rebalance" / "sessions").iterdir()), ids=lambda path: path.name)
def test_a_recorded_session_comes_back(session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_spool, "HELD_FACTS", 100)  # many small batches, with dictionaries of their own
    facts = wire_facts(session) + log_facts(session)
    assert through_files(facts, tmp_path) == split_by_group(facts)


def test_groups_that_mix_come_apart(tmp_path: Path) -> None:
    played = [generate_group(f"g{number}", clients=3, queues=4).facts for number in range(5)]
    mixed = sorted((fact for facts in played for fact in facts), key=lambda fact: fact.at_ms)
    _, groups = through_files(mixed, tmp_path)
    assert sorted(groups) == [f"g{number}" for number in range(5)]
    assert groups == split_by_group(mixed)[1]


def test_equal_values_are_one_object(tmp_path: Path) -> None:
    _, groups = through_files(generate_group("g", clients=3, queues=4).facts, tmp_path)
    lists = [fact.client_ids for fact in groups["g"] if isinstance(fact, facts_package.ConsumerListAnswered)]
    assert len({id(ids) for ids in lists}) == len(set(lists)) < len(lists)


def test_a_spool_without_facts_has_no_files(tmp_path: Path) -> None:
    assert FactSpool(tmp_path, "none", 2).close() == []
    assert list(facts_by_group([])) == []


def test_facts_about_no_group_keep_their_order(tmp_path: Path) -> None:
    facts: list[Fact] = [
        UnreadRecord(at_ms=5, source="b", reason="cut", evidence=Evidence("f", 1)),
        RouteSeen(at_ms=3, source="b", topic="t", queues=()),
        UnreadRecord(at_ms=4, source="b", reason="cut", evidence=Evidence("f", 2)),
    ]
    assert through_files(facts, tmp_path) == (facts, {})
