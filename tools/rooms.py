"""The map of the code, printed by `python -m tools.rooms ARCHITECTURE.md` from the order below and docstrings.

Standard library only, like everything in this folder.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("parsers", "recovery", "rebalance", "pipelines", "rocketlens")
BESIDE = {
    "benchmarks": "what takes how long, each against a baseline of the same run",
    "demo": "evidence that comes along, and the configuration of the demo",
    "deploy": "systemd units and timers, cron lines, container file (docs/scheduled.md)",
    "docs": "the documentation",
    "notebooks": "notebooks as Python files; they know the door only",
    "tests": "the tests, and under `golden` what RocketMQ itself wrote",
    "tools": "what works before anything is installed, of the standard library alone, and what a wheel is built with",
}
"""Folders that are no rooms."""
CHAPTERS = {
    "parsers": (
        "values",
        "damage",
        "layouts",
        "kernels",
        "evidence",
        "store",
        "commitlog",
        "dledger",
        "consumequeue",
        "index",
        "timer",
        "checkpoints",
        "rocksdb",
        "queues",
        "config",
        "compaction",
        "tiered",
        "messages",
        "explain",
        "",
    ),
    "parsers/kernels": ("", "llvm", "ahead"),
    "parsers/commitlog": ("record", "dledger_headers", "compiled", "files", "batches", ""),
    "recovery": (
        "rules",
        "filter",
        "scan",
        "knowledge",
        "lives",
        "query",
        "tiered",
        "fates",
        "compaction",
        "rebuild",
        "broker",
        "config",
        "start",
        "forecast",
        "retention",
        "verify",
        "compare",
    ),
    "recovery/query": ("by_time", ""),
    "recovery/verify": ("findings", "settle", "checks", ""),
    "recovery/verify/checks": ("", "log", "queue", "index"),
    "recovery/compare": ("logs", "", "written"),
    "rebalance": (
        "model",
        "facts",
        "readers",
        "strategies",
        "processes",
        "holes",
        "tenures",
        "ownership",
        "diagnosis",
        "",
    ),
    "rebalance/readers": ("", "logs", "wire"),
    "rebalance/readers/logs": ("templates", "lines", "facts", ""),
    "pipelines": (
        "installed",
        "objects",
        "lake",
        "recordings",
        "answers",
        "selection",
        "spark",
        "ingest",
        "report",
        "notebook",
        "defs",
        "cli",
        "",
    ),
    "pipelines/lake": ("tables", "configuration", "delta", ""),
    "pipelines/answers": (
        "offsets",
        "lives",
        "fates",
        "backlog",
        "",
        "lag",
        "recorded",
        "episodes",
        "journey",
        "derived",
    ),
    "pipelines/spark": ("sources", "", "jobs"),
    "pipelines/report": ("facts", "drawn", "sections", ""),
    "pipelines/defs": ("", "assets", "runs"),
    "pipelines/cli": ("frame", "commands", ""),
    "pipelines/cli/frame": ("", "asked", "written", "call"),
    "pipelines/cli/frame/call": ("", "beside"),
    "pipelines/cli/commands": ("", "store", "messages", "groups", "broker", "ownership", "lake"),
    "pipelines/cli/commands/store": ("dump", ""),
}
"""The sub-packages of a folder in the order of the data; `""` is the folder's own files. Each knows those before it."""

HEAD = """# Architecture

Printed by `python -m tools.rooms ARCHITECTURE.md` from the order of the chapters (`tools/rooms.py`) and the docstrings
of the packages. A test holds the two in step; another reads the imports: a chapter knows those above it only.

Five rooms. `parsers` knows nobody; `recovery` and `rebalance` know `parsers` and not each other; `pipelines` knows all
three; `rocketlens`, the door for Python, knows `pipelines`. The way of the data: a store's files → `parsers` (rows or
damage) → `recovery` (what a broker makes of them); a cluster's recordings → `rebalance` (who owned which queue when);
both → `pipelines` (tables, commands, report, Dagster, notebooks). Why it is so: [docs/design.md](docs/design.md).
"""


def page() -> str:
    """ARCHITECTURE.md as it must be."""
    beside = "".join(f"* **{folder}/** {words}.\n" for folder, words in BESIDE.items())
    return HEAD + "".join(line for room in ROOMS for line in _room(room)) + f"\n## Beside the rooms\n\n{beside}"


def _room(room: str) -> Iterator[str]:
    yield f"\n## {room}/\n\n{_words(room)}\n"
    own = _own_files(room)
    yield f"\nOwn files: {own}\n" if own else ""
    yield "\n" if room in CHAPTERS else ""
    yield from _chapters(room, "")


def _chapters(folder: str, indent: str) -> Iterator[str]:
    """The chapters of a folder, each with those inside it."""
    for chapter in filter(None, CHAPTERS.get(folder, ())):
        place = f"{folder}/{chapter}"
        yield f"{indent}* **{chapter}/** {_words(place)}\n"
        own = _own_files(place)
        yield f"{indent}  {own}\n" if own else ""
        yield from _chapters(place, indent + "  ")


def _own_files(folder: str) -> str:
    names = sorted(path.stem for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("__"))
    return " ".join(f"`{name}`" for name in names)


def _words(package: str) -> str:
    """What a package's docstring says in prose, without its examples."""
    text = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text("utf-8"))) or ""
    return " ".join(" ".join(part.split()) for part in text.split("\n\n") if not part.startswith(" "))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
