"""`python3 run.py bundle --to DIR [--platform]`: everything to install rocketlens where there is no network.

The folder holds wheels for this interpreter and this kind of machine, their hashes, and `install.sh`, which asks for
nothing but sh and that interpreter. Standard library only; packages come by the pins and hashes of requirements.lock.
"""

from __future__ import annotations

import argparse
import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
PIP = "pip==26.3 --hash=sha256:f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
"""What the installer runs on a host that may have no pip of its own."""
PACKAGE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==")


class BundleError(Exception):
    """The bundle cannot be made: one sentence."""


def main(arguments: Sequence[str], uv: Path) -> int:
    """Make the folder that the arguments name; 0, or 1 after one sentence on stderr."""
    parser = argparse.ArgumentParser(prog="run.py bundle", description=__doc__)
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument("--platform", action="store_true", help="with Spark, Java, Delta, Dagster and Jupyter")
    asked = parser.parse_args(arguments)
    try:
        bundle(asked.to, uv, with_platform=asked.platform)
    except BundleError as refused:
        print(f"run.py: {refused}", file=sys.stderr)
        return 1
    size = sum(file.stat().st_size for file in asked.to.rglob("*") if file.is_file())
    print(f"{asked.to}: {size / 2**20:,.0f} MiB for {this_machine()}; there: sh {asked.to.name}/install.sh FOLDER")
    return 0


def bundle(to: Path, uv: Path, *, with_platform: bool) -> None:
    """Fetch, build and describe; the folder appears when it is complete. Raises BundleError."""
    if to.exists():
        raise BundleError(f"{to} is there already: name a new folder")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{to.name}-", dir=to.parent) as scratch:
        folder, pins = Path(scratch) / "bundle", Path(scratch) / "pins.txt"
        (folder / "wheels").mkdir(parents=True)
        pins.write_text("\n".join([PIP, *pins_of(needed(uv, with_platform=with_platform), LOCK.read_text("utf-8"))]))
        pip: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
        _run("packages", *pip, "--no-deps", "--require-hashes", "-r", pins, "-w", folder / "wheels")
        build: list[str | Path] = [uv, "build", "--quiet", "--wheel", "--build-constraint", LOCK, "--require-hashes"]
        _run("rocketlens itself", *build, "--out-dir", folder / "wheels", ROOT)
        (folder / "wheels" / ".gitignore").unlink(missing_ok=True)  # of uv
        describe(folder)
        folder.rename(to)


def needed(uv: Path, *, with_platform: bool) -> set[str]:
    """Names of the packages that this interpreter on this machine needs."""
    extra = ["--extra", "platform"] if with_platform else []
    command: list[str | Path] = [uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--constraint", LOCK]
    told = _run("the list of packages", *command, "--python", sys.executable, *extra, ROOT / "pyproject.toml")
    return {found["name"] for line in told.splitlines() if (found := PACKAGE.match(line))}


def pins_of(names: set[str], lock: str) -> Iterator[str]:
    """The entries of the lock with these names, hashes and all."""
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        found = PACKAGE.match(entry)
        if found and found["name"] in names:
            yield entry


def describe(folder: Path) -> None:
    """Write requirements.txt, install.sh and SHA256SUMS for the wheels that are there."""
    wheels = sorted((folder / "wheels").glob("*.whl"))
    lines = []
    for wheel in wheels:
        name, version = wheel.name.split("-")[:2]
        if name != "pip":
            lines.append(f"{name.replace('_', '-')}=={version} --hash=sha256:{_sha256(wheel)}\n")
    (folder / "requirements.txt").write_text("".join(lines))
    script = (ROOT / "tools" / "install.sh").read_text("utf-8").replace("@WANTED@", this_machine())
    (folder / "install.sh").write_text(script, "utf-8")
    shutil.copy2(ROOT / "LICENSE", folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    sums = [f"{_sha256(file)}  {file.relative_to(folder).as_posix()}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(sums))


def this_machine() -> str:
    """What the wheels are for, in the words that the installer compares."""
    python = f"{platform.python_implementation()} {sys.version_info[0]}.{sys.version_info[1]}"
    return f"{python} on {platform.system()} {platform.machine()}"


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _run(what: str, *command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.strip().splitlines() if line.strip()]
        raise BundleError(f"{what} could not be had: {said[-1].strip() if said else 'no reason is given'}")
    return done.stdout
