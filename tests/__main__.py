"""`python3 run.py test`: lint and types while kernels are compiled, then pytest in a few processes, whose summary is
the last line.

With arguments only pytest runs, in one process, and they go to it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

CHECKS = (
    ("lint", ["-m", "ruff", "check", "--quiet"]),
    ("format", ["-m", "ruff", "format", "--check", "--quiet"]),
    ("types", ["-m", "mypy"]),
)


WHOLE_SUITE = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "10"]
"""What stays together is told in `tests.support.shares`. The ten slowest are named.

The folders come in their order, e2e and fuzz first: with the files of the most tests first, as xdist would have it,
those of one test that takes a minute are last, and a core waits for them. Three processes keep two cores busy, where
one waits for another program.
"""


def main(arguments: list[str]) -> int:
    """0 when every check and every test passed; checks run only with the whole suite, not with a selection."""
    with ThreadPoolExecutor(1) as beside:
        compiled = beside.submit(compile_ahead, tests=not arguments)
        failed = [] if arguments else failed_checks()
        compiled.result()
    if failed:
        print(f"== failed: {', '.join(failed)}; the tests run all the same", flush=True)
    return run(["-m", "pytest", "-q", *(arguments or WHOLE_SUITE)]) or int(bool(failed))


def compile_ahead(*, tests: bool) -> None:
    """Compile the kernels and, before the first run of all tests, these: three processes would do it at a time."""
    run(["-m", "parsers.kernels.ahead.build"])
    if tests and not any(ROOT.glob("tests/*/__pycache__/*-pytest-*.pyc")):
        run(["-m", "pytest", "--collect-only", "-q"], stdout=subprocess.DEVNULL)


def failed_checks() -> list[str]:
    """Names of the checks that found something."""
    failed = []
    for name, command in CHECKS:
        print(f"== {name}", flush=True)
        if run(command):
            failed.append(name)
    return failed


def run(command: list[str], stdout: int | None = None) -> int:
    """Run Python with these arguments; its exit code.

    The tests start hundreds of processes with this environment: Python keeps what it compiled, numpy starts no threads.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env = kept | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=env, stdout=stdout, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
