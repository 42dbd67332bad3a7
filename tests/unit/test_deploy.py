"""The files of deploy/: systemd takes the units, and every command in them is one of ours with its options."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.fixtures import CHECKOUT

DEPLOY = CHECKOUT / "deploy"
UNITS = [path.name for path in sorted(DEPLOY.glob("rocketlens*")) if path.suffix in (".service", ".timer")]
PROGRAM = "/opt/rocketlens/bin/rocketlens"


def commands() -> list[str]:
    """Every call of rocketlens in the units and the cron lines, and the container's own."""
    lines = [
        line
        for name in ("rocketlens.service", "rocketlens-care.service", "rocketlens.cron")
        for line in (DEPLOY / name).read_text().splitlines()
    ]
    called = [part for line in lines if not line.startswith("#") for part in re.split(r"&&|>", line) if PROGRAM in part]
    words = [shlex.split(part.partition(PROGRAM)[2]) for part in called]
    container = re.search(r"^CMD (\[.*\])$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert container is not None
    return [shlex.join(each) for each in (*words, re.findall(r'"([^"]*)"', container[1]))]


def test_all_calls_are_found() -> None:
    assert len(commands()) == 7


@pytest.mark.parametrize("command", commands())
def test_a_call_has_the_options_of_the_command(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    ended = call(*shlex.split(command), "--config-file", missing)
    assert ended.code == 3
    assert ended.err.startswith(f"rocketlens: {missing}: no such file; ")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    program = tmp_path / "rocketlens"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in UNITS:
        (tmp_path / name).write_text((DEPLOY / name).read_text().replace(PROGRAM, str(program)))
    units = [str(tmp_path / name) for name in UNITS]
    told = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    ours = [line for line in told.stderr.splitlines() if "rocketlens" in line]
    assert (told.returncode, ours) == (0, [])
