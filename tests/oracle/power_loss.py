"""Loss of power: of a halted store only what was forced to disk survives."""

from __future__ import annotations

import random
from pathlib import Path

from tests.oracle.base import Base
from tests.oracle.edits import PAGE, Damager, Edit, Found, zero


def _unforced(base: Base, *, log: bool, queues: bool, deeper: int = 0) -> Found:
    if base.flushed is None:
        return None
    found = list[Edit]()
    if log:
        found += _cut_at(base, base.log_files(), max(0, base.flushed["commitLogFlushed"] - deeper))
    for queue, forced in base.flushed["queuesFlushed"].items() if queues else ():
        if (base.root / "consumequeue" / queue).is_dir():
            found += _cut_at(base, base.files(f"consumequeue/{queue}"), forced)
    return found or None


def _cut_at(base: Base, files: list[str], forced: int) -> list[Edit]:
    """Everything in a row of files from a position on is zero."""
    found = list[Edit]()
    for file in files:
        first, size = int(Path(file).name), base.size(file)
        if first + size > forced and size:
            at = max(0, forced - first)
            found.append(zero(file, at, size - at))
    return found


def _powerloss_deeper(base: Base, chance: random.Random) -> Found:
    """The log lost more than the force position says."""
    return _unforced(base, log=True, queues=False, deeper=chance.choice((1, 3)) * PAGE)


def _powerloss_pages(base: Base, chance: random.Random) -> Found:
    """Some of the unforced pages of the log lost, later ones kept."""
    if base.flushed is None:
        return None
    last = base.records[-1]
    end, size = int(Path(last.file).name) + last.end, base.size(last.file)
    pages = range(base.flushed["commitLogFlushed"] // PAGE, end // PAGE)
    lost = [page * PAGE for page in pages if chance.random() < 0.4]
    files = {Path(file).name: file for file in base.log_files()}
    return [zero(files[f"{at // size * size:020d}"], at % size, PAGE) for at in lost] or None


def _powerloss_all(base: Base, chance: random.Random) -> Found:
    found = _unforced(base, log=True, queues=True)
    files = base.index_files()
    if found is None or not files:
        return None
    newest = [zero(files[-1], 0, base.size(files[-1]))]
    checkpoint = [zero("checkpoint", 0, PAGE)] if chance.random() < 0.5 else []
    return [*found, *newest, *checkpoint]


POWER_LOSSES: dict[str, Damager] = {
    "powerloss.commitlog": lambda base, chance: _unforced(base, log=True, queues=False),
    "powerloss.commitlog_and_cq": lambda base, chance: _unforced(base, log=True, queues=True),
    "powerloss.cq": lambda base, chance: _unforced(base, log=False, queues=True),
    "powerloss.deeper": _powerloss_deeper,
    "powerloss.holes": _powerloss_pages,
    "powerloss.all": _powerloss_all,
}
