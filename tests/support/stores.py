"""The fixture stores by kind, unpacked once per test run, with what their own broker says about them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from tests.support.fixtures import FIXTURES, unpack_store

STORES = FIXTURES / "stores"
CLASSIC_KINDS = ("clean", "ipv6", "propcrc", "lmq")
QUEUE_KINDS = (*CLASSIC_KINDS, "batchcq", "dledger")


def store_names(*kinds: str) -> list[str]:
    """`<version>-<kind>` of every fixture store of these kinds; empty where the fixtures are absent."""
    if not STORES.is_dir():
        return []
    return sorted(folder.name for folder in STORES.iterdir() if folder.name.partition("-")[2] in kinds)


@cache
def store_root(name: str) -> Path:
    """The unpacked store root. Readers never write to it, so one copy serves every test of a run."""
    return unpack_store(STORES / name / "store.tar.gz", Path(mkdtemp(prefix=f"{name}-")))


def truth_lines(name: str, file: str) -> Iterator[dict[str, Any]]:
    with gzip.open(STORES / name / "truth" / file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def truth(name: str, file: str) -> Any:
    return json.loads((STORES / name / "truth" / file).read_text("utf-8"))
