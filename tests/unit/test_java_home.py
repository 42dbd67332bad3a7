"""Java for Spark: the installed one when it is new enough, else the wheel's, both through the shim."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.spark.java_home import DROPPED, MINIMUM_JAVA, NoJava, ensure_java, java_version, write_shim


def fake_java(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without Java: nothing named, nothing on the path, a virtual environment of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return tmp_path


def test_the_shim_drops_one_argument_and_keeps_every_other(tmp_path: Path) -> None:
    printer = tmp_path / "a folder" / "java"
    printer.parent.mkdir()
    printer.write_text('#!/bin/sh\nfor a in "$@"; do printf "<%s>" "$a"; done\n')
    printer.chmod(0o755)
    write_shim(tmp_path / "bin" / "java", str(printer))
    told = subprocess.run(
        [str(tmp_path / "bin" / "java"), "-Da=b c", DROPPED, "", "-cp", "x:y", "--add-modules=java.sql"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "<-Da=b c><><-cp><x:y><--add-modules=java.sql>"


@pytest.mark.parametrize(("printed", "major"), [("17.0.15", 17), ("21.0.8", 21), ("1.8.0_392", 8), ("25", 25)])
def test_versions_old_and_new(tmp_path: Path, printed: str, major: int) -> None:
    assert java_version(str(fake_java(tmp_path, printed))) == major


def test_what_is_no_java_has_no_version(tmp_path: Path) -> None:
    assert java_version(str(tmp_path / "missing")) is None


def test_a_machine_without_java_gets_the_wheels(no_java: Path) -> None:
    home = Path(ensure_java())
    assert home.is_relative_to(no_java / "venv"), "a shared folder could be put there by somebody else first"
    assert os.environ["JAVA_HOME"] == str(home)
    os.environ["PATH"] = "/usr/bin:/bin"
    version = java_version(str(home / "bin" / "java"))
    assert version is not None
    assert version >= MINIMUM_JAVA
    os.environ["PATH"] = "/nowhere"
    assert ensure_java() == str(home), "a second call changes nothing"


def test_a_java_that_is_too_old_is_passed_over(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(no_java / "old", "11.0.2").parents[1]))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    shim = Path(ensure_java()) / "bin" / "java"
    assert str(no_java / "old") not in shim.read_text()


def test_a_java_that_is_new_enough_is_used(no_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = fake_java(no_java / "new", "21.0.8")
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert str(java) in (Path(ensure_java()) / "bin" / "java").read_text()


def test_an_environment_that_nobody_may_write_to_leaves_the_users_cache(
    no_java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (no_java / "venv").touch()  # no folder, so that nothing can be put below it, by root either
    monkeypatch.setenv("XDG_CACHE_HOME", str(no_java / "cache"))
    home = ensure_java()
    assert home == str(no_java / "cache" / "rocketlens-java")
    assert ensure_java() == home
    monkeypatch.delenv("JAVA_HOME")
    (no_java / "cache").rename(no_java / "gone")
    (no_java / "cache").touch()
    with pytest.raises(NoJava, match=r"neither to .* nor to "):
        ensure_java()
