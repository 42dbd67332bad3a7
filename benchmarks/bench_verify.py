"""Verification of a whole store against decoding its log: what proving three file sets against each other costs.

Run: python benchmarks/bench_verify.py [folder]
The store is rebuilt from a generated log, so there is nothing to find; one zeroed unit then has to be found. Seconds
are those of a second run, when everything is compiled.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from parsers.commitlog.segment import read_segment
from parsers.consumequeue.layout import CQ_UNIT
from parsers.store import Store, open_store
from recovery.consistency import verify
from recovery.rebuild import rebuild
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion
from tests.support.big_log import write_log

VERSION, SETTINGS, RECORDS = BrokerVersion(5, 3, 3), StoreSettings(), 2_100_000


def decoded(store: Store) -> int:
    """All columns of all messages, CRCs checked."""
    return sum(batch.num_rows for file in store.commitlog for batch in read_segment(file))


def verified(store: Store) -> list[str]:
    """Kinds of finding; the generated store has no checkpoint."""
    kinds = [finding.kind for finding in verify(store, SETTINGS, version=VERSION).findings]
    return [kind for kind in kinds if kind != "checkpoint_missing"]


def main(folder: Path) -> None:
    root = folder / "store"
    records = write_log(root, RECORDS)
    rebuild(root, folder / "new", version=VERSION, settings=SETTINGS)
    for made in (folder / "new").iterdir():
        os.replace(made, root / made.name)
    store = open_store(root)
    seconds: dict[str, tuple[float, float]] = {}
    for _ in range(2):
        for name, work, expected in (("decode", decoded, records), ("verify", verified, [])):
            start, cpu = perf_counter(), process_time()
            assert work(store) == expected
            seconds[name] = perf_counter() - start, process_time() - cpu
    for name, (wall, cpu) in seconds.items():
        print(f"{name}  {records} records  {wall:6.2f} s  {cpu:6.2f} s of processor time")
    wall, cpu = (verifying / decoding for verifying, decoding in zip(seconds["verify"], seconds["decode"], strict=True))
    print(f"verify / decode: {wall:.1f} by the clock, {cpu:.1f} by the processor")
    print(f"peak memory {getrusage(RUSAGE_SELF).ru_maxrss // 1024} MiB")
    path = next(iter(store.queues.values()))[0].path
    with path.open("r+b") as file:
        file.seek(CQ_UNIT.size * 7)
        file.write(bytes(CQ_UNIT.size))
    assert verified(open_store(root)) == ["unit_invalid"]
    shutil.rmtree(root)


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as scratch:
        main(Path(scratch))
