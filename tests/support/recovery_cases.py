"""Damaged stores with what the real store classes did: build one case's folder, compare it with a played start.

A case is a base store (unpacked once per process) and edits; see the README beside the cases for every field.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Case = dict[str, Any]


@dataclass(frozen=True)
class CaseSet:
    """A folder with `bases/` and `cases/`."""

    root: Path

    def names(self) -> list[str]:
        return sorted(path.stem for path in (self.root / "cases").glob("*.json"))

    def case(self, name: str) -> Case:
        loaded: Case = json.loads((self.root / "cases" / f"{name}.json").read_text())
        return loaded

    @contextmanager
    def built(self, case: Case) -> Iterator[Path]:
        """The case's store folder, gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="recovery-case-") as folder:
            root = Path(folder) / "store"
            shutil.copytree(_unpacked(self.root / "bases" / f"{case['base']}.tar.gz"), root)
            for edit in case["edits"]:
                EDITS[edit["op"]](root / edit["path"], edit, root)
            yield root


@functools.cache
def _unpacked(archive: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="recovery-base-"))
    _FOLDERS.append(folder)
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


_FOLDERS: list[Path] = []


def remove_unpacked() -> None:
    """Drop the base stores that this process unpacked."""
    _unpacked.cache_clear()
    while _FOLDERS:
        shutil.rmtree(_FOLDERS.pop(), ignore_errors=True)


def _delete(path: Path, edit: Case, root: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _create(path: Path, edit: Case, root: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes.fromhex(edit.get("hex", "")))
    if "length" in edit:
        os.truncate(path, edit["length"])


def _mtime(path: Path, edit: Case, root: Path) -> None:
    then = time.time() - edit["hoursAgo"] * 3600
    os.utime(path, (then, then))


def _append(path: Path, edit: Case, root: Path) -> None:
    with path.open("ab") as file:
        file.write(bytes.fromhex(edit["hex"]))


def _copy(path: Path, edit: Case, root: Path) -> None:
    target = root / edit["to"]
    if "length" not in edit:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        return
    with path.open("rb") as file:
        file.seek(edit["offset"])
        moved = file.read(edit["length"])
    _overwrite(target, edit["toOffset"], moved)


def _flip(path: Path, edit: Case, root: Path) -> None:
    mask = bytes.fromhex(edit.get("hex", "01"))
    with path.open("rb") as file:
        file.seek(edit["offset"])
        before = file.read(edit.get("length", 1))
    _overwrite(path, edit["offset"], bytes(b ^ mask[i % len(mask)] for i, b in enumerate(before)))


def _overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


EDITS = {
    "delete": _delete,
    "truncate": lambda path, edit, root: os.truncate(path, edit["length"]),
    "create": _create,
    "mkdir": lambda path, edit, root: path.mkdir(parents=True, exist_ok=True),
    "mtime": _mtime,
    "append": _append,
    "copy": _copy,
    "flip": _flip,
    "zero": lambda path, edit, root: _overwrite(path, edit["offset"], bytes(edit["length"])),
    "write": lambda path, edit, root: _overwrite(path, edit["offset"], bytes.fromhex(edit["hex"])),
}


def sha256(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()
