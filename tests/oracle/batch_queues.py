"""Queues of batches: BatchConsumeQueue of one version writes some, and says what it makes of damaged copies of them.

Their log is one empty file, which begins where some of their messages are deleted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from parsers.consumequeue.batch import BATCH_UNIT
from recovery.rules.versions import BrokerVersion
from tests.oracle.answers import judge_queues
from tests.oracle.base import Base, Plan
from tests.oracle.damage import Damage
from tests.oracle.edits import Edit, delete, write, zero
from tests.oracle.judge import FreshCases, Judged, case_of
from tests.support.java_lab import run_lab

LOG_SIZE = 32_768
UNIT = BATCH_UNIT.size
PREFIX = "batches-"
QUEUE_SIZES = (5 * UNIT, 20 * UNIT, 60 * UNIT)


def write_batch_base(version: str, seed: int, folder: Path) -> Base:
    """Four queues of batches of random lengths."""
    chance = random.Random(f"batches {version} {seed}")
    sizes = {
        "mapperFileSizeBatchConsumeQueue": str(chance.choice(QUEUE_SIZES)),
        "mappedFileSizeCommitLog": str(LOG_SIZE),
    }
    plan = Plan(version, seed, "clean", 0, 0, sizes)
    root = folder / f"{PREFIX}{plan.name}"
    root.mkdir(parents=True)
    log = f"{chance.randrange(6) * LOG_SIZE:020d}"
    if run_lab(version, "batches", str(root), str(seed), log, *(f"{name}={value}" for name, value in sizes.items())):
        raise RuntimeError(f"BatchConsumeQueue of {version} did not write {root.name}")
    return Base(plan, root, [], None)


def is_of_batches(name: str) -> bool:
    """Whether a base of that name was written here."""
    return name.startswith(PREFIX)


def judge_batch_damages(base: Base, damages: Sequence[tuple[str, Damage]]) -> Iterator[Judged]:
    """Each damaged copy (id, damage): least and greatest offset of every queue, BatchConsumeQueue's and ours."""
    unpacked, version = base.root.parent, base.plan.version
    cases = FreshCases(unpacked, unpacked, {name: case_of(base, name, damage) for name, damage in damages})
    with ExitStack() as built:
        roots = {name: built.enter_context(cases.built(cases.case(name))) for name in cases.names()}
        told = _fresh(list(roots.values()), base)
        for name, root in roots.items():
            cases.case(name)["queuesFound"] = told[root]
            yield Judged(cases.case(name), {"queues": judge_queues(root, BrokerVersion.parse(version), told[root])})


def _fresh(roots: Sequence[Path], base: Base) -> dict[Path, dict[str, object]]:
    """What BatchConsumeQueue makes of the queues of each store."""
    pairs = [f"{name}={value}" for name, value in base.plan.settings.items()]
    answers = {root: root.with_name("answer") for root in roots}
    todo = base.root.with_name("todo")
    todo.write_text("".join("\t".join((str(root), str(answers[root]), *pairs)) + "\n" for root in roots))
    if run_lab(base.plan.version, "fresh", str(todo)):
        raise RuntimeError(f"BatchConsumeQueue of {base.plan.version} gave no answer")
    return {root: json.loads(answer.read_text()) for root, answer in answers.items()}


def draw_batch_damages(base: Base, count: int, chance: random.Random) -> list[tuple[str, Damage]]:
    """So many damages, each with the name of its case."""
    return [(f"{base.root.name}-{number:03d}", _draw(base, chance)) for number in range(count)]


def _draw(base: Base, chance: random.Random) -> Damage:
    """One class of damage to one file."""
    file = chance.choice(sorted((base.root / "batchconsumequeue").rglob("0" * 10 + "*")))
    name, size = file.relative_to(base.root).as_posix(), file.stat().st_size
    at, other = (UNIT * chance.randrange(size // UNIT) for _ in range(2))
    content, bit = file.read_bytes(), f"{1 << chance.randrange(8):02x}"
    damages: dict[str, list[Edit]] = {
        "none": [],
        "file_missing": [delete(name)],
        "tail_zeroed": [zero(name, at, size - at)],
        "unit_zeroed": [zero(name, at, UNIT)],
        "flip": [{"op": "flip", "path": name, "offset": chance.randrange(size), "hex": bit}],
        "units_swapped": [
            write(name, at, content[other : other + UNIT].hex()),
            write(name, other, content[at : at + UNIT].hex()),
        ],
    }
    chosen = chance.choice(sorted(damages))
    return Damage(f"batchcq.{chosen}", damages[chosen])
