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
    if not (classes / "Lab.class").exists():
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
        *opens,
        *exports,
        home,
        logback,
        "-cp",
        f"{classes}:{jars}/*",
        "Lab",
    ]


def recover(store_root: Path, version: str, settings: Mapping[str, object]) -> dict[str, Any]:
    """Load and start the store with DefaultMessageStore of `version`, wait until dispatch is quiet, shut down.

    Works on `store_root` itself, which the broker writes to: give it a copy. Returns what the lab saw; the fields are
    those of `truth` in the recovery fixtures.
    """
    answer = store_root.parent / f"{store_root.name}.truth.json"
    pairs = [f"{name}={value}" for name, value in settings.items()]
    todo = store_root.parent / f"{store_root.name}.todo"
    todo.write_text("\t".join([str(store_root), str(answer), *pairs]) + "\n")
    subprocess.run([*recovery_classes(version), "recover", str(todo)], check=True, timeout=120, capture_output=True)
    seen: dict[str, Any] = json.loads(answer.read_text())
    return seen
