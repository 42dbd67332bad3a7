"""run.py on machines where something is amiss: one sentence, and the next run mends it. pip and uv are stand-ins."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.fixtures import CHECKOUT

PIP = """
import os, pathlib, shutil, sys
if os.environ.get("AMISS") == "no pip":
    sys.exit(sys.executable + ": No module named pip")
if os.environ.get("AMISS") == "no index":
    sys.exit("ERROR: Could not find a version that satisfies the requirement uv (from versions: none)")
target = pathlib.Path(sys.argv[sys.argv.index("--target") + 1]) / "bin"
target.mkdir(parents=True, exist_ok=True)
for name in ("uv", "python"):
    shutil.copy(pathlib.Path(__file__).parent / name, target / name)
"""
UV = """#!/bin/sh
[ "$1" = --version ] && exit 0
echo "$@" >> uv.calls
case "$1 $2" in
"venv "*)
    mkdir -p .venv/bin .venv/lib/python3.11/site-packages
    cp "$(dirname "$0")/python" .venv/bin/python
    chmod +x .venv/bin/python ;;
"pip sync")
    [ -z "$SLOW" ] || { touch syncing; sleep "$SLOW"; }
    mkdir -p .venv/lib/python3.11/site-packages/one-1.dist-info
    case "$AMISS" in
    disk) echo 'error: Failed to install: No space left on device (os error 28)' >&2; exit 2 ;;
    half-way) echo 'error: Request failed: error sending request for url' >&2; exit 2 ;;
    pin) echo 'error: Hash mismatch for `one==1`' >&2; exit 1 ;;
    odd) printf 'warning\\nerror: something else\\n' >&2; exit 3 ;;
    esac
    mkdir -p .venv/lib/python3.11/site-packages/two-2.dist-info ;;
esac
"""


PYTHON = """#!/bin/sh
case "$*" in
--version) ;;
"-m parsers.kernels.ahead.build --check")
    test -e parsers/kernels/built/native.json ;;
"-m parsers.kernels.ahead.build")
    echo compiled >> kernels.calls
    [ "$AMISS" = kernels ] && exit 1
    mkdir -p parsers/kernels/built
    touch parsers/kernels/built/native.json ;;
