"""Every reader leaves a store exactly as it was: bytes, times, listing; and opens nothing in it for writing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from parsers.batchqueue import read_batch_queue, summarize_batch_queue
from parsers.checkpoint import read_checkpoint
from parsers.commitlog.read import read_commitlog
from parsers.commitlog.segment import regions_of
from parsers.config.groups import read_filters, read_groups
from parsers.config.offsets import read_delay_offsets, read_offsets
from parsers.config.topics import read_topics
from parsers.consumequeue.read import read_queue
from parsers.consumequeue.summary import summarize_queue
from parsers.explain import explain
from parsers.index.find import find
from parsers.index.read import index_files, read_index
from parsers.store import Store, open_store
from parsers.timer import read_timercheck, read_timerlog, read_wheel
from tests.support.stores import golden_names, store_root

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
opened: list[tuple[str, int]] = []
listening: list[bool] = []


def hear(event: str, details: tuple[object, ...]) -> None:
    """An audit hook: it cannot be taken away again, so it only listens inside `listen`."""
    if event == "open" and listening and isinstance(details[0], str | os.PathLike) and isinstance(details[2], int):
        opened.append((os.fspath(details[0]), details[2]))


@cache
def install() -> None:
    sys.addaudithook(hear)


@contextmanager
def listen() -> Iterator[list[tuple[str, int]]]:
    install()
    opened.clear()
    listening.append(True)
    yield opened
    listening.clear()


def state(root: Path) -> dict[str, tuple[int, int, int, str]]:
    """Of every path: inode, size, modification time, hash."""
    found = {}
    for path in sorted(root.rglob("*")):
        seen = path.stat()
        content = sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(root))] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, content)
    return found


def close(root: Path) -> None:
    """Take every right to write away."""
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def read_everything(store: Store) -> int:
    """Every reader over every file it is for; the number of rows."""
    batches = [*read_commitlog(store), *read_index(store.index), index_files(store.index), *read_timerlog(store.timer)]
    for files in store.queues.values():
        batches += read_queue(files)
        summarize_queue(files)
    for files in store.batch_queues.values():
        batches += read_batch_queue(files)
        summarize_batch_queue(files)
    for file in store.commitlog:
        regions_of(file)
    for file in store.timer:
        if file.kind != "timerlog":
            read_wheel(file) if file.kind == "timerwheel" else read_timercheck(file)
    assert store.checkpoint is not None
    read_checkpoint(store.checkpoint)
    find(store.index, "Small", "k1")
    for reader in (read_offsets, read_delay_offsets, read_topics, read_groups, read_filters):
        reader(store.config)
    for file in store.files():
        if file.kind != "not_understood":
            list(explain(file.path, count=50))
    return sum(batch.num_rows for batch in batches)


@pytest.mark.parametrize("name", golden_names())
def test_a_store_is_left_as_it_was(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    shutil.copytree(store_root(name), root)
    close(root)
    before = state(root)
    with listen() as files:
        assert read_everything(open_store(root)) > 100
    assert state(root) == before
    in_store = [(path, flags) for path, flags in files if path.startswith(str(root))]
    assert in_store
    assert [path for path, flags in in_store if flags & WRITING] == []
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)


def test_the_listener_hears_writing(tmp_path: Path) -> None:
    with listen() as files:
        (tmp_path / "x").write_bytes(b"")
    assert [path for path, flags in files if flags & WRITING] == [str(tmp_path / "x")]
