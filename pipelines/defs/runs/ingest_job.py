"""The job that brings one broker up to date: one run for all of its files that the lake lacks, as `rocketlens ingest`.

A run of assets has one partitions definition; the files of a store are of four. So the run asks the lake what has
changed, reads it, and reports every partition that it wrote.
"""

import dagster as dg

from pipelines.defs.lakehouse import SPARK_POOL, Lakehouse
from pipelines.defs.partitions import BROKERS, FILE_PARTITIONS
from pipelines.defs.runs.ingest_events import evaluations, materializations
from pipelines.defs.runs.jobs import BROKER_TABLES, CONFIG_TABLES

RAW_ASSETS = (*FILE_PARTITIONS, *BROKER_TABLES, *CONFIG_TABLES)


@dg.op(
    pool=SPARK_POOL, description="Read the files of a broker that are new or have changed, and say what was written."
)
def ingest_changed_files(context: dg.OpExecutionContext, lakehouse: Lakehouse) -> None:
    """Ingest one broker; what could not be read is a warning, and is read by the next run."""
    from pipelines.ingest.ingest import IngestReport, ingest_store
    from pipelines.lake.catalog import publish

    lake, report = lakehouse.lake(), IngestReport()
    with lakehouse.writing("ingest"), lakehouse.stores([context.partition_key]) as sources:
        broker = sources.broker(context.partition_key)
        ingest_store(lakehouse.spark(), lake, broker, report, bodies=sources.bodies)
        publish(lake)
    for name, sentence in report.unread:
        context.log.warning(f"{name}: {sentence}")
    context.log.info(f"{report.files_read} files read, {report.files_unchanged} unchanged")
    with lake.asked_often():
        for written in materializations(context.instance, lake, RAW_ASSETS):
            context.log_event(written)
        for checked in evaluations(context.instance, lakehouse, RAW_ASSETS):
            context.log_event(checked)  # type: ignore[arg-type]  # taken, though its annotation leaves it out


@dg.job(
    partitions_def=BROKERS, description="Bring everything that is read from one broker's files up to date, in one run."
)
def ingest_broker() -> None:
    ingest_changed_files()
