"""CommitLog to Arrow from a warm 1 GiB file of 614-byte messages, against baselines of the same run.

Run: python benchmarks/bench_commitlog.py [--folder F] [--messages N]
`--messages 10000000` also holds ten million messages to have no finding. The Java store's own CRC scan, which builds
nothing, does about 0.53 of what zlib.crc32 does over one long buffer (measured: 1.6 and 3.0 GB/s on one machine), so
that ratio stands for it where Java is not there; `tests/golden/make/bench` holds its harness.
"""

from __future__ import annotations

import argparse
import resource
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.schema import MESSAGE_SCHEMA
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.files.region import Region
from parsers.commitlog.record.message import decode_message
from parsers.damage.errors import Damage
from parsers.evidence.mapped import map_file
from parsers.store.store import open_store
from parsers.store.store_file import StoreFile
from tests.support.big_log import BLOCK_RECORDS, FILE_SIZE, FIRST_MS, write_log

NOT_FIXED = ("properties", "crc_ok", "record_crc_ok")
FIXED = [field.name for field in MESSAGE_SCHEMA if field.type != pa.string() and field.name not in NOT_FIXED]
ENOUGH_FOR_A_FILE = 1_780_000
JAVA_CRC_SCAN_OF_ZLIB = 1.6 / 3.0
MOST_RSS_MIB = 700
CRC_BYTES = 64 << 20
PASSES = 3


@dataclass(frozen=True)
class Timed:
    """The best of a few passes, in seconds of one core and by the clock on the wall, and what each of them gave."""

    core: float
    wall: float
    result: int


def timed(work: Callable[[], int]) -> Timed:
    passes = []
    for _ in range(PASSES):
        core, wall = process_time(), perf_counter()
        result = work()
        passes.append(Timed(process_time() - core, perf_counter() - wall, result))
    assert len({one.result for one in passes}) == 1
    return Timed(min(one.core for one in passes), min(one.wall for one in passes), passes[0].result)


def rows_of(file: StoreFile, columns: Sequence[str] | None, start: int = 0, end: int | None = None) -> int:
    """Read and let go, as a consumer does that passes batches on."""
    return sum(batch.num_rows for batch in read_segment(file, columns=columns, between=(start, end), damage=None))


def rows_of_two_threads(file: StoreFile) -> int:
    half = file.size // 2
    with ThreadPoolExecutor(2) as threads:
        halves = [threads.submit(rows_of, file, None, start, end) for start, end in ((0, half), (half, file.size))]
        return sum(part.result() for part in halves)


def bytes_read(file: StoreFile) -> int:
    buffer, total = bytearray(1 << 20), 0
    with file.path.open("rb", buffering=0) as handle:
        while taken := handle.readinto(buffer):
            total += taken
    return total


def decoded_one_by_one(file: StoreFile) -> int:
    """Bytes of the first records by the scalar decoder."""
    view, at = map_file(file.path), 0
    for _ in range(BLOCK_RECORDS):
        at += decode_message(view, at).total_size
    return at


def check(file: StoreFile, used: int, rows: int) -> None:
    """What the timed passes read is right, so that speed cannot come from doing less."""
    regions: list[Region] = []
    seen, sizes, pairs, bad, first_ms = 0, 0, 0, 0, []
    for batch in read_segment(file, regions=regions.append, damage=None):
        seen += batch.num_rows
        sizes += pc.sum(batch["total_size"]).as_py()
        pairs += len(batch["properties"].values)
        bad += batch.num_rows - batch["crc_ok"].true_count
        first_ms.append(batch["store_timestamp"][0].value // 1000)
        assert batch["unique_id"].null_count == batch["keys"].null_count == batch["tags"].null_count == 0
        assert pc.min(pc.binary_length(batch["unique_id"])).as_py() == 32
    assert (seen, sizes, bad) == (rows, used, 0)
    assert 5 * rows < pairs < 6 * rows
    assert first_ms == sorted(first_ms)
    assert first_ms[0] == FIRST_MS
    assert [region.kind for region in regions] == ["messages", "blank"]
    assert sum(region.length for region in regions) == file.size


def main(root: Path, messages: int) -> None:
    written = write_log(root, max(messages, ENOUGH_FOR_A_FILE))
    files = open_store(root).commitlog
    file, used = files[0], regions_of(files[0])[0].length
    buffer = bytes(CRC_BYTES)
    zlib_rate = CRC_BYTES / timed(lambda: zlib.crc32(buffer)).core
    print(f"rates are by core time; zlib.crc32 over one buffer: {zlib_rate / 1e9:.2f} GB/s, which is 1.00 below")
    rows = rows_of(file, None)
    check(file, used, rows)
    rates = {}
    for name, work, size in (
        ("plain read", lambda: bytes_read(file) and rows, FILE_SIZE),
        ("every column and CRC", lambda: rows_of(file, None), used),
        ("every column and CRC, two threads", lambda: rows_of_two_threads(file), used),
        ("fixed fields alone", lambda: rows_of(file, FIXED), used),
        ("every column, CRC and body", lambda: rows_of(file, [*MESSAGE_SCHEMA.names, "body"]), used),
        ("every column, CRC and body view", lambda: rows_of(file, [*MESSAGE_SCHEMA.names, "body_view"]), used),
    ):
        time = timed(work)
        assert time.result == rows
        rates[name] = size / time.core
        ratio, millions = rates[name] / zlib_rate, rows / time.core / 1e6
        print(
            f"{name:35} {rates[name] / 1e9:6.2f} GB/s {ratio:5.2f} {millions:6.2f} M messages/s, wall {time.wall:.2f} s"
        )
    scalar = timed(lambda: decoded_one_by_one(file))
    whole = rates["every column and CRC"]
    print(f"every column and CRC: {whole * scalar.core / scalar.result:.0f} x the scalar decoder", end=", ")
    print(f"{whole / zlib_rate / JAVA_CRC_SCAN_OF_ZLIB:.2f} x Java's CRC scan")
    if messages > ENOUGH_FOR_A_FILE:
        hold_no_finding(files, written)
    rss_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak RSS {rss_mib:.0f} MiB")
    assert rss_mib < MOST_RSS_MIB


def hold_no_finding(files: list[StoreFile], written: int) -> None:
    findings: list[Damage] = []
    regions: list[Region] = []
    rows = sum(batch.num_rows for batch in read_commitlog(files, damage=findings.append, regions=regions.append))
    assert (rows, findings) == (written, [])
    assert {region.kind for region in regions} <= {"messages", "blank", "unwritten"}
    assert sum(region.length for region in regions) == sum(file.size for file in files)
    print(f"{rows} messages in {len(files)} files: no finding")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", help="where to write the files")
    options.add_argument("--messages", type=int, default=ENOUGH_FOR_A_FILE)
    given = options.parse_args()
    with TemporaryDirectory(dir=given.folder) as temporary:
        main(Path(temporary), given.messages)
