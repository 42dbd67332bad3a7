"""Key queries and full decode of a full-size index file: 5 000 000 slots, 20 000 000 entries, 420 000 040 bytes.

Run: python benchmarks/bench_index.py [folder for the file]
A naive walk with `struct` answers the same questions in the same run (the baseline of the printed ratios); the answers
must agree, and agree with how the file was made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from statistics import quantiles
from struct import Struct
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TypeVar

import numpy as np

from parsers.index.find import IndexQuery
from parsers.index.geometry import DEFAULT_GEOMETRY, Geometry
from parsers.index.layout import ENTRIES_FIRST_NO, build_key
from parsers.index.read import read_index
from parsers.store.store_file import StoreFile, classify
from parsers.values.java import index_key_hash
from tests.support.big_index import MESSAGE_SIZE, write_index

TOPIC = "Orders"
KEYS = [f"7F0000011D4C18B4AAC2{n:012X}" for n in range(10_007)]  # each is in the file twice
MAX_NUM, ROUNDS = 32, 7
ENTRY, SLOT = Struct(">iqii"), Struct(">i")
NAIVE_DECODED = 1_000_000
Answer = TypeVar("Answer")


def naive_find(data: mmap, geometry: Geometry, key: str) -> list[int]:
    """The chain of one key, read number by number."""
    key_hash = index_key_hash(build_key(TOPIC, key))
    (number,) = SLOT.unpack_from(data, 40 + key_hash % geometry.hash_slots * 4)
    found: list[int] = []
    while number > 0 and len(found) < MAX_NUM:
        entry_hash, physical_offset, _, number = ENTRY.unpack_from(data, geometry.entries_at + number * 20)
        if entry_hash == key_hash:
            found.append(physical_offset)
    return found


def naive_decode(data: mmap, geometry: Geometry) -> int:
    """The sum of the first million entries' offsets."""
    total = 0
    for number in range(1, NAIVE_DECODED + 1):
        total += ENTRY.unpack_from(data, geometry.entries_at + number * 20)[1]
    return total


def timed_us(ask: Callable[[str], list[Answer]]) -> tuple[list[list[Answer]], list[float]]:
    """The second round's answers and microseconds: the first one warms the pages and the compiler."""
    answers, times = [], []
    for warm in (False, True):
        for key in KEYS:
            start = perf_counter()
            answer = ask(key)
            if warm:
                times.append((perf_counter() - start) * 1e6)
                answers.append(answer)
    return answers, times


def bench_queries(file: StoreFile, data: mmap, entries: int) -> None:
    query = IndexQuery([file])
    hits, our_us = timed_us(lambda key: query.find(TOPIC, key, max_num=MAX_NUM))
    theirs, naive_us = timed_us(lambda key: naive_find(data, DEFAULT_GEOMETRY, key))
    ours = [[hit.physical_offset for hit in found] for found in hits]
    assert ours == theirs
    for written in range(1000, entries + 1, 1000):
        assert written * MESSAGE_SIZE in ours[written % len(KEYS)]
    ours_at, naive_at = quantiles(our_us, n=100), quantiles(naive_us, n=100)
    print(f"find by key: p50 {ours_at[49]:.1f} us, p99 {ours_at[98]:.1f} us, {sum(map(len, ours))} offsets")
    bench_all_at_once(query, ours)
    print(f"naive struct walk: p50 {naive_at[49]:.1f} us; ours {naive_at[49] / ours_at[49]:.1f} times as fast")


def bench_all_at_once(query: IndexQuery, expected: list[list[int]]) -> None:
    """Processor time, the least of several rounds."""
    alone_us, together_us = [], []
    for _ in range(ROUNDS):
        start = process_time()
        told = list(query.find_all(TOPIC, KEYS, max_num=MAX_NUM))
        middle = process_time()
        alone = [query.find(TOPIC, key, max_num=MAX_NUM) for key in KEYS]
        together_us.append((middle - start) / len(KEYS) * 1e6)
        alone_us.append((process_time() - middle) / len(KEYS) * 1e6)
    keys, places = np.concatenate([each.key for each in told]), np.concatenate([each.physical_offset for each in told])
    assert [own.tolist() for own in np.split(places, np.searchsorted(keys, range(1, len(KEYS))))] == expected
    assert [[hit.physical_offset for hit in hits] for hits in alone] == expected
    ratio = min(alone_us) / min(together_us)
    print(f"all keys at once: {min(together_us):.2f} us of processor time a key; one by one {ratio:.1f} x as long")


def bench_decode(file: StoreFile, data: mmap, entries: int) -> None:
    list(read_index([file], batch_entries=1 << 16))
    start, rows, last = perf_counter(), 0, 0
    for batch in read_index([file]):
        rows += batch.num_rows
        last = batch["physical_offset"][-1].as_py()
    seconds = perf_counter() - start
    assert (rows, last) == (entries, entries * MESSAGE_SIZE)
    start = perf_counter()
    assert naive_decode(data, DEFAULT_GEOMETRY) == MESSAGE_SIZE * NAIVE_DECODED * (NAIVE_DECODED + 1) // 2
    naive = (perf_counter() - start) / NAIVE_DECODED
    print(f"decode: {rows / seconds / 1e6:.0f} M entries/s into Arrow; {naive * rows / seconds:.0f} x a struct loop")


def main(folder: Path) -> None:
    path = folder / "index" / "20261121151356740"
    path.parent.mkdir()
    entries = write_index(path, DEFAULT_GEOMETRY, [build_key(TOPIC, key) for key in KEYS])
    assert entries == DEFAULT_GEOMETRY.max_entries - ENTRIES_FIRST_NO
    file = classify(folder, path)
    with path.open("rb") as opened:
        data = mmap(opened.fileno(), 0, access=ACCESS_READ)
        bench_queries(file, data, entries)
        bench_decode(file, data, entries)


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as temporary:
        main(Path(temporary))
