"""A commit to a table of the lake: all of it or nothing, whatever fails before, in or after the transaction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from pipelines.lake.delta import commit as committing
from pipelines.lake.delta import log as delta
from pipelines.lake.delta.commit import CHECKPOINT_EVERY, commit
from pipelines.lake.delta.errors import LakeMoved, PartsMissing
from pipelines.lake.delta.log import active_files, partition_parts
from pipelines.lake.delta.parts import Part, write_parts
from pipelines.lake.tables.raw import INDEX_ENTRIES


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The table `index_entries` with one row, of file f."""
    root = tmp_path / "index_entries"
    commit(INDEX_ENTRIES, root, parts(root, "f"), None)
    return root


def parts(root: Path, *files: str) -> list[Part]:
    rows = [{"broker": "b", "file": file, "slot": 7} for file in files]
    return write_parts(INDEX_ENTRIES, root, "job", pa.Table.from_pylist(rows, INDEX_ENTRIES.bare_schema).to_batches())


def held(root: Path) -> list[str]:
    """The files that the table has rows of; every part that lies about is one of the table's."""
    assert sorted(root.rglob("part-*")) == active_files(INDEX_ENTRIES, root)
    return sorted(part.partition[1] for part in partition_parts(INDEX_ENTRIES, root))


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException, *, after: bool) -> None:
    """Let the next transaction raise, after it was recorded or instead."""
    write: Callable[..., None] = DeltaTable.create_write_transaction

    def failing(self: DeltaTable, *given: object, **named: object) -> None:
        if after:
            write(self, *given, **named)
        raise error

    monkeypatch.setattr(DeltaTable, "create_write_transaction", failing)


def test_an_error_behind_a_recorded_commit_takes_nothing_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, OSError("disk full"), after=True)
    assert commit(INDEX_ENTRIES, root, parts(root, "g"), []) == 2
    assert held(root) == ["f", "g"]


def test_an_interruption_behind_a_recorded_commit_is_told_and_takes_nothing_back(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, KeyboardInterrupt(), after=True)
    with pytest.raises(KeyboardInterrupt):
        commit(INDEX_ENTRIES, root, parts(root, "g"), [])
    assert held(root) == ["f", "g"]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), CommitFailedError("another version")])
def test_an_error_before_the_commit_leaves_no_part(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    raising(monkeypatch, error, after=False)
    with pytest.raises(LakeMoved if isinstance(error, CommitFailedError) else type(error)):
        commit(INDEX_ENTRIES, root, parts(root, "g"), None)
    assert held(root) == ["f"]


def test_a_log_that_cannot_be_read_after_an_error_keeps_every_part(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(*_: object, **__: object) -> bool:
        raise OSError("stale handle")

    raising(monkeypatch, OSError("disk full"), after=True)
    monkeypatch.setattr(committing, "is_recorded", unreadable)
    with pytest.raises(OSError, match="stale handle"):
        commit(INDEX_ENTRIES, root, parts(root, "g"), [])
    assert held(root) == ["f", "g"]


def test_parts_that_are_not_there_or_not_whole_are_not_committed(root: Path) -> None:
    for spoil in (lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")):
        made = parts(root, "g", "h")
        spoil(root / made[0].path)
        with pytest.raises(PartsMissing, match=r"of 2 parts .* 1 are not there"):
            commit(INDEX_ENTRIES, root, made, None)
        assert held(root) == ["f"]


def test_a_commit_is_to_the_version_that_was_read_for_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = DeltaTable(str(root))
    commit(INDEX_ENTRIES, root, parts(root, "g"), [])
    monkeypatch.setattr(committing, "ensure_table", lambda table, place: read)
    with pytest.raises(LakeMoved, match="another process wrote version 2 meanwhile"):
        commit(INDEX_ENTRIES, root, parts(root, "f"), [("b", "f")])
    assert held(root) == ["f", "g"]


def test_a_checkpoint_that_cannot_be_written_loses_no_version(root: Path) -> None:
    blocked = root / "_delta_log" / "_last_checkpoint"
    blocked.mkdir()
    for version in range(2, CHECKPOINT_EVERY + 1):
        assert commit(INDEX_ENTRIES, root, parts(root, f"{version:03}"), []) == version
    assert len(held(root)) == CHECKPOINT_EVERY
    blocked.rmdir()
    for version in range(CHECKPOINT_EVERY + 1, 2 * CHECKPOINT_EVERY):
        commit(INDEX_ENTRIES, root, parts(root, f"{version:03}"), [])
    assert blocked.is_file()
    assert len(held(root)) == 2 * CHECKPOINT_EVERY - 1


def test_a_log_is_not_read_again_by_the_process_that_wrote_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(INDEX_ENTRIES, root, parts(root, "g"), [])
    read = []
    monkeypatch.setattr(delta, "DeltaTable", lambda place: read.append(place) or DeltaTable(place))
    for file in ("h", "i"):
        commit(INDEX_ENTRIES, root, parts(root, file), [("b", "g")])
    assert read == []
    assert sorted(part.partition[1] for part in partition_parts(INDEX_ENTRIES, root)) == ["f", "h", "i"]


def test_what_another_process_wrote_is_seen(root: Path) -> None:
    commit(INDEX_ENTRIES, root, parts(root, "g"), [])
    kept = delta._opened.pop(root)
    commit(INDEX_ENTRIES, root, parts(root, "h"), [("b", "g")])
    delta._opened[root] = kept
    commit(INDEX_ENTRIES, root, parts(root, "i"), [])
    assert sorted(part.partition[1] for part in partition_parts(INDEX_ENTRIES, root)) == ["f", "h", "i"]
