"""`rocketlens dump commitlog` as JSON lines: rows a second against a row-by-row encoder, and the time to the first row.

Run: python benchmarks/bench_cli.py [folder for the log]
Both encoders must write the same objects. The first row is timed in a process of its own, the second start counting:
the first one may compile kernels.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa

from parsers.commitlog.batches.read import read_commitlog
from parsers.store.store import open_store
from pipelines.cli.frame.written.json_form import json_lines
from tests.support.big_log import write_log

RECORDS = 400_000
NAIVE_RECORDS = 40_000


def naive_lines(batch: pa.RecordBatch) -> Iterator[bytes]:
    """One row after the other through Python objects."""
    for row in batch.to_pylist():
        yield json.dumps({name: naive_value(value) for name, value in row.items()}, ensure_ascii=False).encode()


def naive_value(value: Any) -> Any:
    """A cell in the form of the contract."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}Z"
    if isinstance(value, list):
        return [[pair["name"], pair["value"]] for pair in value]
    return value


def rate_of_columns(root: Path) -> tuple[float, list[bytes]]:
    """Rows a second, and the first lines."""
    rows, first, began = 0, b"", perf_counter()
    for batch in read_commitlog(open_store(root)):
        for piece in json_lines(batch):
            first = first or bytes(piece)
        rows += batch.num_rows
    assert rows >= RECORDS
    return rows / (perf_counter() - began), first.splitlines()


def rate_of_rows(root: Path) -> tuple[float, list[bytes]]:
    """Rows a second of `naive_lines` over the first NAIVE_RECORDS messages of a store's log, and the lines."""
    lines: list[bytes] = []
    began = perf_counter()
    for batch in read_commitlog(open_store(root)):
        lines += naive_lines(batch)
        if len(lines) >= NAIVE_RECORDS:
            break
    return len(lines) / (perf_counter() - began), lines


def seconds_to_first_row(root: Path) -> float:
    """From the start of a process to its first line."""
    command = [sys.executable, "-m", "pipelines.cli", "dump", "commitlog", str(root), "--limit", "1"]
    began = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert json.loads(running.stdout.readline())["physical_offset"] == 0
        return perf_counter() - began


def main(folder: Path) -> None:
    """Write the log, ask both, print the ratio."""
    write_log(folder, RECORDS)
    rate_of_columns(folder)  # warms the pages and the compiler
    ours, first = rate_of_columns(folder)
    naive, expected = rate_of_rows(folder)
    assert [json.loads(line) for line in first] == [json.loads(line) for line in expected[: len(first)]]
    print(f"dump as jsonl: {ours:,.0f} rows/s, row by row {naive:,.0f} rows/s, ratio {ours / naive:.1f}")
    seconds_to_first_row(folder)
    print(f"first row of a new process: {seconds_to_first_row(folder):.2f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with TemporaryDirectory() as temporary:
            main(Path(temporary))
