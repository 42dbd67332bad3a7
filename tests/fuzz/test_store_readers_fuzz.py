"""Damaged store files into every reader: pieces of real stores, mutated from a fixed seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from parsers.store.store import open_store
from parsers.store.store_file import StoreFile
from tests.fuzz.mutations import mutated
from tests.fuzz.store_harness import read_anything
from tests.support.files import put
from tests.support.stores import store_root

STORES = ("5.3.3-lmq", "5.3.3-batchcq", "4.9.7-ipv6")
ROUNDS = int(os.environ.get("ROCKETLENS_FUZZ_ROUNDS", "40"))


def samples() -> Iterator[StoreFile]:
    """One or two files of each kind, the small ones first."""
    for name in STORES:
        store = open_store(store_root(name))
        queues = [files[0] for files in (*store.queues.values(), *store.batch_queues.values())]
        timers = [file for file in store.timer if file.size < 1 << 20]
        yield from [*queues[:2], *queues[-1:], *store.index[:1], *timers, *store.config]
        assert store.checkpoint is not None
        yield store.checkpoint


def place_in_store(file: StoreFile) -> str:
    """The same in every process, wherever the store was unpacked."""
    return file.path.relative_to(next(root for root in file.path.parents if root.name == "store")).as_posix()


@pytest.mark.parametrize("file", list(samples()), ids=lambda file: place_in_store(file)[-60:])
def test_damaged_bytes_give_rows_or_typed_errors(file: StoreFile, tmp_path: Path) -> None:
    random, content = Random(file.name), file.path.read_bytes()
    place = place_in_store(file)
    for _ in range(ROUNDS):
        read_anything(put(tmp_path, place, mutated(content, random)))
