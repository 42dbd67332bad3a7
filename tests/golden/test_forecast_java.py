"""Fresh damage, asked of the real store classes and of us: the judge that never runs out of cases."""

from __future__ import annotations

import random
import shutil
import tarfile
from pathlib import Path

import pytest

from pipelines.bundles import extract_all
from tests.fuzz.test_forecast_fuzz import BASES, SIZES, WITHIN_FILES
from tests.support.java_lab import needs_java, recover
from tests.support.recovery_cases import Case
from tests.support.recovery_judge import differences, play, truth_of

VERSION_OF = {"s498": "4.9.8", "s531": "5.3.1", "s533": "5.3.3", "s551": "5.5.1"}
SEEDS = range(12)


@pytest.mark.java
@needs_java
@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_store_starts_as_foretold(seed: int, tmp_path: Path) -> None:
    chance = random.Random(7000 + seed)
    archive = BASES[seed % len(BASES)]
    root = tmp_path / "store"
    with tarfile.open(archive) as tar:
        extract_all(tar, root)
    files = sorted(path for path in root.rglob("*") if path.is_file() and "config" not in path.parts)
    for _ in range(chance.randrange(1, 5)):
        chance.choice(WITHIN_FILES)(chance.choice(files), chance)
    case: Case = {"version": VERSION_OF[archive.name[:4]], "configOverrides": SIZES[archive]}
    shutil.copytree(root, tmp_path / "recovered")
    case["truth"] = recover(tmp_path / "recovered", case["version"], SIZES[archive])
    assert differences(play(case, root), truth_of(case)) == {}
