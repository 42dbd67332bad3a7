"""The oracle at work: real store classes where they can be run, and everywhere the damage that it does."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.oracle.__main__ import main
from tests.oracle.base import Base, Plan, read_base
from tests.oracle.damage import DAMAGES, draw
from tests.oracle.ext_damage import EXT_DAMAGES
from tests.oracle.judge import Judged, case_of
from tests.oracle.keep import keep, kept, kept_base
from tests.support.java_lab import needs_java
from tests.support.recovery_cases import golden_cases
from tests.support.store_changes import changes_between, files_of

NAME = "s551-halt-async"
OF_SEVERAL_FOLDERS = {"file.no_folder", "file.in_other_folder"}


@pytest.mark.java
@needs_java
@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
def test_the_store_classes_and_we_agree_on_fresh_damage(version: str, tmp_path: Path) -> None:
    assert main(["--rocketmq", version, "--seed", "77", "--damages", "10", "--keep", str(tmp_path)]) == 0


@pytest.mark.java
@needs_java
def test_a_kept_case_is_judged_again(base: Base, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damages = {f"{NAME}-{number:03d}": draw(base, random.Random(number)) for number in range(3)}
    for name, damage in damages.items():
        keep(Judged(case_of(base, name, damage), {}), base, tmp_path)
    assert main(["--again", "--keep", str(tmp_path), "--only", f"{NAME}-001"]) == 0
    assert "1 kept cases: 0 differ" in capsys.readouterr().out


def test_what_is_kept_comes_back(base: Base, tmp_path: Path) -> None:
    damages = [(f"{NAME}-{number:03d}", draw(base, random.Random(number))) for number in range(20)]
    for name, damage in damages:
        keep(Judged(case_of(base, name, damage), {}), base, tmp_path)
    ((name, again),) = kept(tmp_path, "", "5.5.1")
    assert [(one, damage.name, damage.edits) for one, damage in again] == [(o, d.name, d.edits) for o, d in damages]
    for (one, before), (_, after) in zip(damages, again, strict=True):
        assert case_of(base, one, before) == case_of(base, one, after)
    found = kept_base(tmp_path, name, tmp_path / "unpacked")
    assert (found.plan, found.records, found.flushed) == (base.plan, base.records, base.flushed)
    assert list(kept(tmp_path, f"{NAME}-007", None)) == [(name, [again[7]])]
    assert list(kept(tmp_path, "", "5.3.3")) == []


@pytest.mark.java
@needs_java
def test_nothing_kept_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--again", "--keep", str(tmp_path)]) == 2
    assert "no such case is kept" in capsys.readouterr().err


@pytest.fixture(scope="module")
def base() -> Base:
    told = json.loads((golden_cases().root / "bases" / f"{NAME}.json").read_text())
    plan = Plan("5.5.1", told["seed"], "halt", told["count"], 0, told["config"])
    read = read_base(plan, golden_cases().base(NAME))
    return Base(plan, read.root, read.records, told["flushed"])


def test_damage_to_what_a_base_does_not_have_is_none(base: Base) -> None:
    """The base has one folder of the log, and no ext units."""
    for name in OF_SEVERAL_FOLDERS | EXT_DAMAGES.keys():
        assert DAMAGES[name](base, random.Random(name)) is None, name


@pytest.mark.parametrize("name", sorted(DAMAGES.keys() - EXT_DAMAGES.keys() - OF_SEVERAL_FOLDERS))
def test_each_class_of_damage_changes_the_store(name: str, base: Base) -> None:
    chance = random.Random(name)
    edits = next((edits for edits in (DAMAGES[name](base, chance) for _ in range(50)) if edits), None)
    assert edits is not None
    with golden_cases().built({"base": NAME, "edits": edits}) as root:
        folders = {path.relative_to(root) for path in root.rglob("*")} - {
            path.relative_to(base.root) for path in base.root.rglob("*")
        }
        assert list(changes_between(base.root, files_of(root))) or folders


def test_the_same_seed_draws_the_same_damage(base: Base) -> None:
    one, other = ([draw(base, random.Random(5)) for _ in range(20)] for _ in range(2))
    assert one == other
