"""[[replicas]] of rocketlens.toml: what is read from it, and the table that is made of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.ingest.derive import write_replica_differences
from pipelines.lake.configuration.sources import SourcesError, read_sources
from pipelines.lake.lake import Lake
from pipelines.report.facts.lake import facts_of_lake
from pipelines.report.facts.model import Facts
from pipelines.report.render import render
from pipelines.report.sections.replicas import replica_section
from recovery.compare.written.rows import as_dicts
from tests.support.replicas import compared, group
from tests.support.stores import group_names

TWO = '[[broker]]\nname = "a"\nstore = "s"\n[[broker]]\nname = "b"\nstore = "t"\n'


def written(folder: Path, roots: dict[str, Path], group_size: int | None = None) -> Path:
    path = folder / "rocketlens.toml"
    brokers = [f'[[broker]]\nname = "{name}"\nstore = {json.dumps(str(root))}\n' for name, root in roots.items()]
    size = "" if group_size is None else f"group_size = {group_size}\n"
    path.write_text(f"{''.join(brokers)}[[replicas]]\nbrokers = {json.dumps(list(roots))}\n{size}")
    return path


@pytest.mark.parametrize("name", group_names("ha-behind", "dledger3"))
def test_the_table_holds_what_the_comparison_gives(name: str, tmp_path: Path) -> None:
    roots, lake = group(name), Lake(tmp_path / "lake")
    rows, problems = write_replica_differences(lake, read_sources(written(tmp_path, roots, 3)))
    assert problems == []
    told = lake.query("SELECT * FROM replica_differences").to_pylist()
    expected = list(as_dicts(compared(roots, group_size=3)))
    assert len(told) == rows == len(expected) > 0
    assert sorted(map(str, told)) == sorted(str({key: row[key] for key in told[0]}) for row in expected)


@pytest.mark.parametrize(("name", "state"), [("5.3.3-ha-clean", "good"), ("5.3.3-autoswitch", "finding")])
def test_the_report_of_a_lake_tells_how_they_stand(name: str, state: str, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    sources = read_sources(written(tmp_path, group(name)))
    write_replica_differences(lake, sources)
    rows = lake.query("SELECT * FROM replica_differences").to_pylist()
    section = replica_section(Facts("lake", 0, replicas=rows))
    assert section is not None
    assert section.state == state
    assert compared(group(name)).pairs[0].history.relation.value in section.verdict
    assert 'id="replicas"' in render(facts_of_lake(lake, sources))
    assert 'id="replicas"' not in render(facts_of_lake(Lake(tmp_path / "other"), sources))


def test_replicas_that_are_not_there_are_named_and_keep_no_other_out(tmp_path: Path) -> None:
    path = written(tmp_path, group("5.3.3-ha-behind"))
    more = '[[broker]]\nname = "gone"\nstore = "nowhere"\n[[replicas]]\nbrokers = ["master", "gone"]\n'
    path.write_text(path.read_text() + more)
    rows, problems = write_replica_differences(Lake(tmp_path / "lake"), read_sources(path))
    assert rows > 0
    (problem,) = problems
    assert "master, gone" in problem
    assert "no such folder" in problem


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[replicas]]\nbrokers = ["a", "c"]', "no [[broker]] is named 'c'"),
        ('[[replicas]]\nbrokers = ["a"]', "brokers must be a list of two names or more"),
        ('[[replicas]]\nbrokers = ["a", "a"]', "brokers must be a list of two names or more"),
        ('[[replicas]]\nbrokers = "a"', "brokers must be a list of two names or more"),
        ('[[replicas]]\nbrokers = ["a", "b"]\ngroup_size = 0', "group_size must be a whole number"),
        ('[[replicas]]\nbrokers = ["a", "b"]\nsize = 3', "unknown key 'size'"),
    ],
)
def test_each_mistake_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "rocketlens.toml"
    path.write_text(TWO + text)
    with pytest.raises(SourcesError) as told:
        read_sources(path)
    assert sentence in str(told.value)
