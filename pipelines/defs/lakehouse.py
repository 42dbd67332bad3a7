"""The resource every asset takes: the configuration, the lake it names, and Spark started when first asked for."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.lake.configuration.addressed_stores import stores_here
from pipelines.lake.configuration.sources import Sources, configured_file, read_sources
from pipelines.lake.lake import Lake, lake_to_write
from pipelines.lake.lock import writing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SPARK_POOL = "spark"
"""Steps that start Spark run one at a time."""
WAIT_S = 600


class Lakehouse(dg.ConfigurableResource):  # type: ignore[type-arg]
    """`config_file` is a rocketlens.toml; empty means $ROCKETLENS_CONFIG, else the nearest one above the folder
    Dagster was started in. It is read at each use, so an edit counts from the next run on."""

    config_file: str = ""

    def sources(self) -> Sources:
        """What the configuration says now. Raises SourcesError: one sentence."""
        return read_sources(configured_file(self.config_file))

    def stores(self, names: Collection[str] | None = None) -> AbstractContextManager[Sources]:
        """The configuration with the stores of these brokers, or all, at hand: those at addresses are listed when the
        block begins."""
        return stores_here(self.sources(), names)

    def lake(self) -> Lake:
        """The lake, to be written. Raises WouldTouchEvidence for one among the evidence."""
        return lake_to_write(self.sources())

    def writing(self, doing: str) -> AbstractContextManager[None]:
        """Be the only process that writes to the lake, as soon as no other does. Raises LakeBusy after ten minutes."""
        return writing(self.lake().root, doing, wait_s=WAIT_S)

    def spark(self) -> SparkSession:
        """The session of this process: steps run in it one after another (see the executor)."""
        from pipelines.spark.session import spark_session

        sources = self.sources()
        return spark_session(sources.spark_master, sources.spark_properties)
