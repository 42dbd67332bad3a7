"""What a store file is called in Dagster: the key of its partition."""

from __future__ import annotations

from pathlib import Path

from parsers.store.places import name_below
from parsers.store.store_file import StoreFile
from pipelines.lake.configuration.sources import BrokerSource


def partition_key(broker: BrokerSource, root: Path, file: StoreFile) -> str:
    """`broker-a/commitlog/00000000000000000000`: a store file's name in Dagster."""
    return f"{broker.name}/{name_below(root, file.path)}"


def split_key(key: str) -> tuple[str, str]:
    """(broker, file) of a partition key."""
    broker, _, file = key.partition("/")
    return broker, file
