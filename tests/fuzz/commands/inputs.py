"""One input: a base with its files mutated, renamed, exchanged, emptied, or replaced by something that is no file."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from tests.fuzz.commands.bases import FOLDER, SMALL_EVERY, Base, broker_stores, recordings, small_stores
from tests.fuzz.mutations import mutated

NAMES = (
    "0",
    "abort",
    "lock",
    "checkpoint",
    "00000000000000000001",
    "99999999999999999999",
    "-1",
    "=1+1",
    "\x1b[31m",
    "\n",
    "a" * 200,
    os.fsdecode(b"\xff\xfe"),
    "topics.json",
    "LOCK",
    "CURRENT",
)
TIMES_S = (0, 1, -1, 1 << 31, 4_000_000_000, 1_795_000_000)
DATED = b"2026-11-21 20:00:00 INFO main - "


@dataclass(frozen=True)
class Input:
    """An input on disk: `folder` holds `store/` or `recordings/`; `chance` picks what is asked of it."""

    base: Base
    folder: Path
    chance: Random
    done: tuple[str, ...]

    @property
    def place(self) -> Path:
        return self.folder / ("store" if self.base.is_store else "recordings")

    @cached_property
    def files(self) -> list[Path]:
        """All of the input; every command leaves them as they are."""
        return files_of(self.folder)

    @cached_property
    def inside(self) -> list[Path]:
        """Those of the files that are in the place asked of."""
        return files_of(self.place)


def make_input(folder: Path, seed: str) -> Input:
    """The input of a seed, always the same."""
    chance = Random(seed)
    base = pick_base(chance)
    write(base, folder)
    done = [chance.choice(MUTATIONS)(folder, chance) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
    return Input(base, folder, chance, tuple(done))


def pick_base(chance: Random) -> Base:
    if chance.random() < 0.25:
        return chance.choice(recordings())
    if chance.randrange(SMALL_EVERY):
        return chance.choice(small_stores())
    return chance.choice(broker_stores())


def write(base: Base, folder: Path) -> None:
    for name, content in base.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.replace(FOLDER, os.fsencode(folder)) if name == "broker.conf" else content)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def bytes_changed(folder: Path, chance: Random) -> str:
    """Some of a file's bytes, several times as often as anything else."""
    files = files_of(folder)
    path = chance.choice(files)
    other = chance.choice(files).read_bytes()
    path.write_bytes(mutated(path.read_bytes(), chance, [other]))
    return f"bytes of {path.name!r} changed"


def cut(folder: Path, chance: Random) -> str:
    path = chance.choice(files_of(folder))
    size = path.stat().st_size
    os.truncate(path, chance.choice((0, 1, size // 2, max(0, size - 1), size + 1, size * 2)))
    return f"{path.name!r} cut or lengthened"


def removed(folder: Path, chance: Random) -> str:
    path = chance.choice(files_of(folder))
    path.unlink()
    return f"{path.name!r} removed"


def renamed(folder: Path, chance: Random) -> str:
    path = chance.choice(files_of(folder))
    new = path.with_name(str(int(path.name) + chance.choice((-1, 1, 4096))) if path.name.isdigit() else path.name + "x")
    new = chance.choice((new, path.with_name(chance.choice(NAMES))))
    if not new.exists():
        path.rename(new)
    return f"{path.name!r} renamed to {new.name!r}"


def folder_renamed(folder: Path, chance: Random) -> str:
    folders = sorted(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink())
    path = chance.choice(folders[1:])
    new = path.with_name(chance.choice((*NAMES, "1", "2147483648", "%RETRY%g", "dledger-n0", "commitlog")))
    if not new.exists():
        path.rename(new)
    return f"folder {path.name!r} renamed to {new.name!r}"


def exchanged(folder: Path, chance: Random) -> str:
    one, other = chance.choice(files_of(folder)), chance.choice(files_of(folder))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return f"{one.name!r} and {other.name!r} exchanged"


def copied(folder: Path, chance: Random) -> str:
    path = chance.choice(files_of(folder))
    new = chance.choice(files_of(folder)).with_name(chance.choice(NAMES))
    if not new.exists():
        new.write_bytes(path.read_bytes())
    return f"{path.name!r} copied to {new.name!r}"


def packed(folder: Path, chance: Random) -> str:
    path = chance.choice(files_of(folder))
    whole = gzip.compress(path.read_bytes(), mtime=0)
    path.with_name(f"{path.name}.gz").write_bytes(whole[: chance.choice((len(whole), len(whole) // 2, 12))])
    path.unlink()
    return f"{path.name!r} packed"


def no_file(folder: Path, chance: Random) -> str:
    """A folder, a pipe, a link in a circle, a link that leads nowhere, or one to another file, in a file's place."""
    path, other = chance.choice(files_of(folder)), chance.choice(files_of(folder))
    path.unlink()
    kind = chance.choice(("folder", "pipe", "circle", "nowhere", "link"))
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"circle": path.name, "nowhere": "nowhere", "link": other}[kind])
    return f"{path.name!r} made a {kind}"


def at_another_time(folder: Path, chance: Random) -> str:
    path, time = chance.choice(files_of(folder)), chance.choice(TIMES_S)
    os.utime(path, (time, time))
    return f"{path.name!r} of {time}"


def lines_moved(folder: Path, chance: Random) -> str:
    path = chance.choice(files_of(folder))
    lines = path.read_bytes()[: 1 << 18].splitlines(keepends=True)
    for _ in range(chance.randint(1, 8)):
        if lines:
            at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[to:to] = chance.choice(([lines[at]], [lines[at][: len(lines[at]) // 2]], [DATED + lines[at]], []))
            del lines[at]
    path.write_bytes(b"".join(lines))
    return f"lines of {path.name!r} moved"


MUTATIONS: list[Callable[[Path, Random], str]] = [
    *([bytes_changed] * 6),
    cut,
    removed,
    renamed,
    folder_renamed,
    exchanged,
    copied,
    packed,
    no_file,
    at_another_time,
    lines_moved,
]
