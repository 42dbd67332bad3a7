"""RocketMQ's own store classes, where a JDK and Maven are installed and `ROCKETLENS_JAVA=1` asks for them.

The harnesses are in `tests/golden/make`; jars and classes go to `$LAB_TMP` (default: a folder in the system's temporary
folder) and are made once per version.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.fixtures import GOLDEN

MAKE = GOLDEN / "make"
WORK = Path(os.environ.get("LAB_TMP") or Path(tempfile.gettempdir()) / "rocketlens-lab")
OPENED = ("java.lang", "java.nio", "java.util", "sun.nio.ch", "jdk.internal.ref", "java.io", "jdk.internal.misc")
AT_ONCE = 3
INSTALLED = bool(shutil.which("mvn") and shutil.which("javac"))
ASKED = os.environ.get("ROCKETLENS_JAVA") == "1"

needs_java = pytest.mark.skipif(
    not (INSTALLED and ASKED),
    reason="runs RocketMQ's classes: set ROCKETLENS_JAVA=1 where a JDK 17 and Maven are installed",
)


def recovery_classes(version: str) -> list[str]:
    """The command that starts the recovery lab of one version; jars and classes are made when missing."""
    lab = WORK / "recovery"
    jars, classes = lab / "jars" / version, lab / "classes" / version
    if not _is_built(classes / "Oracle.class"):
        environment = {**os.environ, "LAB_TMP": str(WORK)}
        for script in ("fetch_jars.sh", "build.sh"):
            subprocess.run(["bash", str(MAKE / "recovery" / script), version], check=True, env=environment)
    opens = [word for module in OPENED for word in ("--add-opens", f"java.base/{module}=ALL-UNNAMED")]
    exports = ["--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"]
    logback = f"-Drmq.logback.configurationFile={MAKE / 'recovery' / 'rmq.logback.xml'}"
    home = f"-Duser.home={lab / 'home' / version}"
    return [
        "java",
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        *opens,
        *exports,
        home,
        logback,
        "-cp",
        f"{classes}:{jars}/*",
        "Lab",
    ]


def _is_built(compiled: Path) -> bool:
    """The class is there, and no source of the lab is newer."""
    newest = max(source.stat().st_mtime for source in (MAKE / "recovery" / "src").rglob("*.java"))
    return compiled.exists() and compiled.stat().st_mtime >= newest


def run_lab(version: str, *arguments: str, timeout_s: float = 600, at_once: int = AT_ONCE) -> int:
    """Run the lab of one version, so many stores at once; its exit code."""
    java, *rest = recovery_classes(version)
    command = [java, f"-Dpar={at_once}", *rest, *arguments]
    return subprocess.run(command, check=False, timeout=timeout_s, capture_output=True).returncode


def recover_all(
    stores: Mapping[Path, Mapping[str, object]], version: str, *, at_once: int = AT_ONCE
) -> dict[Path, dict[str, Any]]:
    """`recover` for many stores (store root -> settings) in one Java process, a few at once.

    A store at which the process ended has no answer.
    """
    left = dict(stores)
    seen: dict[Path, dict[str, Any]] = {}
    for _ in range(ATTEMPTS):
        if not left:
            break
        todo = next(iter(left)).parent / "todo"
        todo.write_text("".join(_line(root, settings) for root, settings in left.items()))
        run_lab(version, "recover", str(todo), timeout_s=60 + 45 * len(left), at_once=at_once)
        seen |= {root: json.loads(_answer(root).read_text()) for root in left if _answer(root).exists()}
        left = {root: settings for root, settings in left.items() if root not in seen}
    return seen


ATTEMPTS = 3
"""A store whose start hangs ends the process; those after it are asked again."""


def _answer(root: Path) -> Path:
    return root.with_name(f"{root.name}.truth.json")


def _line(root: Path, settings: Mapping[str, object]) -> str:
    pairs = [f"{name}={value}" for name, value in settings.items()]
    return "\t".join([str(root), str(_answer(root)), *pairs]) + "\n"


def recover(store_root: Path, version: str, settings: Mapping[str, object]) -> dict[str, Any]:
    """Load and start the store with DefaultMessageStore of `version`, wait until dispatch is quiet, shut down.

    Works on `store_root` itself, which the broker writes to: give it a copy. Returns what the lab saw; the fields are
    those of `truth` in the recovery fixtures.
    """
    return recover_all({store_root: settings}, version)[store_root]
