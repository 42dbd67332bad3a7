"""A store whose broker set timers, to be edited."""

from __future__ import annotations

import shutil
from pathlib import Path

from parsers.timer.check import TIMER_CHECK
from recovery.verify.findings.finding import Finding, Place
from recovery.verify.verify import Verification, verify
from tests.support.build_store import overwrite
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import store_root

NAME = "5.3.3-pop"
LOG_BYTES = 1 << 16
"""Enough of a timer log for all of its units; the rest of its 100 MiB is unwritten."""
LOG, WHEEL, CHECK = "timerlog/00000000000000000000", "timerwheel", "config/timercheck"
LONG, INT = 8, 4
ROW = 7
"""The unit, or the slot in use, that is edited."""


def timer_store(folder: Path) -> Path:
    """A copy, in a new folder `store` below this one, of a store whose broker set timers."""
    copy = folder / "store"
    copy_tree(store_root(NAME), copy, ignore=shutil.ignore_patterns("timerlog"))
    (copy / "timerlog").mkdir()
    with (store_root(NAME) / LOG).open("rb") as log:
        (copy / LOG).write_bytes(log.read(LOG_BYTES))
    return copy


def verified(root: Path) -> Verification:
    return verify(*opened(root))


def only(root: Path) -> Finding:
    (found,) = verified(root).findings
    return found


def check_write(root: Path, field: str, value: int) -> Place:
    overwrite(root / CHECK, TIMER_CHECK.offsets[field], value.to_bytes(LONG, "big"))
    return Place(CHECK, TIMER_CHECK.offsets[field], LONG)
