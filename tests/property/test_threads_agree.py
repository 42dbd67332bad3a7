"""A rebuild is the same, byte for byte, however many threads scan the log, and into however many runs it falls."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery.rebuild.rebuild import rebuild
from recovery.scan.log_runs import RECORDS_PER_RUN, runs_between
from tests.support.build_store import SETTINGS, VERSION, shop
from tests.support.opened import opened

flips = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=6)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shop(tmp_path_factory.mktemp("whole") / "store", 120).finish()


def rebuilt(root: Path, to: Path, *, threads: int, most: int) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of a rebuild, and its report but for where it was written."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recovery.scan.scan_ahead.at_once", lambda: threads)
        patch.setattr("recovery.scan.log_runs.runs_between", partial(runs_between, most=most))
        report = rebuild(*opened(root, VERSION, SETTINGS), to)
    files = {str(path.relative_to(to)): path.read_bytes() for path in to.rglob("*") if path.is_file()}
    return files, {**report.document(), "to": None}


@given(flips=flips, most=st.integers(1, 40))
def test_a_rebuild_is_the_same_with_any_number_of_threads(
    whole: Path, flips: list[tuple[float, int]], most: int
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "store"
        shutil.copytree(whole, root)
        logs = sorted((root / "commitlog").iterdir())
        for where, mask in flips:
            path = logs[int(where * len(logs))]
            data = bytearray(path.read_bytes())
            data[int(where * len(logs) % 1 * len(data))] ^= mask
            path.write_bytes(data)
        one = rebuilt(root, Path(folder) / "one", threads=1, most=RECORDS_PER_RUN)
        for threads in (1, 2, 7):
            assert rebuilt(root, Path(folder) / str(threads), threads=threads, most=most) == one
