"""`run.py oracle --rocketmq 5.5.0`: random stores of that version, damaged at random, judged by its own classes.

Needs a JDK 17 and Maven. Prints a table (damage class x command: agree / differ) and keeps what differs.
`run.py oracle --again [--only CASE]` judges the kept cases once more.
"""

from __future__ import annotations

import argparse
import pprint
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from recovery.rules.versions import BrokerVersion
from tests.oracle.base import Base, Exit, Plan, write_base
from tests.oracle.batch_queues import draw_batch_damages, is_of_batches, judge_batch_damages, write_batch_base
from tests.oracle.damage import Damage, draw
from tests.oracle.judge import COMMANDS, Judged, judge_damages
from tests.oracle.keep import keep, kept, kept_base
from tests.oracle.timers import draw_timer_damages, is_of_timers, judge_timer_damages, write_timer_base
from tests.support.java_lab import INSTALLED

A_BASE = 25
"""Damages of one base; then another store is written."""
BATCH_DAMAGES = 10
"""Damages of queues of batches that are judged beside those of each base, from 5.0.0 on."""
TIMER_DAMAGES = 10
"""The same of timers of any delay."""


def main(arguments: list[str]) -> int:
    """0 when every answer agreed, 1 when one differed, 2 when the store classes cannot be run here."""
    asked = _asked(arguments)
    if not INSTALLED:
        print("oracle: a JDK 17 (javac) and Maven (mvn) are needed to run RocketMQ's own classes", file=sys.stderr)
        return 2
    began, differing, table = time.monotonic(), 0, defaultdict[str, Counter[str]](Counter)
    cases = 0
    for judged, base in _judge_again(asked) if asked.again else _judge_all(asked):
        cases += 1
        _count(table, judged)
        if not judged.agrees:
            differing += 1
            _tell(judged)
            if not asked.again:
                keep(judged, base, asked.keep)
    if not cases:
        print(f"oracle: no such case is kept in {asked.keep}", file=sys.stderr)
        return 2
    print(_table(table))
    what = f"{cases} kept cases" if asked.again else f"{asked.damages} damages of {asked.rocketmq}, seed {asked.seed}"
    print(f"{what}: {differing} differ", end="")
    print(f" (kept in {asked.keep})" if differing else "", f"in {time.monotonic() - began:.0f} s")
    return int(differing > 0)


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.rocketmq is None and not asked.again:
        parser.error("--rocketmq says the version of the store classes")
    return asked


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("run.py oracle", description=__doc__)
    parser.add_argument("--rocketmq", metavar="VERSION", help="version of the store classes, e.g. 5.5.0")
    parser.add_argument("--seed", type=int, default=1, help="of stores and damages (default: 1)")
    parser.add_argument("--damages", type=int, default=50, metavar="N", help="how many (default: 50)")
    only = "damage whose name begins so, e.g. cq.; with --again a case whose name does, too (default: all)"
    parser.add_argument("--only", default="", metavar="NAME", help=only)
    kept_in = "where differing cases go (default: oracle-differs)"
    parser.add_argument("--keep", type=Path, default=Path("oracle-differs"), metavar="DIR", help=kept_in)
    again = "judge the cases in --keep once more, no new ones; of every version, unless --rocketmq says one"
    parser.add_argument("--again", action="store_true", help=again)
    return parser


def _judge_again(asked: argparse.Namespace) -> Iterator[tuple[Judged, Base]]:
    for name, damages in kept(asked.keep, asked.only, asked.rocketmq):
        with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
            base = kept_base(asked.keep, name, Path(folder))
            judge = judge_batch_damages if is_of_batches(name) else judge_damages
            for judged in (judge_timer_damages if is_of_timers(name) else judge)(base, damages):
                yield judged, base


def _judge_all(asked: argparse.Namespace) -> Iterator[tuple[Judged, Base]]:
    version, seed, damages, only = asked.rocketmq, asked.seed, asked.damages, asked.only
    exits: tuple[Exit, ...] = ("clean", "halt")
    for number in range(-(-damages // A_BASE)):
        plan = Plan.of(version, 1000 * seed + number, exits[number % 2])
        with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
            base = write_base(plan, Path(folder))
            chance = random.Random(f"{version} {plan.seed}")
            count = min(A_BASE, damages - number * A_BASE)
            drawn = [(f"{plan.name}-{each:03d}", draw(base, chance, only)) for each in range(count)]
            if not only:
                drawn[0] = drawn[0][0], Damage("none", [])
            for judged in judge_damages(base, drawn):
                yield judged, base
            if BrokerVersion.parse(version).has_batch_queues and not only:
                batches = write_batch_base(version, plan.seed, Path(folder))
                for judged in judge_batch_damages(batches, draw_batch_damages(batches, BATCH_DAMAGES, chance)):
                    yield judged, batches
            if BrokerVersion.parse(version).has_timer_wheel and not only:
                timers = write_timer_base(version, plan.seed, plan.exit, Path(folder))
                for judged in judge_timer_damages(timers, draw_timer_damages(timers, TIMER_DAMAGES, chance)):
                    yield judged, timers


def _count(table: dict[str, Counter[str]], judged: Judged) -> None:
    row = table[judged.case["damageClass"].partition(" ")[0]]
    row["cases"] += 1
    for command, differences in judged.differs.items():
        row[command] += 1
        row[f"{command} differs"] += bool(differences)


def _tell(judged: Judged) -> None:
    print(f"{judged.case['id']} {judged.case['damageClass']}", flush=True)
    for command, differences in judged.differs.items():
        for where, (ours, theirs) in list(differences.items())[:4]:
            print(f"  {command}: {where}\n    ours   {_short(ours)}\n    theirs {_short(theirs)}", flush=True)


def _short(value: object) -> str:
    return pprint.pformat(value, width=160, compact=True)[:700]


def _table(table: dict[str, Counter[str]]) -> str:
    """One line per class of damage: cases, and for each command agreeing / differing."""
    lines = [f"{'damage':28} {'cases':>5}" + "".join(f" {command:>11}" for command in COMMANDS)]
    for name, row in sorted(table.items()):
        cells = [
            f"{row[each] - row[f'{each} differs']} / {row[f'{each} differs']}" if row[each] else "-"
            for each in COMMANDS
        ]
        lines.append(f"{name:28} {row['cases']:5}" + "".join(f" {cell:>11}" for cell in cells))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
