"""The CommitLog of a test's store, which may lie in several folders named commitlog: its files, and the setting."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

NAME = "commitlog"
SETTINGS = ("storePathCommitLog", "readOnlyCommitLogStorePaths")


def is_of_log(file: str) -> bool:
    """The file, by its path below the root, lies in a folder of the log."""
    return PurePath(file).parent.name == NAME


def is_numbered_log_file(file: str) -> bool:
    """The same, and its name is a number."""
    return is_of_log(file) and PurePath(file).name.isdigit()


def log_files(root: Path) -> list[Path]:
    """Every file in a folder of the log, in the order of their names."""
    return sorted((*root.glob(f"{NAME}/*"), *root.glob(f"*/{NAME}/*")), key=lambda path: (path.name, path))


def log_setting(root: Path) -> dict[str, str]:
    """`storePathCommitLog` as the folders of a whole store show it; nothing where the log is in commitlog/ alone."""
    folders = sorted(path.relative_to(root).as_posix() for path in (*root.glob(NAME), *root.glob(f"*/{NAME}")))
    return {} if folders in ([], [NAME]) else {SETTINGS[0]: ",".join(folders)}


def log_start(files: Iterable[str]) -> int:
    """The physical offset that the first log file begins with, of files by their paths; 0 without any."""
    return min((int(PurePath(name).name) for name in files if is_numbered_log_file(name)), default=0)


def begins_late(root: Path) -> bool:
    """The first files of the log are not there."""
    return log_start(path.relative_to(root).as_posix() for path in log_files(root)) > 0
