"""The console blocks of a page, run from the root of a checkout: what is printed there is what comes out.

`python -m tools.console_blocks PAGE…` runs the blocks of each page, in an empty folder where `demo` and `tests` are
those of the checkout, and writes their output anew. A block is one command behind `$`, which may go on in lines that
begin with two spaces, and its standard output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"^```console\n\$ (?P<command>[^\n]+(?: \\\n  [^\n]+)*)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL
)
ENDINGS = (0, 1)
"""Exit codes of an answer; 1 says that it holds findings."""


@dataclass(frozen=True)
class Block:
    """A command, and what the page says that it prints."""

    command: str
    output: str


def blocks(text: str) -> list[Block]:
    """The console blocks of a page in order."""
    return [Block(found["command"], found["output"]) for found in BLOCK.finditer(text)]


def workplace(folder: Path) -> None:
    """Put what the pages' commands unpack beside them into an empty folder."""
    for name in ("demo", "tests"):
        (folder / name).symlink_to(ROOT / name)


def printed(command: str, folder: Path) -> str:
    """What a command prints there. Raises RuntimeError with what it says on stderr for one that gives no answer."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # pages have one width
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in ENDINGS:
        raise RuntimeError(f"{command}\nended with {done.returncode}: {done.stderr}")
    return done.stdout


def printed_anew(text: str) -> str:
    """The page with the output of each block as it is now."""
    with tempfile.TemporaryDirectory() as name:
        workplace(Path(name))
        return BLOCK.sub(
            lambda found: f"```console\n$ {found['command']}\n{printed(found['command'], Path(name))}```", text
        )


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(printed_anew(page.read_text("utf-8")), "utf-8")
