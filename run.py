#!/usr/bin/env python3
"""rocketlens without installing anything by hand: `python3 run.py demo | test | ui | lab | cli …`.

Standard library only. The first call makes `.venv` from `requirements.lock` (exact versions, hashes checked), a Java
runtime for machines without one included. Later calls start at once.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
BOOTSTRAP = ROOT / ".bootstrap"
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
UV_REQUIREMENT = "uv==0.13.9"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
PYTHON = VENV / SCRIPTS / ("python.exe" if os.name == "nt" else "python")

COMMANDS: dict[str, tuple[list[str], str]] = {
    "demo": (["-m", "pipelines.demo"], "ingest the bundled real store, build every table, answer in a page"),
    "test": (["-m", "tests"], "lint, types, tests (further arguments go to pytest)"),
    "ui": (["-m", "pipelines.cli", "ui"], "the Dagster UI over the lake"),
    "lab": (["-m", "pipelines.cli", "lab"], "JupyterLab on the notebooks"),
    "oracle": (["-m", "tests.oracle"], "random stores and damage, judged by RocketMQ's own classes (JDK 17, Maven)"),
    "cli": (["-m", "pipelines.cli"], "any rocketlens command, e.g. `run.py cli dump commitlog STORE`"),
}


def say(text: str) -> None:
    print(f"run.py: {text}", file=sys.stderr, flush=True)


def run(*args: str | Path) -> None:
    done = subprocess.run([str(arg) for arg in args], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"run.py: set-up stopped: `{' '.join(str(arg) for arg in args[:6])} …` ended with {done.returncode}")


def set_up() -> None:
    """Make `.venv` match the lock; do nothing when it does already."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the one file that an older Python may start
        sys.exit(f"run.py: Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    stamp = VENV / ".rocketlens-lock"
    wanted = hashlib.sha256(LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    began = time.monotonic()
    uv = BOOTSTRAP / SCRIPTS / ("uv.exe" if os.name == "nt" else "uv")
    if not uv.exists():
        say("fetching the installer")
        quiet = ["--quiet", "--disable-pip-version-check", "--no-warn-script-location", "--root-user-action", "ignore"]
        run(sys.executable, "-m", "pip", "install", *quiet, "--target", BOOTSTRAP, UV_REQUIREMENT)
    if not PYTHON.exists():
        run(uv, "venv", "--quiet", "--python", sys.executable, VENV)
    say("installing the locked packages into .venv (once; about a minute)")
    run(uv, "pip", "sync", "--quiet", "--compile-bytecode", "--require-hashes", "--python", PYTHON, LOCK)
    run(uv, "pip", "install", "--quiet", "--python", PYTHON, "--no-deps", "--editable", ROOT)
    stamp.write_text(wanted)
    say(f"ready in {time.monotonic() - began:.0f} s")


def usage() -> str:
    lines = [f"  {name:<6} {what}" for name, (_, what) in COMMANDS.items()]
    return "usage: python3 run.py COMMAND [arguments]\n\n" + "\n".join(lines)


def main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(usage())
        return 0 if argv else 2
    if argv[0] not in COMMANDS:
        print(f"run.py: no command {argv[0]!r}\n\n{usage()}", file=sys.stderr)
        return 2
    set_up()
    module, _ = COMMANDS[argv[0]]
    environment = {**os.environ, "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    inside = ROOT if argv[0] in ("test", "demo", "oracle") else Path.cwd()
    command = [str(PYTHON), *module, *argv[1:]]
    if os.name == "posix":  # take its place: a signal then reaches the command itself
        os.chdir(inside)
        os.execve(command[0], command, environment)
    try:
        return subprocess.run(command, cwd=inside, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
