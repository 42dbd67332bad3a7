"""Damage a small DLedger log in many ways and record where DLedger's own recovery ends it.

`python -m tests.golden.make.dledger.make CLASSPATH > tests/golden/recovery/dledger_recover.jsonl`, with `Recover.java`
compiled and the dependencies of rocketmq-store 5.3.3 (dledger 0.3.1.2) in the class path.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, ENTRY_INDEX_UNIT, HEADER_SIZE
from tests.support.dledger_log import INDEX_FILE_SIZE, NODE, DLedgerLog
from tests.support.dledger_recover import FILE_SIZE, apply, some_log

CASES = 300
EDITS = (
    "header",
    "header",
    "header",
    "unit",
    "units",
    "blank",
    "last",
    "middle",
    "cut",
    "zeros",
    "message",
    "leftover",
)
OPENED = ("nio", "util", "lang", "net", "util.concurrent")


def edits(log: DLedgerLog, random: Random) -> list[list[Any]]:
    """One damage: `[file, byte, hex]` writes, `[file, size]` cuts, `[file]` deletes."""
    kind = random.choice(EDITS)
    header = random.choice(log.headers[-20:] if random.random() < 0.7 else log.headers)
    data, at = name_of("data", header.position), header.position % FILE_SIZE
    files = sorted(path.name for path in (log.root / NODE / "data").iterdir())
    if kind == "header":
        field = random.choice(ENTRY_HEADER.fields)
        value = random.choice([0, -1, 1, 3, 60, random.randrange(1 << 31)])
        return [[data, at + ENTRY_HEADER.offsets[field.name], value.to_bytes(field.width, "big", signed=True).hex()]]
    if kind in ("unit", "units"):
        size = ENTRY_INDEX_UNIT.size
        write = random.randbytes(1) if kind == "unit" else bytes(size * random.choice([1, 9, 60]))
        return [
            [
                name_of("index", 0),
                header.entry_index * size + (random.randrange(size) if kind == "unit" else 0),
                write.hex(),
            ]
        ]
    if kind == "blank":
        base = int(random.choice(files[:-1]))
        end = max(h.position + h.entry_size for h in log.headers if h.position < base + FILE_SIZE)
        return [[name_of("data", base), end - base + 4, random.choice(["00000008", "00000000", "fffffff0"])]]
    if kind == "last":
        return [[name_of("data", int(name))] for name in files[-random.randint(1, 3) :]]
    if kind == "middle":
        return [[name_of("data", int(random.choice(files[1:-1])))]]
    if kind == "cut":
        return [[data, random.randrange(FILE_SIZE)]]
    if kind == "zeros":
        return [[data, at, bytes(FILE_SIZE - at).hex()]]
    if kind == "message":
        return [[data, at + HEADER_SIZE + random.randrange(header.entry_body_size), random.randbytes(1).hex()]]
    source = random.choice(log.headers)
    content = (log.root / name_of("data", source.position)).read_bytes()[source.position % FILE_SIZE :]
    return [[name_of("data", log.end), log.end % FILE_SIZE, content[: source.entry_size].hex()]]


def name_of(folder: str, position: int) -> str:
    return f"{NODE}/{folder}/{position - position % FILE_SIZE if folder == 'data' else 0:020d}"


def java(classpath: str) -> subprocess.Popen[str]:
    opens = [word for name in OPENED for word in ("--add-opens", f"java.base/java.{name}=ALL-UNNAMED")]
    opens += [
        "--add-opens",
        "java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-opens",
        "java.base/jdk.internal.ref=ALL-UNNAMED",
    ]
    opens += ["--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(["java", "-Xmx256m", *opens, "-cp", classpath, "Recover"], text=True, **pipes)


def answer(process: subprocess.Popen[str], root: Path) -> str | None:
    """What Java says; None when it ended the process (System.exit)."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{root} {FILE_SIZE} {INDEX_FILE_SIZE}\n")
    process.stdin.flush()
    lines = iter(process.stdout.readline, "")
    return next((line.split()[1] for line in lines if line.startswith("RESULT ")), None)


def main(classpath: str) -> None:
    process = java(classpath)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(CASES):
            random, root = Random(number), Path(folder) / str(number)
            log = some_log(root)
            damage = [edit for _ in range(random.choice((1, 1, 2))) for edit in edits(log, random)]
            apply(damage, root)
            said = answer(process, root)
            if said is None:
                process = java(classpath)
            end = int(said) if said is not None and said != "refused" else None
            print(json.dumps({"damage": damage, "log_end": end}))
            shutil.rmtree(root)


if __name__ == "__main__":
    main(sys.argv[1])
