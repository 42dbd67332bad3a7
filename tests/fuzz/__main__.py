"""The coverage-guided fuzzer over one reader, for as long as wanted: `python -m tests.fuzz TARGET [libFuzzer options]`.

`python -m tests.fuzz commands [--inputs N] [--seed N]` asks every command about mutated stores and recordings instead.
`python -m tests.fuzz verify [--damages N] [--seed N]` holds the findings of randomly damaged stores against the damage.

The fuzzer needs atheris (`pip install 'rocketlens[fuzz]'`). Kernels run as plain Python, so that their branches count.
What it keeps goes to the first folder among the options, or nowhere.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

PRODUCT = ["parsers", "recovery", "rebalance", "pipelines"]


def main(name: str, options: list[str]) -> None:
    import atheris  # only here: it is no dependency of the tests

    with atheris.instrument_imports(include=PRODUCT):
        from tests.fuzz import plain_kernels

        plain_kernels.install()
        from tests.fuzz.targets import CORPUS, TARGETS, made
    if name not in TARGETS:
        sys.exit(f"tests.fuzz: no target {name!r}; there are {', '.join(TARGETS)}")
    warnings.filterwarnings("ignore", "overflow encountered")  # numbers wrap here as they do compiled
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as nowhere:
        start = Path(nowhere) / "start"
        start.mkdir()
        for file, content in made()[name].items():
            (start / file).write_bytes(content)
        folders = [option for option in options if not option.startswith("-")] or [nowhere]
        folders += [str(place) for place in (start, CORPUS / name) if place.is_dir()]
        flags = [option for option in options if option.startswith("-")]
        itself = f"{sys.executable} -m tests.fuzz {name}"  # libFuzzer starts it anew to merge
        atheris.Setup([itself, *flags, *folders], lambda content: target(content, Path(scratch)))
        atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        from tests.fuzz.targets import TARGETS

        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
    if sys.argv[1] == "commands":
        from tests.fuzz.commands.run import main as fuzz_commands

        sys.exit(fuzz_commands(sys.argv[2:]))
    if sys.argv[1] == "verify":
        from tests.fuzz.verify_damages import main as judge_damages

        sys.exit(judge_damages(sys.argv[2:]))
    main(sys.argv[1], sys.argv[2:])
