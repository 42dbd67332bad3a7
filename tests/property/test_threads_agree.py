"""A rebuild is the same, byte for byte, and so are the findings of a verification, however many threads scan the log,
and into however many runs or parts it falls."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.consumequeue.layout import CQ_UNIT
from parsers.store.store import open_store
from recovery.rebuild.rebuild import rebuild
from recovery.scan.log_runs import RECORDS_PER_RUN, runs_between
from recovery.verify.first_pass import cut, files_of, first_pass
from recovery.verify.settle.log_pass import Outlines
from recovery.verify.settle.outline import Part, join
from recovery.verify.verify import verify
from tests.support.build_store import SETTINGS, VERSION, shop
from tests.support.copies import copy_tree
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
        patch.setattr("recovery.rebuild.queue_files.WAITING_BYTES", 3 * most * CQ_UNIT.size)
        report = rebuild(*opened(root, VERSION, SETTINGS), to)
    files = {str(path.relative_to(to)): path.read_bytes() for path in to.rglob("*") if path.is_file()}
    return files, {**report.document(), "to": None}


def flipped(whole: Path, root: Path, flips: list[tuple[float, int]]) -> Path:
    """A copy of a store with bits of its log flipped."""
    copy_tree(whole, root)
    logs = sorted((root / "commitlog").iterdir())
    for where, mask in flips:
        path = logs[int(where * len(logs))]
        data = bytearray(path.read_bytes())
        data[int(where * len(logs) % 1 * len(data))] ^= mask
        path.write_bytes(data)
    return root


@given(flips=flips, most=st.integers(1, 40))
def test_a_rebuild_is_the_same_with_any_number_of_threads(
    whole: Path, flips: list[tuple[float, int]], most: int
) -> None:
    with TemporaryDirectory() as folder:
        root = flipped(whole, Path(folder) / "store", flips)
        one = rebuilt(root, Path(folder) / "one", threads=1, most=RECORDS_PER_RUN)
        for threads in (1, 2, 7):
            assert rebuilt(root, Path(folder) / str(threads), threads=threads, most=most) == one


@given(flips=flips, least=st.integers(200, 4000))
@settings(max_examples=15)
def test_findings_are_the_same_with_any_number_of_threads(
    whole: Path, flips: list[tuple[float, int]], least: int
) -> None:
    with TemporaryDirectory() as folder:
        store, known = opened(flipped(whole, Path(folder) / "store", flips), VERSION, SETTINGS)
        uncut = verify(store, known)
        for threads in (1, 2, 7):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("recovery.verify.first_pass.at_once", lambda: threads)  # noqa: B023
                patch.setattr("recovery.verify.first_pass.WORTH_A_PART", least)
                assert len(cut(store.commitlog)) > 1 or threads == 1
                assert verify(store, known) == uncut


def test_parts_for_threads_hold_each_byte_of_a_log_once(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = open_store(whole).commitlog
    monkeypatch.setattr("recovery.verify.first_pass.at_once", lambda: 2)
    monkeypatch.setattr("recovery.verify.first_pass.WORTH_A_PART", 700)
    parts = cut(files)
    assert all(parts)
    sizes = [sum(part.end - part.start for part in each) for each in parts]
    assert sizes[0] > 2 * sizes[-2]
    for file in files:
        own = [part for each in parts for part in each if part.file == file]
        assert [part.start for part in own] == [0, *(part.end for part in own[:-1])]
        assert own[-1].end == file.size


def test_parts_of_a_sound_log_that_one_thread_reads_join(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that contradict each other would be read again as one."""
    store, known = opened(whole, VERSION, SETTINGS)
    files = files_of(store, known)
    uncut = first_pass(store, known, files, [[Part(file, 0, file.size) for file in store.commitlog]])
    monkeypatch.setattr("recovery.verify.first_pass.at_once", lambda: 2)
    monkeypatch.setattr("recovery.verify.first_pass.WORTH_A_PART", 700)
    outlines = Outlines(known.rules, files)
    joined = join([outlines.of(parts) for parts in cut(store.commitlog)], files)
    assert joined is not None
    assert joined.queues == uncut.queues
    assert (joined.records, joined.topics) == (uncut.records, uncut.topics)
