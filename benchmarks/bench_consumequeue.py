"""ConsumeQueue units a second into Arrow, from warm files of 300 000 units, at three sizes.

Run: python benchmarks/bench_consumequeue.py [folder for the files]
The baseline of the printed ratio is a `struct` loop over the first file in the same run; every sum is asserted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from struct import iter_unpack
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pyarrow.compute as pc

from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue
from parsers.store.store import open_store
from parsers.store.store_file import StoreFile

FILE_UNITS = 300_000
MESSAGE_SIZE = 600
SIZES = (1, 10, 100)


def write_queue(folder: Path, files: int) -> None:
    folder.mkdir(parents=True)
    for number in range(files):
        units = np.zeros(FILE_UNITS, CQ_UNIT.dtype)
        units["physical_offset"] = np.arange(number * FILE_UNITS, (number + 1) * FILE_UNITS) * MESSAGE_SIZE
        units["msg_size"] = MESSAGE_SIZE
        units["tags_code"] = np.arange(FILE_UNITS)
        (folder / f"{number * FILE_UNITS * CQ_UNIT.size:020d}").write_bytes(units.tobytes())


def naive_seconds_per_unit(file: StoreFile) -> float:
    start = perf_counter()
    total = sum(place for place, _, _ in iter_unpack(">qiq", file.path.read_bytes()))
    seconds = perf_counter() - start
    assert total == MESSAGE_SIZE * FILE_UNITS * (FILE_UNITS - 1) // 2
    return seconds / FILE_UNITS


def decode_seconds(files: list[StoreFile]) -> float:
    """The time of decoding alone; a second pass adds up what came out."""
    start = perf_counter()
    rows = sum(batch.num_rows for batch in read_queue(files))
    seconds = perf_counter() - start
    total = sum(pc.sum(batch["physical_offset"]).as_py() for batch in read_queue(files))
    assert (rows, total) == (len(files) * FILE_UNITS, MESSAGE_SIZE * rows * (rows - 1) // 2)
    return seconds


def main(root: Path) -> None:
    write_queue(root / "consumequeue" / "Orders" / "0", max(SIZES))
    (files,) = open_store(root).queues.values()
    decode_seconds(files)
    naive = naive_seconds_per_unit(files[0])
    for size in SIZES:
        rate = size * FILE_UNITS / decode_seconds(files[:size])
        print(f"{size:4d} files: {rate / 1e6:.0f} M units/s; {rate * naive:.0f} x a struct loop")


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as temporary:
        main(Path(temporary))
