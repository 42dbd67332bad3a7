"""Where the golden files are, and how an archive of theirs is unpacked once per test run."""

from __future__ import annotations

import atexit
import os
import shutil
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from pipelines.notebook.bundles import extract_all

CHECKOUT = Path(__file__).resolve().parents[2]
GOLDEN = CHECKOUT / "tests" / "golden"
RUN_FOLDER = "ROCKETLENS_TEST_RUN"
"""The environment variable that names the folder of one test run, which its workers share (`tests/conftest.py`)."""
MEMORY = Path("/dev/shm")
ROOM_IN_MEMORY = 1 << 30
"""So many bytes must be free for stores to be copied there: a hole that is read through a map takes memory, too."""


@cache
def run_folder() -> Path:
    """A folder that lives as long as the test run; outside of pytest, as long as the process."""
    given = os.environ.get(RUN_FOLDER)
    if given is None:
        given = mkdtemp(prefix="rocketlens-tests-")
        atexit.register(remove_run_folder, Path(given))
    return Path(given)


@cache
def short_lived() -> Path:
    """Where stores are copied that live as long as one test: making and removing folders on a disk takes the system
    longer than their test. It is the run's own folder where memory is no file system, or has no room.
    """
    try:
        if shutil.disk_usage(MEMORY).free < ROOM_IN_MEMORY:
            return run_folder()
        folder = MEMORY / run_folder().name
        folder.mkdir(exist_ok=True)
    except OSError:
        return run_folder()
    return folder


def remove_run_folder(folder: Path) -> None:
    """Remove the folder of a run, and what its tests left in memory."""
    for each in (folder, MEMORY / folder.name):
        shutil.rmtree(each, ignore_errors=True)


def unpack_store(archive: Path, into: Path) -> Path:
    """Unpack one `store.tar.gz` (sparse files inside) and return the store root."""
    with tarfile.open(archive) as tar:
        extract_all(tar, into)
    return into / "store"


@cache
def unpacked(archive: Path) -> Path:
    """The folder with what an archive holds, shared by all tests and workers of a run, which only read it."""
    folder = run_folder() / "-".join(archive.relative_to(CHECKOUT).parts)
    if not folder.is_dir():
        with TemporaryDirectory(dir=run_folder()) as scratch, tarfile.open(archive) as tar:
            extract_all(tar, Path(scratch) / "whole")
            move_once(Path(scratch) / "whole", folder)
    return folder


def move_once(whole: Path, folder: Path) -> None:
    """Move a folder into place at once; another worker may have been first."""
    try:
        whole.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
