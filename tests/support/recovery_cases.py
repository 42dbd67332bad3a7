"""Damaged stores with what the real store classes did: build one case's folder, compare it with a played start.

A case is a base store (unpacked once per test run) and edits; see the README beside the cases for every field.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.notebook.bundles import extract_all
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, move_once, run_folder, short_lived

Case = dict[str, Any]


@dataclass(frozen=True)
class CaseSet:
    """A folder with `bases/` (NAME.tar.gz) and `cases/` (one case a line in `*.jsonl.xz`).

    `unpacked` takes the base stores, each once.
    """

    root: Path
    unpacked: Path

    def names(self) -> list[str]:
        return sorted(_rows(self.root))

    def one_of_each_class(self) -> list[str]:
        """One case of every class of damage, of the newest version that has the class."""
        newest: dict[str, tuple[str, str]] = {}
        for name in self.names():
            case = self.case(name)
            found = case["version"], name
            newest[case["damageClass"]] = max(found, newest.get(case["damageClass"], found))
        return sorted(name for _, name in newest.values())

    def case(self, name: str) -> Case:
        loaded: Case = json.loads(_rows(self.root)[name])
        return loaded

    def base(self, name: str) -> Path:
        """The undamaged store of that name, unpacked; not to be changed."""
        folder = self.unpacked / name
        if not folder.is_dir():
            self.unpacked.mkdir(parents=True, exist_ok=True)
            with (
                tempfile.TemporaryDirectory(dir=self.unpacked) as scratch,
                tarfile.open(self._packed(name)) as tar,
            ):
                extract_all(tar, Path(scratch) / "whole")
                move_once(Path(scratch) / "whole", folder)
        return folder

    def _packed(self, name: str) -> Path:
        """A set within another one also has the bases of that one."""
        own = self.root / "bases" / f"{name}.tar.gz"
        return own if own.is_file() else self.root.parent / "bases" / own.name

    @contextmanager
    def built(self, case: Case) -> Iterator[Path]:
        """The case's store folder, gone afterwards."""
        base = self.base(case["base"])
        with tempfile.TemporaryDirectory(prefix="case-", dir=short_lived()) as folder:
            root = Path(folder) / "store"
            copy_tree(base, root)
            for edit in case["edits"]:
                EDITS[edit["op"]](root / edit["path"], edit, root)
            yield root


@cache
def golden_cases() -> CaseSet:
    """All recorded cases of the checkout; their base stores are unpacked once per test run."""
    return CaseSet(GOLDEN / "recovery", run_folder() / "bases")


@cache
def database_cases() -> CaseSet:
    """The recorded cases of brokers that keep their queues in RocksDB."""
    return CaseSet(GOLDEN / "recovery" / "rocksdb", run_folder() / "database-bases")


@cache
def batch_cases() -> CaseSet:
    """The recorded cases of brokers with queues of type BatchCQ."""
    return CaseSet(GOLDEN / "recovery" / "batch", run_folder() / "batch-bases")


@cache
def ext_cases() -> CaseSet:
    """The recorded cases of brokers with ext queues (enableConsumeQueueExt)."""
    return CaseSet(GOLDEN / "recovery" / "ext", run_folder() / "ext-bases")


@cache
def _rows(root: Path) -> dict[str, str]:
    """The line of each case by its name; a case is parsed when it is asked for."""
    rows: dict[str, str] = {}
    for packed in sorted((root / "cases").glob("*.jsonl.xz")):
        with lzma.open(packed, "rt", encoding="utf-8") as lines:
            rows.update({json.loads(line)["id"]: line for line in lines})
    return rows


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


EDITS: dict[str, Callable[[Path, Case, Path], None]] = {
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
