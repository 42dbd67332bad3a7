"""What every command answers about the golden evidence, in a folder, so that two revisions can be held side by side.

    python -m tests.support.outputs FOLDER [--only TEXT] [--cases all] [--processes 2]

For an earlier revision run this file in a worktree of it: `PYTHONPATH=$PWD python .../outputs.py FOLDER`.
`diff -rq BEFORE AFTER` then names what answers otherwise. Each file is one call: its exit code, what it wrote on its
streams, and the files that it made. The clock stands still, and paths of evidence are named STORE, so that the same
code gives the same files.
"""

from __future__ import annotations

import argparse
import re
import tarfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from pipelines.notebook.bundles import extract_all
from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.recovery_cases import CaseSet, database_cases, ext_cases, golden_cases
from tests.unit.test_cli_evidence import CALLS

TEMPORARY = re.compile(r"tmp[a-z0-9_]{8}")
"""Names that `tempfile` makes, where a path is told from another one."""
NOW = 1_800_000_000.0
"""The second at which every call is made."""
TEXTS = frozenset({".html", ".toml", ".json", ".md"})
OF_DAMAGE = ("queues", "verify", "forecast", "rebuild", "retention", "ledger")
"""Commands that are asked of damaged stores."""
IN_WORDS = ("verify", "forecast", "lag", "groups", "retention", "who", "backlog", "episodes")
"""Commands that say it otherwise on a terminal: they are asked for a table, too."""
OTHERWISE = {
    "explain": ["{log}", "--limit", "60"],
    "offset-at": ["{store}", "--topic", "{topic}", "--queue", "{queue}", "--at", "{at}"],
    "start-at": ["{store}", "--topic", "{topic}"],
    "episodes": ["{store}", "--least", "1"],
}
"""Calls that fit any store, in the place of CALLS, which fit one."""
ENDLESS = frozenset({"watch"})
TABLES_OF_A_REPLAY = ("intervals", "assignments", "anomalies", "divergence", "notes", "unrecognised")


@dataclass(frozen=True)
class Asked:
    """A place of evidence by its label, and the calls that are made of it."""

    label: str
    place: Path
    names: tuple[str, ...]


def main() -> None:
    """Ask everything of everything."""
    asked = argparse.ArgumentParser(prog="tests.support.outputs", description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--only", default="", help="only evidence whose label has this text")
    asked.add_argument(
        "--cases", choices=("one", "all"), default="one", help="damaged stores, one of each class or all"
    )
    asked.add_argument("--processes", type=int, default=2)
    given = asked.parse_args()
    jobs = [(label, job) for label, job in everything(given.cases == "all") if given.only in label]
    with ProcessPoolExecutor(given.processes) as pool:
        for done in [pool.submit(job, given.folder) for _, job in sorted(jobs, key=_mixed)]:
            done.result()


def everything(all_cases: bool) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Each piece of evidence by its label, and what asks it."""
    for path in sorted(GOLDEN.rglob("*.tar.gz")):
        if "make" not in path.parts:
            yield str(path.relative_to(GOLDEN)), partial(of_archive, path)
    for path in sorted(GOLDEN.rglob("logs")):
        yield str(path.relative_to(GOLDEN)), partial(of_recordings, path)
    for cases in (golden_cases(), database_cases(), ext_cases()):
        for name in cases.names() if all_cases else cases.one_of_each_class():
            label = f"{cases.root.relative_to(GOLDEN).as_posix()}/{name}"
            yield label, partial(of_case, cases, name, label)


def _mixed(job: tuple[str, object]) -> str:
    """A run that is cut short has asked some of every kind."""
    return sha256(job[0].encode()).hexdigest()


def of_archive(archive: Path, folder: Path) -> None:
    """Every store that an archive holds, asked by every command; its recordings replayed where it has any."""
    label = str(archive.relative_to(GOLDEN)).removesuffix(".tar.gz")
    with TemporaryDirectory() as scratch, tarfile.open(archive) as tar:
        whole = Path(scratch) / "whole"
        extract_all(tar, whole)
        stores = sorted(path.parent for path in whole.rglob("commitlog") if path.is_dir())
        for store in stores:
            place = f"{label}/{store.relative_to(whole).as_posix()}"
            ask(Asked(place, store, tuple(name for name in CALLS if name not in ENDLESS)), folder)
        if any(whole.rglob("*.log*")):
            replayed(label, whole, folder)


def of_recordings(place: Path, folder: Path) -> None:
    replayed(str(place.relative_to(GOLDEN)), place.parent, folder)


def of_case(cases: CaseSet, name: str, label: str, folder: Path) -> None:
    """A damaged store, asked by the commands that judge damage."""
    time.time = lambda: NOW
    with cases.built(cases.case(name)) as store:
        ask(Asked(label, store, OF_DAMAGE), folder)


def ask(asked: Asked, folder: Path) -> None:
    """Make every call of one place of evidence."""
    first = call("dump", "commitlog", asked.place, "--limit", "1", "--quiet")
    rows = first.rows if first.code in (0, 1, 4) else []
    message = rows[0] if rows else {}
    logs = sorted(path for path in (asked.place / "commitlog").rglob("*") if path.is_file())
    filled = {
        "store": asked.place,
        "message_id": message.get("message_id", "00"),
        "topic": message.get("topic", "Small"),
        "queue": message.get("queue_id", 0),
        "at": message.get("store_timestamp_ms", 1795273632813),
        "log": logs[0] if logs else asked.place,
    }
    for name in asked.names:
        given = OTHERWISE.get(name, CALLS[name])
        tell(folder / asked.label / f"{name}.txt", asked.place, [*name.split(), *given], filled)
        if name in IN_WORDS:
            words = [*name.split(), *given, "--format", "table"]
            tell(folder / asked.label / f"{name} in words.txt", asked.place, words, filled)


def replayed(label: str, place: Path, folder: Path) -> None:
    """The tables of a replay of recordings."""
    for show in TABLES_OF_A_REPLAY:
        tell(folder / label / f"replay {show}.txt", place, ["replay", "{store}", "--show", show], {"store": place})


def tell(file: Path, place: Path, arguments: list[str], filled: dict[str, object]) -> None:
    """One call, written down."""
    with TemporaryDirectory() as out, standing_clock():
        made = Path(out) / "made"
        made.mkdir()
        called = call(*(part.format(**filled, out=made) for part in arguments))
        named = [(str(place), "STORE"), (str(made), "MADE")]
        lines = [f"exit code {called.code}\n", as_named(called.err, named), as_named(called.out.decode(), named)]
        for path in sorted(path for path in made.rglob("*") if path.is_file()):
            lines.append(f"== {path.relative_to(made).as_posix()} {path.stat().st_size}\n")
            lines.append(as_named(path.read_text("utf-8"), named) if path.suffix in TEXTS else _digest(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(lines), "utf-8")


def as_named(text: str, named: list[tuple[str, str]]) -> str:
    for path, name in named:
        text = text.replace(path, name)
    return TEMPORARY.sub("TMP", text)


def _digest(path: Path) -> str:
    return f"{sha256(path.read_bytes()).hexdigest()}\n"


@contextmanager
def standing_clock() -> Iterator[None]:
    """`time.time()` is always NOW."""
    running = time.time
    time.time = lambda: NOW
    try:
        yield
    finally:
        time.time = running


if __name__ == "__main__":
    main()
