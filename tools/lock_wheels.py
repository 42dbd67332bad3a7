"""For which CPython versions and machines the lock has wheels: `python3 -m tools.lock_wheels` asks the package index.

The answer is the table in docs/install.md. PySpark is left out: it comes as source of Python and jars, for all alike.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
MACHINES = {
    "Linux x86-64, glibc 2.28": "x86_64-manylinux_2_28",
    "Linux arm64, glibc 2.28": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
}
WITHOUT_WHEELS = ("pyspark",)
MISSING = re.compile(r"Because (\S+?)==\S+ has no (?:usable )?wheels")


def pins() -> str:
    """The lock without hashes."""
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    entries = [line.removesuffix("\\").strip() for line in lines if not line.startswith(" ")]
    return "\n".join(entry for entry in entries if not entry.startswith(WITHOUT_WHEELS))


def has_wheels(python: str, machine: str) -> str:
    """`yes`, or the first package that has none."""
    command = [ROOT / ".bootstrap" / "bin" / "uv", "pip", "compile", "--quiet", "--no-deps", "--only-binary", ":all:"]
    asked = [*command, "--python-version", python, "--python-platform", machine, "-"]
    done = subprocess.run(list(map(str, asked)), input=pins(), capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return "yes"
    found = MISSING.search(" ".join(done.stderr.split()))
    return f"no: {found[1]}" if found else f"not known: {done.stderr.strip().splitlines()[-1]}"


def main() -> int:
    """Print the table."""
    print(f"| CPython | {' | '.join(MACHINES)} |\n|---|{'---|' * len(MACHINES)}")
    for python in PYTHONS:
        print(f"| {python} | {' | '.join(has_wheels(python, machine) for machine in MACHINES.values())} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
