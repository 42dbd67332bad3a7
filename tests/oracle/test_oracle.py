"""The oracle at work: real store classes where they can be run, and everywhere the damage that it does."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.oracle.__main__ import main
from tests.oracle.base import Base, Plan, read_base
from tests.oracle.damage import DAMAGES, draw
from tests.support.java_lab import needs_java
from tests.support.recovery_cases import golden_cases
from tests.support.verify_judge import changes_between

NAME = "s551-halt-async"


@pytest.mark.java
@needs_java
@pytest.mark.parametrize("version", ["4.9.8", "5.3.3"])
def test_the_store_classes_and_we_agree_on_fresh_damage(version: str, tmp_path: Path) -> None:
    assert main(["--rocketmq", version, "--seed", "77", "--damages", "10", "--keep", str(tmp_path)]) == 0


@pytest.fixture(scope="module")
def base() -> Base:
    told = json.loads((golden_cases().root / "bases" / f"{NAME}.json").read_text())
    plan = Plan("5.5.1", told["seed"], "halt", told["count"], 0, told["config"])
    read = read_base(plan, golden_cases().base(NAME))
    return Base(plan, read.root, read.records, told["flushed"])


@pytest.mark.parametrize("name", sorted(DAMAGES))
def test_each_class_of_damage_changes_the_store(name: str, base: Base) -> None:
    chance = random.Random(name)
    edits = next((edits for edits in (DAMAGES[name](base, chance) for _ in range(50)) if edits), None)
    assert edits is not None
    with golden_cases().built({"base": NAME, "edits": edits}) as root:
        folders = {path.relative_to(root) for path in root.rglob("*")} - {
            path.relative_to(base.root) for path in base.root.rglob("*")
        }
        assert list(changes_between(base.root, root)) or folders


def test_the_same_seed_draws_the_same_damage(base: Base) -> None:
    one, other = ([draw(base, random.Random(5)) for _ in range(20)] for _ in range(2))
    assert one == other