*) echo "ran $*" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with run.py in it, and a pip that brings the stand-in of uv."""
    fakes, folder = tmp_path / "fakes" / "pip", tmp_path / "checkout"
    fakes.mkdir(parents=True)
    folder.mkdir()
    (fakes / "__init__.py").touch()
    (fakes / "__main__.py").write_text(PIP)
    (fakes / "uv").write_text(UV)
    (fakes / "uv").chmod(0o755)
    (fakes / "python").write_text(PYTHON)
    shutil.copy(CHECKOUT / "run.py", folder)
    (folder / "requirements.lock").write_text("one==1\ntwo==2\n")
    (folder / "pyproject.toml").write_text("[project]\n")
    return folder


def environment(checkout: Path, **amiss: str) -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout.parent / "fakes"), "CC": "true", **amiss}


def run(checkout: Path, *arguments: str, **amiss: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "run.py", *(arguments or ("cli", "queues", "S"))]
    return subprocess.run(
        command, cwd=checkout, env=environment(checkout, **amiss), capture_output=True, text=True, check=False
    )


def synced(checkout: Path) -> int:
    """How many times packages were installed."""
    return (checkout / "uv.calls").read_text().count("pip sync")


def works(checkout: Path) -> bool:
    done = run(checkout)
    return (done.returncode, done.stdout) == (0, "ran -m pipelines.cli queues S\n")


def test_the_first_run_sets_up_and_the_next_ones_start_at_once(checkout: Path) -> None:
    assert works(checkout)
    second = run(checkout)
    assert (second.stdout, second.stderr) == ("ran -m pipelines.cli queues S\n", "")
    assert synced(checkout) == 1
    (checkout / "requirements.lock").write_text("one==1\n")
    assert works(checkout)
    assert synced(checkout) == 2
    assert (checkout / "kernels.calls").read_text() == "compiled\n"


def test_kernels_are_compiled_where_they_can_be(checkout: Path) -> None:
    assert "compiling" not in run(checkout, CC="no-such-compiler").stderr
    refused = run(checkout, AMISS="kernels")
    assert refused.stderr.splitlines()[-1] == "run.py: each kernel is compiled when it is first called"
    assert refused.stdout == "ran -m pipelines.cli queues S\n"
    assert run(checkout).stderr == "run.py: compiling what runs as machine code (once; half a minute)\n"
    assert run(checkout).stderr == ""
    assert (checkout / "kernels.calls").read_text() == 2 * "compiled\n"


def test_the_tests_compile_them_themselves(checkout: Path) -> None:
    assert "ran -m tests" in run(checkout, "test").stdout
    assert not (checkout / "kernels.calls").exists()


@pytest.mark.parametrize(
    ("amiss", "sentence"),
    [
        ("no pip", "fetching the installer: this Python has no pip: install it"),
        ("no index", "fetching the installer: the package index cannot be reached; what came is kept"),
        ("disk", "installing: the disk is full: 2.5 GB are needed; make room, then run this again"),
        ("half-way", "installing: the package index cannot be reached; what came is kept, run this again to go on"),
        ("pin", "installing: a package is not the one that was pinned; run this again"),
        ("odd", "installing: ended with 3: error: something else; run this again"),
    ],
)
def test_what_is_amiss_is_one_sentence_and_the_next_run_mends_it(checkout: Path, amiss: str, sentence: str) -> None:
    done = run(checkout, AMISS=amiss)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(f"run.py: {sentence}")
    assert "Traceback" not in done.stderr
    assert works(checkout)


@pytest.mark.parametrize("harm", ["no interpreter", "no package", "no installer", "a file", "a link to nothing"])
def test_what_broke_since_is_made_anew(checkout: Path, harm: str) -> None:
    assert works(checkout)
    if harm == "no interpreter":
        (checkout / ".venv" / "bin" / "python").unlink()
        (checkout / ".venv" / "bin" / "python").symlink_to("/nowhere/python3")
    elif harm == "no package":
        shutil.rmtree(next(checkout.glob(".venv/lib/*/site-packages/two-2.dist-info")))
    elif harm == "no installer":
        shutil.rmtree(checkout / ".venv")
        (checkout / ".bootstrap" / "bin" / "uv").write_text("")
    else:
        for place in (checkout / ".venv", checkout / ".bootstrap"):
            shutil.rmtree(place)
            place.write_text("") if harm == "a file" else place.symlink_to("/nowhere/at/all")
    assert works(checkout)
    assert synced(checkout) == 2


def test_a_second_run_waits_for_the_first(checkout: Path) -> None:
    command = [sys.executable, "run.py", "cli", "one"]
    first = subprocess.Popen(command, cwd=checkout, env=environment(checkout, SLOW="1.5"), stdout=subprocess.PIPE)
    while not (checkout / "syncing").exists():
        assert first.poll() is None
    second = run(checkout, "cli", "two")
    told, _ = first.communicate(timeout=30)
    assert (told, second.stdout) == (b"ran -m pipelines.cli one\n", "ran -m pipelines.cli two\n")
    assert second.stderr == "run.py: another run is setting up; waiting for it\n"
    assert synced(checkout) == 1


def test_an_interrupt_is_one_sentence_and_the_next_run_goes_on(checkout: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "run.py", "demo"],
        cwd=checkout,
        env=environment(checkout, SLOW="20"),
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while not (checkout / "syncing").exists():
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert said.decode().splitlines()[-1] == "run.py: interrupted; run this again to go on"
    assert works(checkout)


def test_an_older_python_reads_as_far_as_the_sentence() -> None:
    text = (CHECKOUT / "run.py").read_text("utf-8")
    ast.parse(text, feature_version=(3, 6))
    old = "import sys; sys.version_info = (3, 9, 2); sys.version = '3.9.2 (old)'; sys.argv = ['run.py', 'demo']\n"
    code = f"{old}import runpy; runpy.run_path('run.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "run.py: Python 3.11 or newer is needed, this is 3.9.2\n")


@pytest.mark.parametrize(("arguments", "code"), [(("--help",), 0), (("nothing",), 2), (("bundle", "--help"), 0)])
def test_the_usage_names_every_command(arguments: tuple[str, ...], code: int) -> None:
    done = subprocess.run(
        [sys.executable, "run.py", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert "bundle" in done.stdout + done.stderr
