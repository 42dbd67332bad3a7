"""`compare`: what it prints, how it ends, and that its rows are those of the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

import rocketlens as rl
from pipelines.lake.tables.judgements import REPLICA_DIFFERENCES
from recovery.compare.written.kinds import Nature, What
from tests.support.cli import call
from tests.support.replicas import copy_of, flip, group
from tests.support.stores import group_names

GROUPS = group_names("ha-clean", "ha-behind", "ha-ahead", "autoswitch", "dledger3")


@pytest.fixture(scope="module")
def roots() -> list[Path]:
    return list(group("5.3.3-ha-ahead").values())


def test_one_document_with_the_conclusion(roots: list[Path]) -> None:
    called = call("compare", *roots)
    assert called.code == 1
    document = json.loads(called.out)
    assert document["keep"] == ["store-slave"]
    assert [pair["relation"] for pair in document["pairs"]] == ["right_longer"]
    assert {row["group"] for row in document["costs_by_group"]} == {"SG"}


def test_a_long_name_of_a_replica_does_not_run_into_what_is_said_of_it(roots: list[Path], tmp_path: Path) -> None:
    named = [tmp_path / f"a-store-of-a-long-name-{number}" for number in (1, 2)]
    for link, root in zip(named, roots, strict=True):
        link.symlink_to(root)
    lines = call("compare", *named, "--format", "table").out.decode().splitlines()
    assert any(line.startswith(f"{named[0].name}  bytes ") for line in lines), lines


def test_words_say_first_what_to_keep(roots: list[Path]) -> None:
    lines = call("compare", *roots, "--format", "table").out.decode().splitlines()
    assert lines[0].startswith("keep")
    assert "store-slave has every message" in lines[0]
    assert max(map(len, lines)) <= 120
    assert {"Do", "Mind", "Logs", "Only in one", "What it costs each group"} <= set(lines)


@pytest.mark.parametrize("name", GROUPS)
def test_rows_are_those_of_the_table(name: str) -> None:
    called = call("compare", *group(name).values(), "--rows")
    assert called.code == (0 if "clean" in name else 1)
    assert called.rows
    for row in called.rows:
        assert set(row) == set(REPLICA_DIFFERENCES.bare_schema.names)
        assert row["what"] in get_args(What)
        assert row["nature"] in get_args(Nature)
    assert {row["what"] for row in called.rows} >= {"log"}


@pytest.mark.parametrize("name", GROUPS)
def test_a_document_and_words_for_every_group(name: str) -> None:
    document = json.loads(call("compare", *group(name).values(), "--group-size", 3).out)
    assert len(document["replicas"]) == len(group(name))
    assert call("compare", *group(name).values(), "--format", "table").out


def test_level_stores_of_which_one_was_altered_end_with_1(tmp_path: Path) -> None:
    stores = group("5.3.3-ha-clean")
    assert call("compare", *stores.values()).code == 0
    copy = copy_of(stores["slave"], tmp_path / "copy")
    flip(copy, 16)
    called = call("compare", stores["master"], copy)
    assert called.code == 1
    (told,) = json.loads(called.out)["pairs"][0]["altered"]
    assert [field["field"] for field in told["fields"]] == ["flag"]


def test_less_than_two_stores_are_wrong_usage(roots: list[Path], tmp_path: Path) -> None:
    assert call("compare", roots[0]).code == 2
    assert "two stores" in call("compare", roots[0]).err
    assert call("compare", roots[0], tmp_path).code == 3
    assert call("compare", roots[0], tmp_path / "none").code == 3


def test_stores_of_one_name_are_told_apart(tmp_path: Path) -> None:
    stores = [copy_of(root, tmp_path / name / "store") for name, root in group("5.3.3-ha-behind").items()]
    document = json.loads(call("compare", *stores).out)
    assert [replica["name"] for replica in document["replicas"]] == ["master/store", "slave/store"]


def test_the_door_gives_the_same(roots: list[Path]) -> None:
    compared = rl.compare(roots)
    assert compared["keep"] == ["store-slave"]
    assert compared.document == json.loads(call("compare", *roots).out)
    assert compared.differences().to_pylist() == [
        {name: row[name] for name in REPLICA_DIFFERENCES.bare_schema.names}
        for row in call("compare", *roots, "--rows").rows
    ]
    with pytest.raises(rl.RocketlensError):
        rl.compare(roots[:1])
