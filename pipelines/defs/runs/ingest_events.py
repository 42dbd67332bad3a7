"""What `rocketlens ingest` did, reported to Dagster: partitions, materializations and checks, as of runs of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import dagster as dg

from pipelines.defs.checks import STORE_CHECKS
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.metadata import table_metadata
from pipelines.defs.partitions import BROKERS, FILE_PARTITIONS
from pipelines.defs.plots import plot_of
from pipelines.defs.runs.jobs import BROKER_TABLES, CONFIG_TABLES
from pipelines.lake.catalog import made_from
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.derived import DERIVED_TABLES
from pipelines.lake.tables.lag import LAG_EPISODES, LAG_HISTORY
from pipelines.lake.tables.ownership import OWNERSHIP_TABLES
from pipelines.lake.tables.raw import TABLES
from pipelines.lake.tables.raw_table import FileTable

BY = {"made_by": "rocketlens ingest"}
READ_AT = """
SELECT broker, file, epoch_ms(read_at) AS read_ms FROM ingested_files WHERE list_contains(tables, $made)
"""
TOLD = "rocketlens: what Dagster was told of "
"""Key of Dagster's own store, with the folder of a lake: what the lake was when all of it had been reported."""

MADE_LAST = (LAG_HISTORY, LAG_EPISODES)
"""They follow from other derived tables."""
WHOLE_TABLES = tuple(
    table.name
    for table in (*OWNERSHIP_TABLES, *(table for table in DERIVED_TABLES if table not in MADE_LAST), *MADE_LAST)
)
ASSETS = (*FILE_PARTITIONS, *BROKER_TABLES, *CONFIG_TABLES, *WHOLE_TABLES)
"""Each after what it follows from: Dagster takes a table for unsynced that was reported before its upstream."""


def tell_dagster(instance: dg.DagsterInstance, lakehouse: Lakehouse) -> None:
    """Report every table that was written since its last materialization, by partition, and every check of them.

    A partition of which Dagster knows, and that was not written since, is not reported again; where no table was
    written since, nothing is looked at.
    """
    lake = lakehouse.lake()
    key_of_lake, now = f"{TOLD}{lake.root}", made_from(lake)
    if instance.daemon_cursor_storage.get_cursor_values({key_of_lake}).get(key_of_lake) == now:
        return
    with lake.asked_often():
        for written in materializations(instance, lake, ASSETS):
            instance.report_runless_asset_event(written)
        for checked in evaluations(instance, lakehouse, ASSETS):
            instance.report_runless_asset_event(checked)
    instance.daemon_cursor_storage.set_cursor_values({key_of_lake: now})


def evaluations(
    instance: dg.DagsterInstance, lakehouse: Lakehouse, names: Collection[str]
) -> Iterator[dg.AssetCheckEvaluation]:
    """What each check of these tables says now; none of a table that was never made.

    They are asked in the instance that is there: without one Dagster makes another, with all its tables, for each.
    """
    lake, context = lakehouse.lake(), dg.build_asset_check_context({"lakehouse": lakehouse}, instance=instance)
    for check in STORE_CHECKS:
        (key,) = check.check_keys
        name = key.asset_key.to_user_string()
        if name in names and lake.version(name) is not None:
            result = check(context)
            assert isinstance(result, dg.AssetCheckResult)
            yield _evaluation(key, result)


def materializations(
    instance: dg.DagsterInstance, lake: Lake, names: Collection[str]
) -> Iterator[dg.AssetMaterialization]:
    """An event for each of these tables, or its partitions, that was written since it was last reported to Dagster."""
    for name in names:
        version = lake.version(name)
        if version is None:
            continue
        if name in FILE_PARTITIONS or name in (*BROKER_TABLES, *CONFIG_TABLES):
            yield from _partitions(instance, lake, name)
        elif version != _told(instance, name)[1]:
            yield dg.AssetMaterialization(name, metadata={**_metadata(lake, name), **plot_of(lake, name)})


def _partitions(instance: dg.DagsterInstance, lake: Lake, name: str) -> Iterator[dg.AssetMaterialization]:
    """An event for each partition that is new to Dagster or was written since the table's last event.

    A file or broker that was read and gave this table no row is a partition too: what follows from it lacks nothing.
    """
    partitions = FILE_PARTITIONS.get(name, BROKERS)
    rows, written = _rows_by_partition(lake, name)
    told_ms, known = _told(instance, name)[0], instance.get_materialized_partitions(dg.AssetKey(name))
    fresh = [key for key in sorted(_read(lake, name)) if key not in known or written[key] > told_ms]
    instance.add_dynamic_partitions(str(partitions.name), fresh)
    whole = _metadata(lake, name) if fresh else {}
    for key in fresh:
        metadata = {**whole, "dagster/partition_row_count": rows[key]}
        if key == fresh[-1]:  # Dagster's log keeps every picture, and shows that of the newest event
            metadata |= plot_of(lake, name)
        yield dg.AssetMaterialization(name, partition=key, metadata=metadata)


def _read(lake: Lake, name: str) -> set[str]:
    """The partitions of a table: those of every table that has the same ones."""
    partitions = FILE_PARTITIONS.get(name)
    alike = [each for each, its in FILE_PARTITIONS.items() if its == partitions] or (*BROKER_TABLES, *CONFIG_TABLES)
    made = [each for each in alike if lake.version(each) is not None]
    return {key for each in made for key in _rows_by_partition(lake, each)[0]}


def _rows_by_partition(lake: Lake, name: str) -> tuple[Counter[str], Counter[str]]:
    """By Dagster's partition of a table: its rows, and when they were written, epoch milliseconds."""
    rows, written = Counter[str](), Counter[str]()
    table = TABLES[name]
    if name in FILE_PARTITIONS and isinstance(table, FileTable) and table.is_packed:
        rows.update({"/".join(key): held for key, held in lake.file_rows(name).items()})
        newest = Counter[
            str
        ]()  # a run that reads other tables notes all files as looked at: no part of this one is new
        for part in partition_parts(table, lake.table_root(name)):
            newest[part.partition[0]] = max(newest[part.partition[0]], part.written_ms)
        read = lake.query(READ_AT, made=name).to_pylist()
        written.update({f"{row['broker']}/{row['file']}": min(row["read_ms"], newest[row["broker"]]) for row in read})
        return rows, written
    width = 2 if name in FILE_PARTITIONS else 1
    for part in partition_parts(table, lake.table_root(name)):
        key = "/".join(part.partition[:width])
        written[key], rows[key] = max(written[key], part.written_ms), rows[key] + part.rows
    return rows, written


def _told(instance: dg.DagsterInstance, name: str) -> tuple[float, object]:
    """When the table was last reported to Dagster, epoch milliseconds, and of which version; (0, None) where never."""
    event = instance.get_latest_materialization_event(dg.AssetKey(name))
    if event is None or event.asset_materialization is None:
        return 0, None
    version = event.asset_materialization.metadata.get("delta_version")
    return event.timestamp * 1000, None if version is None else version.value


def _metadata(lake: Lake, name: str) -> dict[str, dg.RawMetadataValue]:
    return table_metadata(lake, TABLES[name], lake.rows(name), **BY)


def _evaluation(key: dg.AssetCheckKey, result: dg.AssetCheckResult) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=key.asset_key,
        check_name=key.name,
        passed=result.passed,
        metadata=result.metadata,
        severity=result.severity,
        description=result.description,
    )
