"""Damaged bytes into every reader of small files: rows, damage rows or the typed error; each byte accounted for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path
from random import Random

import numpy as np
import pytest

from parsers.batchqueue import BATCH_UNIT, read_batch_queue, summarize_batch_queue
from parsers.checkpoint import checkpoint_to_batch, read_checkpoint
from parsers.config.document import read_document
from parsers.config.groups import groups_to_batch, read_filters, read_groups
from parsers.config.offsets import offsets_to_batch, read_delay_offsets, read_offsets
from parsers.config.topics import read_topics, topics_to_batch
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue
from parsers.consumequeue.summary import summarize_queue
from parsers.errors import OnDamage, StoreFormatError
from parsers.explain import explain_file
from parsers.index.find import find
from parsers.index.geometry import Geometry
from parsers.index.open import open_index
from parsers.index.read import index_files, read_index, slot_errors
from parsers.kernels.written import written_bytes
from parsers.mapped import map_file
from parsers.store import StoreFile, open_store
from parsers.timer import TIMER_UNIT, read_timercheck, read_timerlog, read_wheel
from tests.support.files import Seen, put
from tests.support.stores import store_root

STORES = ("5.3.3-lmq", "5.3.3-batchcq", "4.9.7-ipv6")
ROUNDS = int(os.environ.get("ROCKETLENS_FUZZ_ROUNDS", "40"))
EXTREMES = [b"\0" * 8, b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + b"\0" * 7, b"\0\0\0\1", b"\x7f\xff\xff\xff"]
INTERESTING = 6000  # bytes from the start where mutations fall, in files that are mostly unwritten


def samples() -> Iterator[StoreFile]:
    """One or two files of each kind, the small ones first."""
    for name in STORES:
        store = open_store(store_root(name))
        queues = [files[0] for files in (*store.queues.values(), *store.batch_queues.values())]
        timers = [file for file in store.timer if file.size < 1 << 20]
        yield from [*queues[:2], *queues[-1:], *store.index[:1], *timers, *store.config]
        assert store.checkpoint is not None
        yield store.checkpoint


def mutated(content: bytes, random: Random) -> bytes:
    """One to four of: a flipped bit, an extreme number, a swapped, dropped, doubled or zeroed stretch, a cut."""
    data = bytearray(content)
    for _ in range(random.randint(1, 4)):
        reach = min(len(data), INTERESTING)
        at, size = random.randrange(reach + 1), random.choice((1, 4, 20, 46, 52, 300))
        match random.randrange(7):
            case 0 if reach:
                data[at % reach] ^= 1 << random.randrange(8)
            case 1:
                extreme = random.choice(EXTREMES)
                data[at : at + len(extreme)] = extreme
            case 2:
                data[at : at + 2 * size] = data[at + size : at + 2 * size] + data[at : at + size]
            case 3:
                del data[at : at + size]
            case 4:
                data[at:at] = data[at : at + size]
            case 5:
                data[at : at + size] = bytes(len(data[at : at + size]))
            case _:
                del data[at:]
    return bytes(data)


def read_classic(file: StoreFile, on_damage: OnDamage, seen: Seen) -> None:
    rows = sum(batch.num_rows for batch in read_queue([file], on_damage=on_damage, damage=seen))
    summarize_queue([file], on_damage=on_damage, damage=seen)
    assert rows * CQ_UNIT.size + sum(row.length for row in seen.rows) == expected_bytes(file)


def read_batches(file: StoreFile, on_damage: OnDamage, seen: Seen) -> None:
    rows = sum(batch.num_rows for batch in read_batch_queue([file], on_damage=on_damage, damage=seen))
    summarize_batch_queue([file], on_damage=on_damage, damage=seen)
    assert rows * BATCH_UNIT.size + sum(row.length for row in seen.rows) <= file.size


def read_entries(file: StoreFile, on_damage: OnDamage, seen: Seen) -> None:
    for geometry in (None, Geometry(500, 2000)):
        rows = sum(b.num_rows for b in read_index([file], geometry=geometry, on_damage=on_damage, damage=seen))
        assert rows <= file.size // 20
        index_files([file], geometry=geometry, on_damage=on_damage, damage=seen)
        find([file], "Small", "k1", geometry=geometry, on_damage=on_damage, damage=seen)
        for opened in open_index([file], geometry=geometry, on_damage=on_damage, damage=seen):
            list(slot_errors(opened))


def read_times(file: StoreFile, on_damage: OnDamage, seen: Seen) -> None:
    found = read_checkpoint(file, on_damage=on_damage, damage=seen)
    if found is not None:
        assert checkpoint_to_batch(file, found).num_rows == 1


def read_timers(file: StoreFile, on_damage: OnDamage, seen: Seen) -> None:
    rows = sum(batch.num_rows for batch in read_timerlog([file], on_damage=on_damage, damage=seen))
    assert rows * TIMER_UNIT.size <= file.size


def read_configuration(file: StoreFile, on_damage: OnDamage, seen: Seen) -> None:
    files = [file]
    read_document(files, file.name.removesuffix(".bak"), on_damage=on_damage, damage=seen)
    offsets_to_batch(read_offsets(files, on_damage=on_damage, damage=seen))
    read_delay_offsets(files, on_damage=on_damage, damage=seen)
    topics_to_batch(read_topics(files, on_damage=on_damage, damage=seen))
    groups_to_batch(read_groups(files, on_damage=on_damage, damage=seen))
    read_filters(files, on_damage=on_damage, damage=seen)


READERS: dict[str, Callable[[StoreFile, OnDamage, Seen], None]] = {
    "consumequeue": read_classic,
    "batchconsumequeue": read_batches,
    "index": read_entries,
    "checkpoint": read_times,
    "timerlog": read_timers,
    "timerwheel": lambda file, on_damage, seen: raising(read_wheel, file, on_damage),
    "timercheck": lambda file, on_damage, seen: raising(read_timercheck, file, on_damage),
    "config": read_configuration,
}


def raising(reader: Callable[[StoreFile], object], file: StoreFile, on_damage: OnDamage) -> None:
    """A reader of one structure has nothing to collect: it raises."""
    try:
        reader(file)
    except StoreFormatError:
        if on_damage == "raise":
            raise


def typed_error(reader: Callable[[StoreFile, OnDamage, Seen], None], file: StoreFile) -> StoreFormatError | None:
    """What the reader raises; any other exception is a failure of the test."""
    try:
        reader(file, "raise", Seen())
    except StoreFormatError as error:
        return error
    return None


def expected_bytes(file: StoreFile) -> int:
    """Bytes of a queue's last file that must be rows or damage: the written units, and a torn end."""
    whole = file.size // CQ_UNIT.size * CQ_UNIT.size
    written = written_bytes(np.frombuffer(map_file(file.path), np.uint8))
    return min(ceil(written / CQ_UNIT.size) * CQ_UNIT.size, whole) + file.size % CQ_UNIT.size


@pytest.mark.parametrize("file", list(samples()), ids=lambda file: "/".join(file.path.parts[-3:])[-60:])
def test_damaged_bytes_give_rows_or_typed_errors(file: StoreFile, tmp_path: Path) -> None:
    random, content = Random(file.name), file.path.read_bytes()
    place = file.path.relative_to(next(root for root in file.path.parents if root.name == "store"))
    for _ in range(ROUNDS):
        damaged = put(tmp_path, place.as_posix(), mutated(content, random))
        READERS[file.kind](damaged, "collect", Seen())
        assert sum(line.length for line in explain_file(damaged)) == damaged.size
        error = typed_error(READERS[file.kind], damaged)
        assert error is None or error.path == damaged.path
