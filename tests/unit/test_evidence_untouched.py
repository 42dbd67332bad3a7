"""Every reader leaves a store exactly as it was: bytes, times, listing; and opens nothing in it for writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.checkpoints.checkpoint import read_checkpoint
from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import regions_of
from parsers.config.groups import read_filters, read_groups
from parsers.config.offsets import read_delay_offsets, read_offsets
from parsers.config.topics import read_topics
from parsers.explain.explain import explain
from parsers.index.find import IndexQuery
from parsers.index.read import index_files, read_index
from parsers.queues.queue import BatchQueue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store, open_store
from parsers.timer.check import read_timercheck
from parsers.timer.log import read_timerlog
from parsers.timer.wheel import read_wheel
from tests.support.copies import copy_tree
from tests.support.evidence import close, listen, opened_for_writing, state, unlock
from tests.support.stores import store_names, store_root


def read_everything(store: Store) -> int:
    """Every reader over every file it is for; the number of rows."""
    batches = [*read_commitlog(store), *read_index(store.index), index_files(store.index), *read_timerlog(store.timer)]
    with StoreQueues(store) as queues:
        for queue in queues.values():
            batches += queue.batches()
            has_units = queue.summary(0).units > 0
            assert has_units == (queue.last_pointer() is not None) or isinstance(queue, BatchQueue)
    for file in store.commitlog:
        regions_of(file)
    for file in store.timer:
        if file.kind != "timerlog":
            read_wheel(file) if file.kind == "timerwheel" else read_timercheck(file)
    assert store.checkpoint is not None
    read_checkpoint(store.checkpoint)
    IndexQuery(store.index).find("Small", "k1")
    for reader in (read_offsets, read_delay_offsets, read_topics, read_groups, read_filters):
        reader(store.config)
    for file in store.files():
        if file.kind not in ("not_understood", "rocksdb"):
            list(explain(file.path, count=50))
    return sum(batch.num_rows for batch in batches)


@pytest.mark.parametrize("name", store_names())
def test_a_store_is_left_as_it_was(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    close(root)
    before = state(root)
    with listen() as files:
        assert read_everything(open_store(root)) > 100
    assert state(root) == before
    assert any(path.startswith(str(root)) for path, _ in files)
    assert opened_for_writing(files, root) == []
    unlock(root)


def test_the_listener_hears_writing(tmp_path: Path) -> None:
    with listen() as files:
        (tmp_path / "x").write_bytes(b"")
    assert opened_for_writing(files, tmp_path) == [str(tmp_path / "x")]
