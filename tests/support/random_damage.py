"""Random damage of whole stores, for tests that hold the commands against each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.layout import HEAD
from parsers.store.store import open_store
from tests.support.recovery_cases import golden_cases

BASES = ("s498-halt-sync", "s531-halt-async", "s533-clean", "s551-clean", "s551-halt-sync")
VALUES = (0, 1, 7, 100, 2**15, 2**31 - 1, 2**32 - 1)


@dataclass(frozen=True)
class Damage:
    """One edit of a store, made by its number alone: the same number damages the same base in the same way."""

    seed: int

    def apply(self, root: Path) -> None:
        random = Random(self.seed)
        kinds = ("commitlog", "commitlog", "commitlog", "consumequeue", "consumequeue", "index")
        files = sorted(path for path in (root / random.choice(kinds)).rglob("*") if path.is_file())
        if files:
            path = random.choice(files)
            random.choice(LOG_EDITS if path.parent.name == "commitlog" else EDITS)(path, random)


def flip(path: Path, random: Random) -> None:
    """One byte changes."""
    place = _written_place(path, random)
    _overwrite(path, place, bytes([_read(path, place, 1)[0] ^ 1 << random.randrange(8)]))


def zero(path: Path, random: Random) -> None:
    """A piece was never written."""
    _overwrite(path, _written_place(path, random), bytes(random.choice((1, 8, 20, 512, 4096))))


def garbage(path: Path, random: Random) -> None:
    """Foreign bytes."""
    _overwrite(path, _written_place(path, random), random.randbytes(random.choice((1, 20, 300, 4096))))


def copy(path: Path, random: Random) -> None:
    """A piece of the file stands in another place, too."""
    piece = _read(path, _written_place(path, random), random.choice((20, 200, 2000)))
    _overwrite(path, _written_place(path, random), piece)


def zero_the_rest(path: Path, random: Random) -> None:
    """Power was lost: nothing behind a place reached the disk."""
    place = _written_place(path, random)
    _overwrite(path, place, bytes(path.stat().st_size - place))


def cut_short(path: Path, random: Random) -> None:
    """The file is copied in part."""
    os.truncate(path, random.randrange(path.stat().st_size + 1))


def remove(path: Path, random: Random) -> None:
    """The file is gone."""
    path.unlink()


def change_field(path: Path, random: Random) -> None:
    """One field of one record has another value."""
    records = _records(path)
    if records:
        name = random.choice(list(HEAD.offsets))
        width = HEAD.dtype[name].itemsize
        _overwrite(path, random.choice(records) + HEAD.offsets[name], random.choice(VALUES).to_bytes(8, "big")[-width:])


def change_body(path: Path, random: Random) -> None:
    """One byte of one record's body, topic or properties changes."""
    records = _records(path)
    if records:
        place = random.choice(records) + 88 + random.randrange(60)
        _overwrite(path, place, bytes([random.randrange(256)]))


def go_back(path: Path, random: Random) -> None:
    """The log was cut inside the file and goes on: a record of the file, put anew, with older ones after it."""
    records = _records(path)
    if len(records) > 2:
        at = random.choice(records[1:-1])
        _overwrite(path, at, random.randbytes(random.choice((2, 90, 200))))


Edit = Callable[[Path, Random], None]
EDITS: Sequence[Edit] = (flip, zero, garbage, copy, zero_the_rest, cut_short, remove)
LOG_EDITS: Sequence[Edit] = (*EDITS, change_field, change_field, change_body, change_body, go_back)


def _records(path: Path) -> list[int]:
    """File positions of the file's messages."""
    file = next(found for found in open_store(path.parents[1]).commitlog if found.path == path)
    batches = read_commitlog([file], columns=["physical_offset"])
    return [at - (file.base_offset or 0) for batch in batches for at in batch["physical_offset"].to_pylist()]


def _written_place(path: Path, random: Random) -> int:
    """Mostly where something is written, since most files are mostly empty."""
    content = path.read_bytes()
    written = len(content.rstrip(b"\0"))
    return random.randrange(max(1, written if random.random() < 0.9 else len(content)))


def _read(path: Path, at: int, size: int) -> bytes:
    return path.read_bytes()[at : at + size].ljust(1, b"\0")


def _overwrite(path: Path, at: int, content: bytes) -> None:
    """Bytes in place; the file keeps its size."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content[: max(0, path.stat().st_size - at)])


@contextmanager
def damaged_store(base: str, seeds: Sequence[int]) -> Iterator[Path]:
    """The root of a base store with so many damages, gone afterwards."""
    with golden_cases().built({"base": base, "edits": []}) as root:
        for seed in seeds:
            Damage(seed).apply(root)
        yield root
