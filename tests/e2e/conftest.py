"""One Spark session for the whole run, and the demo's store unpacked once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.demo import BUNDLE
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from pipelines.spark.session import spark_session

    session = spark_session("local[2]", short_lived=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read-only by agreement: a test that changes files takes `own_store`."""
    return unpack_store(BUNDLE, tmp_path_factory.mktemp("demo"))


@pytest.fixture
def own_store(demo_store: Path, tmp_path: Path) -> Path:
    """The log, queues, index, timers, checkpoint and configuration of the demo's store, free to be damaged."""
    store = tmp_path / "store"
    for name in ("commitlog", "consumequeue", "index", "timerlog", "config"):
        copy_tree(demo_store / name, store / name)
    for name in ("checkpoint", "timerwheel"):
        shutil.copy2(demo_store / name, store / name)
    return store


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def broker(own_store: Path) -> BrokerSource:
    return BrokerSource("broker-a", own_store, version="5.3.3")
