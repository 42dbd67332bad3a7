"""Where the golden files are, and how an archive of theirs is unpacked once per test run."""

from __future__ import annotations

import atexit
import os
import tarfile
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, mkdtemp

from pipelines.notebook.bundles import extract_all

CHECKOUT = Path(__file__).resolve().parents[2]
GOLDEN = CHECKOUT / "tests" / "golden"
RUN_FOLDER = "ROCKETLENS_TEST_RUN"
"""The environment variable that names the folder of one test run, which its workers share (`tests/conftest.py`)."""


@cache
def run_folder() -> Path:
    """A folder that lives as long as the test run; outside of pytest, as long as the process."""
    given = os.environ.get(RUN_FOLDER)
    if given is None:
        given = mkdtemp(prefix="rocketlens-tests-")
        atexit.register(rmtree, given, ignore_errors=True)
    return Path(given)


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
