"""The one Spark session of a process, set up so that workers can import us and times are UTC."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.spark.java_home import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGGING = Path(__file__).resolve().parent / "log4j2.properties"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # INT96, the default, loses the zone for DuckDB
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # a file name stays text, zeros kept
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.artifact.isolation.enabled": "false",
    "spark.python.worker.faulthandler.enabled": "true",  # a worker that a signal ends says which
}


def spark_session(master: str = "local[*]", *, short_lived: bool = False) -> SparkSession:
    """Start Spark, or return the session that runs already, with our data sources registered.

    Args:
        short_lived: spend little on compiling: starts sooner, scans a third slower. For the demo and for tests.
    """
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers are whatever `python3` is
    os.environ.setdefault("PYARROW_IGNORE_TIMEZONE", "1")
    from pyspark.sql import SparkSession

    compiler = " -XX:TieredStopAtLevel=1" if short_lived else ""
    builder = SparkSession.builder.master(master).appName("rocketlens")
    options = {
        **SETTINGS,
        "spark.driver.memory": os.environ.get("ROCKETLENS_DRIVER_MEMORY", "2g"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOGGING.as_uri()}{compiler}",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    register_sources(spark)
    return spark


class SparkWhenAsked:
    """Starts Spark when something of the session is first asked for: an ingest that finds nothing new needs none."""

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        self._start = start
        self._session: SparkSession | None = None

    def __getattr__(self, name: str) -> Any:
        if self._session is None:
            self._session = self._start()
        return getattr(self._session, name)

    @property
    def running(self) -> SparkSession | None:
        """The session, once it was started."""
        return self._session

    def stop(self) -> None:
        """Stop Spark where it was started."""
        if self._session is not None:
            self._session.stop()


def share_done(spark: SparkSession | SparkWhenAsked) -> float:
    """Of the tasks of the job that runs, the share that is done; 0 where none runs. Any thread may ask."""
    session = spark.running if isinstance(spark, SparkWhenAsked) else spark
    if session is None:
        return 0.0
    tracker = session.sparkContext.statusTracker()
    stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
    tasks = sum(stage.numTasks for stage in stages)
    return sum(stage.numCompletedTasks for stage in stages) / tasks if tasks else 0.0


def register_sources(spark: SparkSession) -> None:
    """Make `spark.read.format("rocketmq_…")` known to this session."""
    from pipelines.spark.sources.registry import SOURCES

    for source in SOURCES:
        spark.dataSource.register(source)
