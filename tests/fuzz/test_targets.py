"""Every target of the fuzzer on what it starts from, on what it kept, and on mutations from a fixed seed."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import CORPUS, TARGETS, kept, made

ROUNDS = int(os.environ.get("ROCKETLENS_FUZZ_ROUNDS", "40"))
MOST_KEPT_BYTES = 300_000


@pytest.mark.parametrize("name", TARGETS)
def test_the_corpus_and_its_mutations(name: str, tmp_path: Path) -> None:
    random, start = Random(name), list(made()[name].values())
    for content in [*start, *kept(name)]:
        TARGETS[name](content, tmp_path)
    for content in start:
        for _ in range(ROUNDS):
            TARGETS[name](mutated(content, random, start), tmp_path)


def test_the_corpus_is_of_targets_and_small() -> None:
    assert TARGETS.keys() == made().keys()
    assert {folder.name for folder in CORPUS.iterdir()} <= TARGETS.keys()
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) <= MOST_KEPT_BYTES
