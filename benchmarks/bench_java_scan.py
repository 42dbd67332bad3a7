"""Our readers against RocketMQ's own classes, on a store those classes wrote, in one run.

Run: python benchmarks/bench_java_scan.py [--folder F] [--gib 1.2] (needs a JDK 17 and Maven)
The Java side is `tests/golden/make/bench`: `walk-crc` is the check that recovery does on every record and builds
nothing; `decode-crc` is MessageDecoder with its CRC; `queryOffset` asks the index and fetches no message. Ours reads
every field, property and CRC into Arrow. Both sides must find the same messages and the same entries.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, perf_counter_ns

import numpy as np

from parsers.commitlog.batches.read import read_commitlog
from parsers.index.find import IndexQuery
from parsers.store.store import Store, open_store
from tests.support.java_lab import MAKE, WORK

VERSION = "5.3.3"
PASSES = 5
QUERIES = 20_000
MOST = 32
Row = dict[str, str]


def java(script: str, *arguments: object) -> list[Row]:
    """Run a bench script; its table as rows, notes left out."""
    environment = {**os.environ, "BENCH_TMP": str(WORK / "bench")}
    command = ["bash", str(MAKE / "bench" / script), *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    lines = [line for line in done.stdout.splitlines() if "\t" in line and not line.startswith("#")]
    return list(csv.DictReader(io.StringIO("\n".join(lines)), delimiter="\t"))


def decode_everything(store: Store) -> tuple[int, int]:
    """Messages and their bytes; every CRC is right."""
    rows = size = 0
    for batch in read_commitlog(store, damage=None):
        assert batch["crc_ok"].true_count == batch.num_rows
        rows += batch.num_rows
        size += int(np.asarray(batch["total_size"]).sum())
    return rows, size


def compare_scan(store: Store) -> None:
    best = float("inf")
    for _ in range(PASSES):
        began = perf_counter()
        rows, size = decode_everything(store)
        best = min(best, perf_counter() - began)
    print(f"ours: every column and CRC, one thread     {size / best / 1e6:8.0f} MB/s {rows / best:12,.0f} messages/s")
    for seen in java("run.sh", VERSION, "ScanBench", store.root / "commitlog", PASSES, "walk-crc,decode-crc"):
        assert int(seen["messages"]) == rows
        rate = float(seen["best_MB/s"])
        print(f"Java: {seen['mode']:<36} {rate:8.0f} MB/s; ours is {size / best / 1e6 / rate:.2f} x")


def compare_query(store: Store, questions: Path) -> None:
    seen = [
        row for row in java("run.sh", VERSION, "QueryBench", store.root, QUERIES, 3, questions) if row["kind"] == "all"
    ]
    query = IndexQuery(store.index)
    nanoseconds = []
    for topic, key, _, hits, *_ in (line.split("\t") for line in questions.read_text().splitlines()):
        began = perf_counter_ns()
        found = query.find(topic, key, max_num=MOST)
        nanoseconds.append(perf_counter_ns() - began)
        assert len(found) == int(hits)
    median, high = np.percentile(nanoseconds, [50, 99]) / 1000
    print(f"ours: query by key                         {median:8.1f} µs p50 {high:8.1f} µs p99")
    print(f"Java: queryOffset                          {seen[-1]['p50_us']:>8} µs p50 {seen[-1]['p99_us']:>8} µs p99")


def main(folder: Path, gib: float) -> None:
    root = folder / "store"
    subprocess.run(
        ["bash", str(MAKE / "bench" / "make_big.sh"), str(root), str(gib), VERSION],
        check=True,
        env={**os.environ, "BENCH_TMP": str(WORK / "bench")},
    )
    store = open_store(root)
    compare_scan(store)
    compare_query(store, folder / "questions")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", help="where to write the store")
    options.add_argument("--gib", type=float, default=1.2)
    given = options.parse_args()
    with TemporaryDirectory(dir=given.folder) as temporary:
        main(Path(temporary), given.gib)
