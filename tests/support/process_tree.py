"""What this process and every process below it have used: Spark's JVM and its Python workers are among them."""

from __future__ import annotations

import os
from pathlib import Path

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
PARENT, USER, SYSTEM_OF_DEAD_CHILDREN = 1, 11, 14
"""Fields of /proc/PID/stat, counted from the state, which follows the name."""


def core_seconds() -> float:
    """Processor seconds so far, of the living and of the children they have waited for.

    The larger of two readings: a process that ends between its parent's line and its own is missing from one.
    """
    return max(_ticks(), _ticks()) / TICKS_A_SECOND


def _ticks() -> int:
    return sum(sum(map(int, _stat(pid)[USER : SYSTEM_OF_DEAD_CHILDREN + 1])) for pid in family())


def peak_rss_mib() -> dict[str, int]:
    """The most memory that a process of each name has ever held, in MiB."""
    peaks: dict[str, int] = {}
    for pid in family():
        told = dict(line.split(":", 1) for line in _read(pid, "status").splitlines() if ":" in line)
        if "VmHWM" in told:
            name = told["Name"].strip()
            peaks[name] = max(peaks.get(name, 0), int(told["VmHWM"].split()[0]) // 1024)
    return peaks


def family() -> list[int]:
    """This process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        if stat := _stat(pid):
            children.setdefault(int(stat[PARENT]), []).append(pid)
    found = [os.getpid()]
    for pid in found:
        found += children.get(pid, [])
    return found


def _stat(pid: int) -> list[str]:
    """The fields from the state on; none when the process is gone."""
    return _read(pid, "stat").rpartition(")")[2].split()


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return ""
