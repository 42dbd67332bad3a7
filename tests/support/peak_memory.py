"""How much memory a piece of work takes at its peak, in a process of its own: what ran before it cannot hide it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec

Arguments = ParamSpec("Arguments")


def grown_mib(work: Callable[Arguments, object], /, *arguments: Arguments.args, **named: Arguments.kwargs) -> int:
    """By how many MiB a fresh process grows beyond what its imports take; what `work` raises is raised here.

    `work` is a function of a module. Its assertions are checked there.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measured, work, *arguments, **named).result()


def _measured(work: Callable[Arguments, object], /, *arguments: Arguments.args, **named: Arguments.kwargs) -> int:
    before = _mib("VmRSS")
    work(*arguments, **named)
    return _mib("VmHWM") - before


def _mib(name: str) -> int:
    """Not ru_maxrss: that of a new process begins with what its parent had."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(f"{name}:"))
