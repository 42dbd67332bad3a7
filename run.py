#!/usr/bin/env python3
"""rocketlens without installing anything by hand: `python3 run.py demo | test | ui | lab | cli …`.

Standard library only. The first call makes `.venv` from `requirements.lock` (exact versions, hashes checked), a Java
runtime for machines without one included. Later calls start at once. What stops half-way is mended by a second call.
"""
# An old Python must get as far as the sentence that says so: nothing here is newer than Python 3.6.

import contextlib
import hashlib
import os
import shutil
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
ENDING = ".exe" if os.name == "nt" else ""
PYTHON = VENV / SCRIPTS / ("python" + ENDING)
UV = BOOTSTRAP / SCRIPTS / ("uv" + ENDING)
STAMP = VENV / ".rocketlens-lock"
BUILD_KERNELS = ("-m", "parsers.kernels.ahead.build")

COMMANDS = {
    "demo": (["-m", "pipelines.demo"], "ingest the bundled real store, build every table, answer in a page"),
    "test": (["-m", "tests"], "lint, types, tests (further arguments go to pytest)"),
    "ui": (["-m", "pipelines.cli", "ui"], "the Dagster UI over the lake"),
    "lab": (["-m", "pipelines.cli", "lab"], "JupyterLab on the notebooks"),
    "oracle": (["-m", "tests.oracle"], "random stores and damage, judged by RocketMQ's own classes (JDK 17, Maven)"),
    "live": (["-m", "tests.live"], "a lake and a watch beside a real broker that writes (JDK 17, Maven, Linux)"),
    "cli": (["-m", "pipelines.cli"], "any rocketlens command, e.g. `run.py cli dump commitlog STORE`"),
}
BUNDLE = "bundle"
BUNDLE_HELP = "a folder to install from without a network: `run.py bundle --to DIR [--platform]`"

REASONS = (
    (
        ("No module named pip",),
        "this Python has no pip: install it (Debian and Ubuntu: python3-pip), then run this again",
    ),
    (
        ("No space left on device", "Disk quota exceeded"),
        "the disk is full: 2.5 GB are needed; make room, then run this again",
    ),
    (
        ("hash mismatch", "Hash mismatch", "DO NOT MATCH THE HASHES"),
        "a package is not the one that was pinned; run this again",
    ),
    (("Permission denied", "Read-only file system"), "nothing may be written to the checkout; take a copy of your own"),
    (
        (
            "error sending request",
            "Failed to fetch",
            "onnection",
            "name resolution",
            "timed out",
            "from versions: none",
        ),
        "the package index cannot be reached; what came is kept, run this again to go on",
    ),
)
"""What the tools say when something is amiss, and what is to be done about it."""


class SetUpError(Exception):
    """The set-up cannot go on: one sentence."""


def say(text: str) -> None:
    print("run.py: " + text, file=sys.stderr, flush=True)


