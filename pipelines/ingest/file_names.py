"""What a store file is called in the lake and in Dagster."""

from __future__ import annotations

from pathlib import Path

from parsers.places import name_below
from parsers.store import StoreFile
from pipelines.lake.sources import BrokerSource


def name_of(root: Path, file: StoreFile) -> str:
    """The column `file`."""
    return name_below(root, file.path)


def partition_key(broker: BrokerSource, root: Path, file: StoreFile) -> str:
    """`broker-a/commitlog/00000000000000000000`: a store file's name in Dagster."""
    return f"{broker.name}/{name_of(root, file)}"


def split_key(key: str) -> tuple[str, str]:
    """(broker, file) of a partition key."""
    broker, _, file = key.partition("/")
    return broker, file
