"""A small sample of `python -m tests.lake_faults`, in a process of its own: it forks, and must have no threads."""

from __future__ import annotations

import subprocess
import sys


def test_struck_ingests_end_with_the_tables_of_an_undisturbed_one() -> None:
    command = [sys.executable, "-m", "tests.lake_faults", "--kills", "3", "--seed", "5"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
