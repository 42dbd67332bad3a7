"""Listing a store: odd names, links, closed folders, known files that are not read; nothing is skipped in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.damage.errors import UnreadableFile
from parsers.store.places import place_of
from parsers.store.sequence import sequence_errors
from parsers.store.store import NotAStore, open_store
from parsers.store.store_file import locate
from tests.support.files import put

NAME = "00000000000000000000"
as_user = pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")


@pytest.mark.parametrize(
    ("path", "kind", "number"),
    [
        (f"commitlog/{NAME}", "commitlog", 0),
        ("commitlog/00000000001073741824", "commitlog", 1 << 30),
        ("commitlog/9223372036854775808", "not_understood", None),
        ("commitlog/abc", "not_understood", None),
        ("commitlog/٣", "not_understood", None),
        (f"commitlog/sub/{NAME}", "not_understood", None),
        (f"consumequeue/%RETRY%G..|x/12/{NAME}", "consumequeue", 0),
        (f"consumequeue/T/x/{NAME}", "not_understood", None),
        (f"consumequeue/T/007/{NAME}", "not_understood", None),
        (f"consumequeue/T/2147483648/{NAME}", "not_understood", None),
        ("consumequeue/T/1/tmp", "not_understood", None),
        ("consumequeue/CURRENT", "rocksdb", None),
        ("config/rdb/000015.sst", "rocksdb", None),
        (f"batchconsumequeue/T/0/{NAME}", "batchconsumequeue", 0),
        ("index/20261121151356740", "index", 20261121151356740),
        ("checkpoint", "checkpoint", None),
        ("timerwheel", "timerwheel", None),
        ("epochFileCheckpoint", "epochs", None),
        ("epochFileCheckpoint.bak", "epochs", None),
        ("config/timercheck", "timercheck", None),
        ("config/topics.json.bak", "config", None),
        ("compaction/position-checkpoint", "config", None),
        ("compaction/position-checkpoint.bak", "config", None),
        (f"compaction/compactionLog/T/0/{NAME}", "compaction_log", 0),
        (f"compaction/compactionCq/T/0/{NAME}", "compaction_queue", 0),
        (f"compaction/compactionLog/T/0/{NAME}.delete", "not_understood", None),
        (f"compaction/compactionLog/T/0/compacting/{NAME}", "not_understood", None),
        ("position-checkpoint", "not_understood", None),
        ("abort.bak", "abort", None),
    ],
)
def test_kind_by_place(path: str, kind: str, number: int | None) -> None:
    place = place_of(path.split("/"))
    assert (place.kind, place.base_offset) == (kind, number)
    assert (place.why is not None) == (kind == "not_understood")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (f"compaction/compactionLog/T/0/compacting/{NAME}", "pass that did not end"),
        ("consumequeue/notes.txt", "not a place"),
        ("config/elsewhere/000015.sst", "not a place"),
        ("brokerIdentity", "controller"),
        (f"consumequeue/T/x/{NAME}", "queue number"),
        ("somewhere/else", "not a place"),
    ],
)
def test_why_a_file_is_not_read(path: str, why: str) -> None:
    assert why in (place_of(path.split("/")).why or "")


def test_every_file_is_listed_once_in_offset_order(tmp_path: Path) -> None:
    for place in ("commitlog/00000000000000002048", f"commitlog/{NAME}", "index/2", "index/1", "odd", "lock"):
        put(tmp_path, place, b"x")
    put(tmp_path, f"consumequeue/A/1/{NAME}", b"")
    store = open_store(tmp_path)
    assert [file.base_offset for file in (*store.commitlog, *store.index)] == [0, 2048, 1, 2]
    assert sorted(file.name for file in store.files()) == sorted(
        path.name for path in tmp_path.rglob("*") if path.is_file()
    )
    assert set(store.queues) == {("A", 1)}
    assert not store.abort_present


def test_links_are_followed_and_loops_of_them_are_not(tmp_path: Path) -> None:
    disk, root = tmp_path / "disk", tmp_path / "store"
    put(disk, NAME, b"x")
    put(root, "checkpoint", b"")
    (root / "commitlog").symlink_to(disk)
    (disk / "again").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "dangling").symlink_to(root / "nowhere")
    store = open_store(root)
    assert [file.name for file in store.commitlog] == [NAME]
    assert {file.path.relative_to(root).as_posix(): file.why for file in store.not_understood} == {
        "commitlog/again": "a link back to a folder above it",
        "dangling": "cannot be looked at: No such file or directory",
        "self": "cannot be looked at: Too many levels of symbolic links",
    }


def test_names_of_any_bytes(tmp_path: Path) -> None:
    odd = os.fsdecode(b"T\xff\x01\n")
    put(tmp_path, f"consumequeue/{odd}/0/{NAME}", b"")
    put(tmp_path, f"{odd}", b"")
    store = open_store(tmp_path)
    assert set(store.queues) == {("T\ufffd\x01\n", 0)}
    assert [file.name for file in store.not_understood] == ["T\ufffd\x01\n"]


def test_special_files_are_not_opened(tmp_path: Path) -> None:
    put(tmp_path, "checkpoint", b"")
    (tmp_path / "commitlog").mkdir()
    os.mkfifo(tmp_path / "commitlog" / NAME)
    (found,) = open_store(tmp_path).not_understood
    assert found.why == "not a regular file"


@as_user
def test_a_closed_folder_is_a_row(tmp_path: Path) -> None:
    put(tmp_path, "checkpoint", b"")
    put(tmp_path, f"commitlog/{NAME}", b"").path.parent.chmod(0)
    (found,) = open_store(tmp_path).not_understood
    assert found.why == "cannot be listed: Permission denied"
    found.path.chmod(0o755)


def test_several_commitlog_folders_are_one_log(tmp_path: Path) -> None:
    root, other = tmp_path / "store", tmp_path / "disk2"
    put(root, f"commitlog/{NAME}", b"x" * 8)
    put(other, "00000000000000000008", b"x" * 8)
    put(other, "notes.txt", b"")
    put(root, "commitlog/00000000000000000016", b"x" * 8)
    store = open_store(root, commitlog_folders=[root / "commitlog", other, tmp_path / "gone"])
    assert [file.base_offset for file in store.commitlog] == [0, 8, 16]
    assert [file.why for file in store.not_understood] == [
        "its name is not a number, as every file in commitlog/ has",
        "cannot be listed: No such file or directory",
    ]


@pytest.mark.parametrize("case", ["missing", "file", "empty", "strange"])
def test_what_is_no_store(tmp_path: Path, case: str) -> None:
    file = put(tmp_path, "strange/x", b"")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAStore, match=str(tmp_path)):
        open_store(file.path if case == "file" else tmp_path / case)


def test_one_file_finds_its_place(tmp_path: Path) -> None:
    found = locate(put(tmp_path, "consumequeue/T/5/00000000000000000040", b"").path)
    assert (found.kind, found.topic, found.queue_id, found.base_offset) == ("consumequeue", "T", 5, 40)
    assert locate(put(tmp_path, "compaction/position-checkpoint", b"").path).kind == "config"
    found = locate(put(tmp_path, f"compaction/compactionLog/T/5/{NAME}", b"").path)
    assert (found.kind, found.topic, found.queue_id) == ("compaction_log", "T", 5)
    with pytest.raises(UnreadableFile):
        locate(tmp_path / "gone")


def test_files_that_do_not_join(tmp_path: Path) -> None:
    files = [
        put(tmp_path, f"commitlog/{number:020d}", b"x" * size) for number, size in ((0, 8), (8, 4), (16, 8), (24, 7))
    ]
    assert [(error.path, error.expected, error.actual) for error in sequence_errors(files)] == [
        (files[1].path, "8", "4"),
        (files[3].path, "8", "7"),
    ]