def step(what: str, *command: object) -> None:
    """Run one tool; where it fails, SetUpError says why and what to do."""
    done = subprocess.run([str(part) for part in command], cwd=str(ROOT), stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise SetUpError(what + ": " + reason(done.stderr.decode("utf-8", "replace"), done.returncode))


def reason(said: str, code: int) -> str:
    """A sentence for what a tool said before it gave up."""
    for marks, sentence in REASONS:
        if any(mark in said for mark in marks):
            return sentence
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return "ended with {}{}; run this again".format(code, ": " + lines[-1] if lines else "")


def runs(program: Path) -> bool:
    """The program is there and starts."""
    try:
        return subprocess.run([str(program), "--version"], stdout=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def clear_away(place: Path) -> None:
    """Remove what stands there: a folder with all in it, a file, or a link but not what it leads to."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(str(place))
    elif os.path.lexists(str(place)):
        place.unlink()


def packages() -> int:
    """How many packages lie in `.venv`."""
    places = ("lib/python*/site-packages", "Lib/site-packages")
    return sum(1 for place in places for _ in VENV.glob(place + "/*.dist-info"))


def wanted() -> str:
    """What the stamp of a finished set-up says: the lock, the project, the packages that are there."""
    pins = hashlib.sha256(LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return f"{pins} {packages()}"


def is_ready() -> bool:
    """`.venv` is whole and matches the lock."""
    return STAMP.exists() and STAMP.read_text() == wanted() and runs(PYTHON)


def installer() -> Path:
    """uv, fetched with pip once."""
    if not runs(UV):
        say("fetching the installer")
        clear_away(BOOTSTRAP)
        quiet = ["--quiet", "--disable-pip-version-check", "--no-warn-script-location", "--root-user-action", "ignore"]
        pip = [sys.executable, "-m", "pip", "install"]
        step("fetching the installer", *pip, *quiet, "--target", BOOTSTRAP, UV_REQUIREMENT)
    return UV


@contextlib.contextmanager
def alone():
    """Hold the set-up's lock; a second run waits for the first. The system gives it back however a run ends."""
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    with open(str(ROOT / ".setup.lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another run is setting up; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up(with_kernels: bool) -> None:
    """Make `.venv` match the lock, and compile the kernels; do nothing when all is there. Raises SetUpError."""
    if is_ready() and not (with_kernels and lacks_kernels()):
        return
    with alone():
        if not is_ready():
            make()
        if with_kernels and lacks_kernels():
            compile_kernels()


def make() -> None:
    """Set up from whatever is there."""
    began = time.time()
    uv = installer()
    if not runs(PYTHON):
        if os.path.lexists(str(VENV)):
            say(".venv is broken; making it anew")
            clear_away(VENV)
        step("making .venv", uv, "venv", "--quiet", "--python", sys.executable, VENV)
    if STAMP.exists():
        STAMP.unlink()
    say("installing the locked packages into .venv (once; about a minute)")
    into = ["--quiet", "--python", PYTHON]
    step("installing", uv, "pip", "sync", *into, "--compile-bytecode", "--require-hashes", LOCK)
    step("installing rocketlens", uv, "pip", "install", *into, "--no-build-isolation", "--no-deps", "--editable", ROOT)
    STAMP.write_text(wanted())
    say(f"ready in {time.time() - began:.0f} s")


def lacks_kernels() -> bool:
    """They can be compiled ahead and are not, or an edit or a pull came since; without a C compiler, or after an edit,
    each is compiled when it is first called."""
    if shutil.which(os.environ.get("CC") or "cc") is None:
        return False
    return subprocess.run([str(PYTHON), *BUILD_KERNELS, "--check"], cwd=str(ROOT), check=False).returncode != 0


def compile_kernels() -> None:
    """Compile ahead what runs as machine code."""
    say("compiling what runs as machine code (once; half a minute)")
    done = subprocess.run([str(PYTHON), *BUILD_KERNELS], cwd=str(ROOT), check=False)
    if done.returncode:
        say("each kernel is compiled when it is first called")


def usage() -> str:
    described = [(name, what) for name, (_, what) in COMMANDS.items()] + [(BUNDLE, BUNDLE_HELP)]
    lines = ["  {:<6} {}".format(*line) for line in described]
    return "usage: python3 run.py COMMAND [arguments]\n\n" + "\n".join(lines)


def main(argv: list) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - the one file that an older Python may start
        say("Python 3.11 or newer is needed, this is " + sys.version.split()[0])
        return 1
    if not argv or argv[0] in ("-h", "--help"):
        print(usage())
        return 0 if argv else 2
    if argv[0] not in COMMANDS and argv[0] != BUNDLE:
        print(f"run.py: no command {argv[0]!r}\n\n{usage()}", file=sys.stderr)
        return 2
    try:
        if argv[0] == BUNDLE:
            return bundle(argv[1:])
        set_up(with_kernels=argv[0] != "test")  # which compiles them while it lints
    except SetUpError as refused:
        say(str(refused))
        return 1
    except OSError as refused:
        say(reason(str(refused), 1))
        return 1
    except KeyboardInterrupt:
        say("interrupted; run this again to go on")
        return 130
    return start(argv)


def bundle(arguments: list) -> int:
    """Make the folder without making `.venv`."""
    from tools.bundle import main as make_bundle

    if "-h" in arguments or "--help" in arguments:
        return make_bundle(arguments, UV)
    with alone():
        uv = installer()
    return make_bundle(arguments, uv)


def start(argv: list) -> int:
    """The command itself, in `.venv`."""
    module, _ = COMMANDS[argv[0]]
    environment = {**os.environ, "PATH": "{}{}{}".format(PYTHON.parent, os.pathsep, os.environ.get("PATH", ""))}
    inside = ROOT if argv[0] in ("test", "demo", "oracle", "live") else Path.cwd()
    command = [str(PYTHON), *module, *argv[1:]]
    if os.name == "posix":  # take its place: a signal then reaches the command itself
        os.chdir(str(inside))
        os.execve(command[0], command, environment)
    try:
        return subprocess.run(command, cwd=str(inside), env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
