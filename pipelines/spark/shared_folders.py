"""Whether Spark's workers see the folders that work goes through, asked before any work is done."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.lake.delta.errors import LakeError
from pipelines.objects.place import Place
from pipelines.spark.workers import on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ASKED_PER_CORE = 4
"""Calls for each core, so that every worker gets one."""


class NotShared(LakeError):
    """A worker does not see the lake or a store as this process does."""


def require_shared(spark: SparkSession, lake: Place, stores: Sequence[Path]) -> None:
    """Ask workers on other machines for a file just written to the lake, and for the names in each store.

    Workers of `local[…]` are this machine's, and are not asked.

    Raises:
        NotShared: one sentence for all that some worker does not see.
        WorkFailed: the workers could not be asked.
    """
    if str(spark.sparkContext.master).startswith("local["):
        return
    lake.mkdir(parents=True, exist_ok=True)
    probe = lake / f".probe-{uuid.uuid4().hex}"
    probe.write_bytes(b"")
    try:
        ask = _Ask({folder: names for folder in (lake, *stores) if (names := _names(folder)) is not None})
        calls = ASKED_PER_CORE * spark.sparkContext.defaultParallelism
        unseen = sorted({told for one in on_workers(spark, ask, range(calls), "asking the workers") for told in one})
    finally:
        with suppress(OSError):
            probe.unlink()
    if unseen:
        raise NotShared(f"every worker must see the lake and the stores under the same paths: {'; '.join(unseen)}")


@dataclass(frozen=True, slots=True)
class _Ask:
    """Called in a worker: the folders that look different there, each with the worker's machine."""

    folders: dict[Place, list[str]]

    def __call__(self, number: int) -> list[str]:
        different = [folder for folder, names in self.folders.items() if _names(folder) != names]
        return [f"{socket.gethostname()} does not see {folder} as it is here" for folder in different]


def _names(folder: Place) -> list[str] | None:
    """The names in a folder, None for one that cannot be listed."""
    try:
        return sorted(place.name for place in folder.iterdir())
    except OSError:
        return None
