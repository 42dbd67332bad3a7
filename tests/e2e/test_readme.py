"""The console blocks of the README, run on the store they speak of: what is printed there is what comes out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fixtures import CHECKOUT, unpack_store

README = CHECKOUT / "README.md"
BLOCK = re.compile(r"^```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(found["command"], found["output"]) for found in BLOCK.finditer(README.read_text())]


@pytest.fixture(scope="module")
def beside_the_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where `lake/demo/5.3.3-clean/store` is what `run.py demo` unpacks."""
    folder = tmp_path_factory.mktemp("readme")
    unpack_store(CHECKOUT / "demo" / "5.3.3-clean" / "store.tar.gz", folder / "lake" / "demo" / "5.3.3-clean")
    return folder


def test_the_readme_has_examples() -> None:
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize(("command", "output"), BLOCKS, ids=[command.split()[1] for command, _ in BLOCKS])
def test_a_block_of_the_readme(command: str, output: str, beside_the_demo: Path) -> None:
    scripts = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=beside_the_demo, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == output
