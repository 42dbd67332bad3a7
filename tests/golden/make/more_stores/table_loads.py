"""What the managers of topics, groups and offsets of 5.4.0 and 5.5.0 load from their databases (see `Tables.java`).

`python -m tests.golden.make.more_stores.table_loads JARS > tests/golden/rocksdb_tables/loads.jsonl` (JARS/VERSION:
rocketmq-broker and what it needs, of that release). Rows that a broker makes at every start are in the
first case alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.java_lab import OPENED
from tests.support.table_loads import CASES, VERSIONS, make_config, settings_of

OPENS = [word for module in OPENED for word in ("--add-opens", f"java.base/{module}=ALL-UNNAMED")]


def load(jars: str, version: str, root: Path, settings: dict[str, str]) -> dict[str, Any]:
    """By table what load() says, and its rows."""
    conf, classes = root.with_suffix(".conf"), root.parent / f"classes-{version}"
    own = {"storePathRootDir": root, "storePathCommitLog": root / "commitlog", "brokerIP1": "127.0.0.1"}
    conf.write_text("".join(f"{name}={value}\n" for name, value in {**settings, **own}.items()))
    if not classes.exists():
        source = Path(__file__).with_name("Tables.java")
        subprocess.run(["javac", "-nowarn", "-cp", f"{jars}/{version}/*", "-d", classes, source], check=True)
    command = ["java", "-Xmx300m", *OPENS, f"-Duser.home={root.parent}", "-cp", f"{classes}:{jars}/{version}/*"]
    done = subprocess.run([*command, "Tables", str(conf)], capture_output=True, text=True, check=True)
    told = next(line for line in done.stdout.splitlines() if line.startswith("TABLES "))
    answer: dict[str, Any] = json.loads(told.removeprefix("TABLES "))
    return answer


def main(jars: str) -> None:
    for version in VERSIONS:
        made: dict[str, set[str]] = {}
        for number, (name, case) in enumerate(CASES.items()):
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder) / str(number)
                make_config(root, version, case)
                told = load(jars, version, root, settings_of(case))
            for table, each in told.items():
                values = {row: f"{row} {value}" if table == "offsets" else row for row, value in each["rows"].items()}
                each["rows"] = sorted(value for row, value in values.items() if row not in made.get(table, ()))
            made = made or {table: set(each["rows"]) for table, each in told.items()}
            print(json.dumps({"version": version, "case": name, **told}, separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1])
