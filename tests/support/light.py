"""A process in which only what `pip install rocketlens` brings can be imported, whatever else is installed."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from parsers.kernels.kernel import library
from parsers.kernels.library import NATIVE
from tests.support.fixtures import CHECKOUT

WHEEL_TARGETS = "" if library() is None else NATIVE
"""What `tools/wheel.py` compiles for a wheel here: nothing without a C compiler."""
LINKED = pytest.mark.skipif(library() is None, reason="no C compiler linked the kernels here")

PROGRAM = """
import json, sys
withheld = frozenset(json.loads(sys.argv[1]))

class Withheld:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in withheld:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Withheld)
"""


def light_distributions() -> set[str]:
    """Names of the distributions that the project's own dependencies bring, without any extra.

    Where the kernels could not be compiled ahead, their compiler is among them.
    """
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    found: set[str] = set()
    waiting = list(project["dependencies"])
    if library() is None:
        waiting.append("numba")
    while waiting:
        needed = Requirement(waiting.pop())
        name = canonicalize_name(needed.name)
        if name in found or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        waiting += importlib.metadata.requires(name) or []
    return found


def withheld_modules() -> list[str]:
    """Top-level modules that only other distributions bring."""
    light = light_distributions()
    owners = importlib.metadata.packages_distributions()
    return sorted(
        module
        for module, names in owners.items()
        if not {canonicalize_name(name) for name in names} & {*light, "rocketlens"}
    )


def run_light(code: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in such a process; `sys.argv[2:]` are the arguments."""
    command = [sys.executable, "-c", PROGRAM + code, json.dumps(withheld_modules()), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


CALLS = """
from tests.support.cli import call
for arguments in json.loads(sys.argv[2]):
    called = call(*arguments)
    print(json.dumps([called.code, called.err]))
"""


def call_light(calls: Sequence[Sequence[object]], *, cwd: Path) -> list[tuple[int, str]]:
    """The exit code of each call of `rocketlens`, one after another in one process, and what it said on stderr."""
    done = run_light(CALLS, json.dumps([[str(argument) for argument in call] for call in calls]), cwd=cwd)
    assert done.returncode == 0, done.stderr
    return [(code, said) for code, said in map(json.loads, done.stdout.splitlines())]
