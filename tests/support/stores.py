"""The fixture stores by kind, unpacked once per test run, with what their own broker says about them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

from tests.support.fixtures import FIXTURES, GOLDEN, needs_fixtures, unpack_store

STORES = FIXTURES / "stores"
GOLDEN_STORES = GOLDEN / "stores"
CLASSIC_KINDS = ("clean", "ipv6", "propcrc", "lmq")
QUEUE_KINDS = (*CLASSIC_KINDS, "batchcq", "dledger")


def store_names(*kinds: str) -> list[str]:
    """`<version>-<kind>` of every fixture store of these kinds; empty where the fixtures are absent."""
    if not STORES.is_dir():
        return []
    return sorted(folder.name for folder in STORES.iterdir() if folder.name.partition("-")[2] in kinds)


def golden_names() -> list[str]:
    """The stores that are part of the checkout, with the part of the truth that its tests ask for."""
    return sorted(folder.name for folder in GOLDEN_STORES.iterdir() if folder.is_dir())


def each_store(*kinds: str) -> list[ParameterSet]:
    """Parameters for a test of every store of these kinds: the checkout's always, the fixture sets' where they are."""
    committed = [name for name in golden_names() if name.partition("-")[2] in kinds]
    beside = (pytest.mark.fixtures, needs_fixtures)
    others = [name for name in store_names(*kinds) if name not in committed]
    found = [*map(pytest.param, committed), *(pytest.param(name, marks=beside) for name in others)]
    return found or [pytest.param("none here", marks=beside)]


def _file(name: str, *parts: str) -> Path:
    """A file of a store's folder: of the checkout's where it is there, else of the fixture sets'."""
    committed = GOLDEN_STORES.joinpath(name, *parts)
    return committed if committed.is_file() else STORES.joinpath(name, *parts)


@cache
def store_root(name: str) -> Path:
    """The unpacked store root. Readers never write to it, so one copy serves every test of a run."""
    return unpack_store(_file(name, "store.tar.gz"), Path(mkdtemp(prefix=f"{name}-")))


def truth_lines(name: str, file: str) -> Iterator[dict[str, Any]]:
    with gzip.open(_file(name, "truth", file), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def truth(name: str, file: str) -> Any:
    return json.loads(_file(name, "truth", file).read_text("utf-8"))
