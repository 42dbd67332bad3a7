"""A small lake to be damaged and put right: made once for a file of tests, copied for each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pipelines.demo import BUNDLE
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.delta.parts import files_in
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import FILE_TABLES, TABLES
from pipelines.spark import session
from tests.support.cli import Called, call
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark

FILES = [table.name for table in FILE_TABLES]
MESSAGES = 6114
FIRST = "commitlog/00000000000000000000"
GONE = "were taken out, and no store holds them any more or lets them be read"
BY_BROKER = ("consumequeue_units", "store_files", "queues", "consistency_findings", "recovery_forecast")
CONFIG = """
[lake]
path = "lake"
[[broker]]
name = "b"
store = "store"
version = "5.3.3"
"""


def make(folder: Path) -> Path:
    """A folder with a configuration, a store without config/, and the lake made from it."""
    store = unpack_store(BUNDLE, folder / "demo")
    for name in ("commitlog", "index", "consumequeue/OrderTopic0"):
        copy_tree(store / name, folder / "store" / name)
    shutil.rmtree(folder / "demo")
    (folder / "rocketlens.toml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "spark_session", plain_spark)
        assert call("ingest", "--config-file", str(folder / "rocketlens.toml")).code == 1, (
            "a store cut down to some of its files"
        )
    return folder


def rows(*arguments: str, folder: Path, code: int) -> list[dict[str, object]]:
    ended = call(*arguments, "--config-file", str(folder / "rocketlens.toml"), "--format", "jsonl")
    assert ended.code == code, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


def content(lake: Lake) -> dict[str, list[dict[str, object]]]:
    with lake.asked_often():
        return {name: lake.query(f"SELECT * FROM {name} ORDER BY ALL").to_pylist() for name in FILES}


def part_of(lake: Lake, table: str, file: str) -> Path:
    root = lake.table_root(table)
    parts = [(part, root / part.path) for part in partition_parts(TABLES[table], root)]
    return next(path for part, path in parts if file in (part.partition[1:] or files_in(path)))


def repair(folder: Path) -> Called:
    return call("check-lake", "--repair", "--config-file", str(folder / "rocketlens.toml"), "--format", "jsonl")
