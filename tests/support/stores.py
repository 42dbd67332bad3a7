"""The golden stores by kind, unpacked once per test run, with what their own broker says about them.

`tests/golden/stores/README.md` explains every kind and every file of the truth. A store is a folder
`<version>-<kind>` with `store.tar.gz`; a group (a master and its slave, nodes of one DLedger) has an archive
`store-<member>.tar.gz` for each member, and the member's truth in `truth/store-<member>/`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.fixtures import CHECKOUT, GOLDEN, unpacked

STORES = GOLDEN / "stores"
DEMO = CHECKOUT / "demo"
"""What the demo brings of a store is not kept twice: its archive and part of its truth are there."""
CLASSIC_KINDS = ("clean", "ipv6", "propcrc", "lmq")
QUEUE_KINDS = (*CLASSIC_KINDS, "batchcq", "dledger")

SLOT_COUNT = "the slot count of its index headers is that of an older version, which no file tells"
LEFT_OUT = {
    "explain": {"5.3.3-multipath": "its second CommitLog folder is no log by its place in the store"},
    "rebuild": {"3.2.6-clean": "its index leaves out the records that commit a transaction"},
    "rebuild without a version": {
        "3.2.6-clean": SLOT_COUNT,
        "4.2.0-clean": SLOT_COUNT,
        "4.3.2-clean": SLOT_COUNT,
        "4.4.0-clean": SLOT_COUNT,
        "4.5.2-clean": SLOT_COUNT,
    },
}
"""What is not read rightly yet: the subject of a test, the stores that it leaves out, and why."""


def store_names(*kinds: str, subject: str = "") -> list[str]:
    """`<version>-<kind>` of every golden store of these kinds, or of all; groups are not among them.

    Args:
        subject: a key of `LEFT_OUT`, whose stores are not among them either.
    """
    names = [name for name in _names(*kinds) if _file(name, "store.tar.gz").is_file()]
    return [name for name in names if name not in LEFT_OUT.get(subject, {})]


def since(major: int, names: list[str]) -> list[str]:
    """Those of the stores that a broker of this major version or a later one wrote."""
    return [name for name in names if int(name.partition(".")[0]) >= major]


def group_names(*kinds: str) -> list[str]:
    """`<version>-<kind>` of every golden group of these kinds, or of all."""
    return [name for name in _names(*kinds) if members(name)]


def members(name: str) -> list[str]:
    """The members of a group, such as `master` and `slave`, or `n0`, `n1` and `n2`."""
    archives = sorted((STORES / name).glob("store-*.tar.gz"))
    return [archive.name.removeprefix("store-").removesuffix(".tar.gz") for archive in archives]


def store_root(name: str) -> Path:
    """The unpacked store root. Readers never write to it, so one copy serves every test of a run."""
    return unpacked(_file(name, "store.tar.gz")) / "store"


def group_root(name: str, member: str) -> Path:
    """The unpacked store root of one member of a group."""
    return unpacked(STORES / name / f"store-{member}.tar.gz") / f"store-{member}"


def truth_lines(name: str, file: str) -> Iterator[dict[str, Any]]:
    """The objects of one `.jsonl.gz` of the truth; of a group, `file` begins with `store-<member>/`."""
    with gzip.open(_truth_file(name, file), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def truth(name: str, file: str) -> Any:
    """One `.json` of the truth, packed or not; of a group, `file` begins with `store-<member>/`."""
    packed = _truth_file(name, f"{file}.gz")
    if packed.is_file():
        return json.loads(gzip.decompress(packed.read_bytes()))
    return json.loads(_truth_file(name, file).read_bytes())


def _names(*kinds: str) -> list[str]:
    folders = (path.name for path in STORES.iterdir() if path.is_dir())
    return sorted(name for name in folders if not kinds or name.partition("-")[2] in kinds)


def _file(name: str, *parts: str) -> Path:
    """A file of a store's folder: the demo's where only the demo has it."""
    golden = STORES.joinpath(name, *parts)
    return golden if golden.is_file() else DEMO.joinpath(name, *parts)


def _truth_file(name: str, file: str) -> Path:
    """A file of the truth. What a start left as it was is not kept twice: `recovered/X` is then `X`."""
    found = _file(name, "truth", file)
    return found if found.is_file() else _file(name, "truth", file.replace("/recovered/", "/"))
