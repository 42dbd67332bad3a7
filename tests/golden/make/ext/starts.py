#!/usr/bin/env python3
"""starts.py JARS: what the broker's classes make of damaged stores whose ext units have bit maps, with its filters.

Run in the checkout with its Python; JARS as for stores.sh. Writes tests/golden/ext/starts.json.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.support.ext_starts import DAMAGES
from tests.support.java_lab import OPENED

HERE = Path(__file__).parent
TO = HERE.parents[1] / "ext"
VERSIONS = ("5.3.3", "5.5.0")


def start(root, version, jars, classes):
    opens = [word for module in OPENED for word in ("--add-opens", f"java.base/{module}=ALL-UNNAMED")]
    exports = ["--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"]
    command = ["java", "-Xmx512m", *opens, *exports, "-cp", f"{classes}:{jars / version}/*", "StartWithFilters", str(root)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    return dict(line.split(" ", 1) for line in told.splitlines() if line.startswith(("load ", "consumequeue")))


def main(jars):
    found = {}
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as classes:
            source = [str(HERE / "StartWithFilters.java")]
            subprocess.run(["javac", "-nowarn", "-cp", f"{jars / version}/*", "-d", classes, *source], check=True)
            for name, damage in DAMAGES.items():
                with tempfile.TemporaryDirectory() as work, tarfile.open(TO / f"{version}.tar.gz") as packed:
                    packed.extractall(work, filter="data")
                    damage(Path(work) / "store")
                    found.setdefault(version, {})[name] = start(Path(work) / "store", version, jars, classes)
                print(version, name, len(found[version][name]), flush=True)
    (TO / "starts.json").write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
