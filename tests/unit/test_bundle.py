"""A bundle installs where there is no network, and says in one sentence why it does not."""

from __future__ import annotations

import ensurepip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.copies import copy_tree
from tests.support.fixtures import CHECKOUT
from tests.support.light import WHEEL_TARGETS
from tools.bundle import BundleError, bundle, describe, main, pins_of, this_machine

PIPS = (Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels"))
BARE = {"PATH": os.defpath, "PYTHON": sys.executable, "LC_ALL": "C.UTF-8"}
ALONE = ("unshare", "--map-root-user", "--net")


def lonely() -> bool:
    """Whether this user may make a namespace without a network."""
    if shutil.which(ALONE[0]) is None:
        return False
    return subprocess.run([*ALONE, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of rocketlens alone, without what it depends on."""
    folder = tmp_path_factory.mktemp("bundles") / "bundle"
    pips = [wheel for place in PIPS for wheel in place.glob("pip-*.whl")]
    if not pips:
        pytest.skip("this Python brings no wheel of pip (python3-venv of Debian has it)")
    (folder / "wheels").mkdir(parents=True)
    shutil.copy(pips[0], folder / "wheels")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheels")]
    environment = {**os.environ, "ROCKETLENS_TARGETS": WHEEL_TARGETS}
    subprocess.run(build, cwd=CHECKOUT, env=environment, capture_output=True, check=True)
    describe(folder)
    return folder


def install(made: Path, to: Path, *before: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*before, "sh", str(made / "install.sh"), str(to)]
    return subprocess.run(command, env={**BARE, **environment}, capture_output=True, text=True, check=False)


def test_it_installs_without_a_network(made: Path, tmp_path: Path) -> None:
    if not lonely():
        pytest.skip("no namespace without a network may be made here (unshare)")
    to = tmp_path / "here" / "rocketlens"
    to.parent.mkdir()
    done = install(made, to, *ALONE)
    assert (done.returncode, done.stderr) == (0, "")
    told = subprocess.run(
        [to / "bin" / "python", "-c", "import rebalance, rocketlens; print(rocketlens.__version__)"],
        cwd=tmp_path,
        env=BARE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == made.glob("wheels/rocketlens-*").__next__().name.split("-")[1]
    assert (to / "bin" / "rocketlens").is_file()


def test_what_did_not_come_whole_is_not_installed(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_tree(made, copy)
    wheel = next(copy.glob("wheels/rocketlens-*"))
    wheel.write_bytes(wheel.read_bytes() + b"x")
    done = install(copy, tmp_path / "to")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, f"install.sh: wheels/{wheel.name} is damaged")
    wheel.unlink()
    assert f"wheels/{wheel.name} is missing" in install(copy, tmp_path / "to").stderr
    assert not (tmp_path / "to").exists()


def test_another_interpreter_is_refused(made: Path, tmp_path: Path) -> None:
    odd = tmp_path / "python"
    odd.write_text("#!/bin/sh\necho CPython 3.9 on Linux mips\n")
    odd.chmod(0o755)
    done = install(made, tmp_path / "to", PYTHON=str(odd))
    assert done.stderr == f"install.sh: these wheels are for {this_machine()}, and {odd} is CPython 3.9 on Linux mips\n"
    assert "there is no /nowhere here" in install(made, tmp_path / "to", PYTHON="/nowhere").stderr
    assert "is there already" in install(made, tmp_path).stderr


def test_pip_checks_the_hashes_itself(made: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy_tree(made, copy)
    (copy / "requirements.txt").write_text("rocketlens==0.1.0 --hash=sha256:" + "0" * 64 + "\n")
    lines = (copy / "SHA256SUMS").read_text().splitlines(True)
    (copy / "SHA256SUMS").write_text("".join(line for line in lines if "requirements" not in line))
    done = install(copy, tmp_path / "to")
    assert done.returncode == 1
    assert "DO NOT MATCH THE HASHES" in done.stderr
    assert not (tmp_path / "to").exists()


def test_pins_are_taken_from_the_lock_with_their_hashes() -> None:
    lock = (CHECKOUT / "requirements.lock").read_text("utf-8")
    pins = list(pins_of({"numba", "duckdb"}, lock))
    assert [pin.partition(" ")[0] for pin in pins] == ["duckdb==2.0.0", "numba==0.68.1"]
    assert all(pin.count("--hash=sha256:") > 5 for pin in pins)


def test_a_bundle_that_cannot_be_made_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho 'error: no route to the index' >&2\nexit 2\n")
    uv.chmod(0o755)
    assert main(["--to", str(tmp_path / "new" / "bundle")], uv) == 1
    assert capsys.readouterr().err == ("run.py: the list of packages could not be had: error: no route to the index\n")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(BundleError, match="is there already"):
        bundle(tmp_path, uv, with_platform=False)
