"""The golden files are those of the manifest, each once, and what a test leaves out of them exists."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.fixtures import CHECKOUT, GOLDEN
from tests.support.incidents import incident_names
from tests.support.recovery_cases import golden_cases
from tests.support.stores import LEFT_OUT, NEVER, STORES, store_names, store_root, truth_lines

MANIFEST = [json.loads(line) for line in (GOLDEN / "MANIFEST.jsonl").read_text("utf-8").splitlines()]
FILES: list[dict[str, Any]] = [row for row in MANIFEST if "path" in row]
MOST_BYTES = 60_000_000
SMALL = 20_000
"""Bytes from which on no content may be there twice."""


def manifest_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden_manifest", GOLDEN / "make" / "manifest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_manifest_is_that_of_the_files() -> None:
    found = list(manifest_module().rows())
    changed = [row for row in found if row not in MANIFEST] + [row for row in MANIFEST if row not in found]
    assert not changed, "run `python tests/golden/make/manifest.py`"


def test_every_file_is_in_a_folder_that_says_how_it_was_made() -> None:
    folders = tuple(row["folder"] for row in MANIFEST if "folder" in row)
    assert [row["path"] for row in FILES if not row["path"].startswith(folders)] == []


def test_the_golden_files_are_small_and_each_there_once() -> None:
    assert sum(row["bytes"] for row in FILES) <= MOST_BYTES
    copies = Counter(row["sha256"] for row in FILES if row["bytes"] >= SMALL)
    twice = [row["path"] for row in FILES if copies[row["sha256"]] > 1 and "/store-" not in row["path"]]
    assert twice == []


def test_what_is_left_out_exists() -> None:
    left_out = {name for names in (NEVER, *LEFT_OUT.values()) for name in names}
    assert left_out <= set(store_names())


def hashes_of(name: str) -> Path:
    group, _, member = name.partition("/")
    return STORES / group / "truth" / (f"files-{member}.sha256" if member else "files.sha256")


@pytest.mark.parametrize("name", [name for name in store_names() if hashes_of(name).is_file()])
def test_an_archive_unpacks_to_what_its_broker_left(name: str) -> None:
    told = dict(reversed(line.split("  ", 1)) for line in hashes_of(name).read_text("utf-8").splitlines())
    root = store_root(name)
    found = {
        f"./{path.relative_to(root).as_posix()}": sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }
    assert found == told


def messages_judged() -> int:
    lines = (line for name in store_names(subject="every message") for line in truth_lines(name, "messages.jsonl.gz"))
    return sum(line["type"] == "message" for line in lines)


def units_judged() -> int:
    lines = (line for name in store_names(subject="queues") for line in truth_lines(name, "queues.jsonl.gz"))
    return sum(len(line["units"]) for line in lines)


def test_the_readme_counts_what_is_here() -> None:
    said = {int(number.replace(" ", "")) for number in re.findall(r"\d{1,3}(?: \d{3})*", readme_proof())}
    dledger = (GOLDEN / "recovery" / "dledger_recover.jsonl").read_text("utf-8").count("\n")
    counted = {
        "stores": len(store_names()),
        "messages": messages_judged(),
        "units": units_judged(),
        "damaged stores": len(golden_cases().names()),
        "DLedger logs": dledger,
        "incidents": len(incident_names()),
    }
    assert {what: number for what, number in counted.items() if number not in said} == {}


def readme_proof() -> str:
    """The part of the README that says what is proven."""
    text = (CHECKOUT / "README.md").read_text("utf-8")
    return text[text.index("## How it is proven") : text.index("Speed: `benchmarks/`")]
