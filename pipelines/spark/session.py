"""The one Spark session of a process, set up so that workers can import us and times are UTC."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.lake.configuration.spark_properties import FIXED
from pipelines.lake.delta.errors import NoSpark, raised_in
from pipelines.spark.java_home import ensure_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGGING = Path(__file__).resolve().parent / "log4j2.properties"
SETTINGS = {
    **FIXED,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.python.worker.faulthandler.enabled": "true",  # a worker that a signal ends says which
    "spark.executorEnv.MIMALLOC_PURGE_DELAY": "10000",  # ms: Arrow's memory of one row group is there for the next one
}
"""Each of them but FIXED gives way to the table [spark] of rocketlens.toml."""
LOOPBACK = "127.0.0.1"
STANDALONE = re.compile(r"spark://(\[[^]]+\]|[^:,/]+):(\d+)")
WORKERS_PYTHON = "spark.pyspark.python"


def spark_session(
    master: str = "local[*]", properties: Mapping[str, str] | None = None, *, short_lived: bool = False
) -> SparkSession:
    """Start Spark, or return the session that runs already, with our data sources registered.

    Args:
        properties: Spark's own, over the defaults here.
        short_lived: spend little on compiling: starts sooner, scans a third slower. For the demo and for tests.
    Raises:
        NoSpark: no cluster answers at the master's address, or Spark does not start.
    """
    ensure_java()
    given = dict(properties or {})
    os.environ["PYSPARK_PYTHON"] = given.get(WORKERS_PYTHON) or os.environ.get("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYARROW_IGNORE_TIMEZONE", "1")
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    compiler = " -XX:TieredStopAtLevel=1" if short_lived else ""
    builder = SparkSession.builder.master(master).appName("rocketlens")
    options = {
        **SETTINGS,
        "spark.driver.memory": os.environ.get("ROCKETLENS_DRIVER_MEMORY", "2g"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOGGING.as_uri()}{compiler}",
        **listening(master, given),
        **given,
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except (Py4JError, PySparkException, OSError) as error:
        raise NoSpark(f"Spark does not start with the master {master}: {raised_in(str(error))}") from error
    register_sources(spark)
    return spark


def listening(master: str, given: Mapping[str, str]) -> dict[str, str]:
    """Where the driver listens for its workers: of `local[…]` and of a cluster here on the loopback address alone, of a
    cluster elsewhere on this machine's address towards it, and where `given` says its host, as Spark itself decides.

    Raises NoSpark: of a standalone master, that nothing answers at its address.
    """
    reached = reachable_from(master)
    if "spark.driver.host" in given:
        return {}
    host = LOOPBACK if master.startswith("local") else reached
    return {} if host is None else {"spark.driver.host": host, "spark.driver.bindAddress": host}


def reachable_from(master: str) -> str | None:
    """The address of this machine by which it reached a standalone master; None of another kind of master.

    Raises NoSpark: no master of `spark://host:port[,host:port]` answers. Spark itself would try for a minute.
    """
    refused: OSError | None = None
    for host, port in STANDALONE.findall(master.replace(",", ",spark://") if master.startswith("spark://") else ""):
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=10) as reached:
                return str(reached.getsockname()[0])
        except (OSError, OverflowError) as error:
            refused = error if isinstance(error, OSError) else OSError(str(error))
    if refused is not None:
        raise NoSpark(f"no Spark master answers at {master}: {refused.strerror or refused}") from refused
    return None


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
    """The share of tasks that are done of the job that runs; 0 where none runs. Any thread may ask."""
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
