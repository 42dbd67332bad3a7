"""What inputs are made from: small stores and recordings, as files by name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.build_store import shop
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.incidents import incident
from tests.support.pcap import as_pcap, packets_of
from tests.support.stores import store_root

LARGEST = 1 << 20
"""Bytes of a file that is taken; of a store only the timer's and the log's preallocated ones are larger."""
GOLDEN_STORES = ("4.9.7-ipv6", "4.9.7-cqext", "4.4.0-clean", "3.2.6-clean", "5.3.3-dledger3/n1")
MESSAGES_IN_ROCKSDB = "5.5.0"
"""The version of the store whose index, timers and half messages are in rocksdbstore/."""
INCIDENTS = (
    "4.9.7-config-broken",
    "4.9.7-delay-overdue",
    "4.9.7-kill9",
    "4.9.7-queues-shrunk",
    "4.9.7-retry-dlq",
    "4.9.7-topic-deleted",
    "4.9.7-topic-recreated",
    "5.3.3-offsets-reset",
    "5.3.3-retry-dlq",
    "5.3.3-topic-recreated",
)
SESSIONS = ("h-533-quiet", "g-497-broadcast-lite", "c-497-ordered-kill")
LINES = 120
FOLDER = b"@folder@"
"""Stands in a broker.conf for the folder of the input."""
SMALL_EVERY = 8
"""One input in so many is made from a store that a broker left; the others are a hundredth of its size."""


@dataclass(frozen=True)
class Base:
    """Files by their path below the folder of the input, and how they are named to commands."""

    name: str
    files: dict[str, bytes]
    is_store: bool


@cache
def small_stores() -> list[Base]:
    """Stores of some kilobytes, by the project's own encoders."""
    made = []
    with TemporaryDirectory() as folder:
        for name, count, base_offset in (("small", 40, 0), ("later", 25, 8192), ("one", 1, 0)):
            root = shop(Path(folder) / name, count, base_offset=base_offset).finish()
            made.append(Base(name, contents(root), is_store=True))
    return made


@cache
def broker_stores() -> list[Base]:
    """Stores that brokers left, without files beyond LARGEST."""
    golden = [Base(name, contents(store_root(name)), is_store=True) for name in GOLDEN_STORES]
    packed = GOLDEN / "rocksdbstore" / MESSAGES_IN_ROCKSDB / "store.tar.gz"
    in_rocksdb = Base("rocksdbstore", contents(unpacked(packed) / "store"), is_store=True)
    return [*golden, in_rocksdb, *map(_of_incident, INCIDENTS)]


def _of_incident(name: str) -> Base:
    found = incident(name)
    files = contents(found.root, found.broker_conf)
    files["broker.conf"] = files["broker.conf"].replace(str(found.folder).encode(), FOLDER)
    return Base(name, files, is_store=True)


@cache
def recordings() -> list[Base]:
    """Logs, captures and kept states of recorded clusters, the first lines of each."""
    return [Base(name, dict(_recording(GOLDEN / "rebalance" / "sessions" / name)), is_store=False) for name in SESSIONS]


def contents(root: Path, *others: Path) -> dict[str, bytes]:
    """The files below a folder, and some beside it."""
    inside = {f"store/{path.relative_to(root)}": path for path in sorted(root.rglob("*")) if path.is_file()}
    named = inside | {path.name: path for path in others}
    return {name: path.read_bytes() for name, path in named.items() if path.stat().st_size <= LARGEST}


def _recording(session: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(session.rglob("*")):
        name = path.relative_to(session).as_posix()
        if path.is_file() and name.startswith(("logs/", "offsets/", "wire")):
            packed = path.read_bytes()
            plain = gzip.decompress(packed) if name.endswith(".gz") else packed
            yield f"recordings/{name.removesuffix('.gz')}", b"".join(plain.splitlines(keepends=True)[:LINES])
    for path in sorted(session.glob("wire*.jsonl.gz"))[:1]:
        records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()[:LINES]]
        asked = [record for record in records if record.get("dir") in ("request", "response")]
        yield "recordings/x.pcap", as_pcap(packets_of(asked)).getvalue()
