"""Replicas from store folders, copies of them to damage, and their logs as one run of bytes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Bytes
from recovery.compare.comparison import Comparison, compare
from recovery.compare.replica import Replica
from recovery.knowledge.knowledge import knowledge_of, open_known
from tests.support.copies import copy_tree
from tests.support.stores import group_root, members, truth_lines

LARGE = shutil.ignore_patterns("timerwheel", "index", "timerlog")
"""What no comparison reads, and what is large even where it is empty."""


def replica(name: str, root: Path) -> Replica:
    store = open_known(root)
    return Replica.of(name, store, knowledge_of(store))


def compared(roots: dict[str, Path], *, group_size: int | None = None) -> Comparison:
    return compare([replica(name, root) for name, root in roots.items()], group_size=group_size)


def group(name: str) -> dict[str, Path]:
    """The unpacked members of a golden group."""
    return {member: group_root(name, member) for member in members(name)}


def copy_of(root: Path, to: Path) -> Path:
    """A store of its own with the same log, queues and configuration."""
    copy_tree(root, to, ignore=LARGE)
    return to


def log_files(root: Path) -> list[Path]:
    """The files of the log, in offset order."""
    return sorted([*root.glob("commitlog/*"), *root.glob("dledger-*/data/*")])


def whole_log(root: Path, end: int) -> tuple[Bytes, npt.NDArray[np.bool_]]:
    """The log's bytes from 0 to `end`, and which of them lie in a file."""
    data, there = np.zeros(end, np.uint8), np.zeros(end, np.bool_)
    for path in log_files(root):
        content, begin = np.frombuffer(path.read_bytes(), np.uint8), int(path.name)
        size = max(0, min(len(content), end - begin))
        data[begin : begin + size], there[begin : begin + size] = content[:size], True
    return data, there


def flip(root: Path, at: int, *bits: int) -> None:
    """Change one bit of each byte of the log from a physical offset on, the lowest of one byte where none is said."""
    path = next(path for path in reversed(log_files(root)) if int(path.name) <= at)
    with path.open("r+b") as file:
        file.seek(at - int(path.name))
        stored = file.read(max(1, len(bits)))
        file.seek(-len(stored), 1)
        file.write(bytes(byte ^ 1 << bit for byte, bit in zip(stored, bits or (0,), strict=False)))


def records_of(name: str, member: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Physical offset and size of the records that begin in a range, as the broker's own classes tell them."""
    for row in truth_lines(f"{name}/{member}", "messages.jsonl.gz"):
        if row["type"] == "message" and begin <= row["physicalOffset"] < end:
            yield row["physicalOffset"], row["size"]
