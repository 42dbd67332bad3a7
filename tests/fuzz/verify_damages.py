"""`verify` on random damages of stores: `python -m tests.fuzz verify [--damages 500] [--seed N]`.

Each damaged byte is to lie inside a finding, and no finding outside the damage.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from random import Random

from tests.support.random_damage import BASES, damaged_store
from tests.support.recovery_cases import golden_cases
from tests.support.verify_judge import Verdict, judge


def judged(name: str) -> Verdict:
    """`name`: the base and the number of its damage, as `BASE@NUMBER`."""
    base, _, number = name.partition("@")
    case = {"id": name, "base": base, "damageClass": "random", "edits": []}
    with damaged_store(base, [int(number)]) as root:
        return judge(golden_cases(), case, root)


def drawn(damages: int, seed: int) -> list[str]:
    chance = Random(seed)
    return [f"{chance.choice(BASES)}@{chance.randrange(1 << 30)}" for _ in range(damages)]


def main(arguments: Sequence[str]) -> int:
    """0 when every verdict is exact."""
    parser = argparse.ArgumentParser(prog="tests.fuzz verify", description=__doc__)
    parser.add_argument("--damages", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", nargs="+", metavar="BASE@NUMBER", help="these damages and no other")
    asked = parser.parse_args(arguments)
    names = asked.again or drawn(asked.damages, asked.seed)
    differing = 0
    for name in names:
        verdict = judged(name)
        if verdict.missed or verdict.outside:
            differing += 1
            print(name, *verdict.kinds, flush=True)
            for missed in verdict.missed:
                print(f"  missed {missed}", flush=True)
            for finding in verdict.outside:
                print(f"  outside {finding.kind} {finding.places} {finding.span}", flush=True)
    print(f"{differing} of {len(names)} not exact")
    return int(differing > 0)
