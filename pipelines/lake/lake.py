"""The lake: one folder with a Delta table for each name of `pipelines.lake.tables.raw`, and the published catalogue.

Delta is imported where a table is looked at, so that asking the catalogue alone does not load it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from parsers.evidence.guard import EvidenceGuard
from pipelines.lake.configuration.sources import Sources
from pipelines.lake.delta.errors import LakeError
from pipelines.lake.tables.raw import TABLES
from pipelines.lake.tables.raw_table import FileTable
from pipelines.lake.tables.table import Table
from pipelines.objects.both import connected, readable
from pipelines.objects.place import ObjectPlace, Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Lake:
    """Where the tables are. Reading goes through Delta's list of active files, never through a glob."""

    root: Place

    @property
    def catalog(self) -> Place:
        return self.root / "catalog.duckdb"

    @property
    def places(self) -> tuple[Place, Place]:
        """All that is written: the folder of the tables, and the catalogue."""
        return self.root / "tables", self.catalog

    def table_root(self, name: str) -> Place:
        return self.root / "tables" / name

    def files(self, name: str, broker: str | None = None) -> list[str]:
        """The Parquet files that are the table now, or those of them with rows of one broker."""
        from pipelines.lake.delta.log import active_files

        brokers = None if broker is None else {broker}
        return [str(path) for path in active_files(TABLES[name], self.table_root(name), brokers)]

    def has(self, name: str) -> bool:
        """Whether a table was ever made."""
        from pipelines.lake.delta.log import LOG_FOLDER

        return self.version(name) is not None or (self.table_root(name) / LOG_FOLDER).is_dir()

    def version(self, name: str) -> int | None:
        """Delta version of a table, None when it was never written."""
        from pipelines.lake.delta.log import newest_version

        newest = newest_version(self.table_root(name))
        return None if newest is None else int(newest.stem)

    def rows(self, name: str, broker: str | None = None) -> int:
        """Rows of a table, or of its partitions that one broker's store is in, from the Delta log alone."""
        from pipelines.lake.delta.log import rows_in

        return rows_in(self.table_root(name)) if broker is None else self.rows_by_broker(name)[broker]

    def partition_rows(self, name: str) -> Counter[tuple[str, ...]]:
        """Rows of each partition of a table, from the Delta log alone; 0 for one that is not there."""
        from pipelines.lake.delta.log import partition_parts

        rows: Counter[tuple[str, ...]] = Counter()
        for part in partition_parts(TABLES[name], self.table_root(name)):
            rows[part.partition] += part.rows
        return rows

    def file_rows(self, name: str) -> Counter[tuple[str, ...]]:
        """Rows of each (broker, file) of a table of store files, from log and footers alone; 0 for one not there."""
        from pipelines.lake.delta.log import partition_parts
        from pipelines.lake.delta.parts import files_in

        table, root = TABLES[name], self.table_root(name)
        if not isinstance(table, FileTable) or not table.is_packed:
            return self.partition_rows(name)
        rows: Counter[tuple[str, ...]] = Counter()
        for part in partition_parts(table, root):
            rows.update({(*part.partition, file): held for file, held in files_in(root / part.path).items()})
        return rows

    def rows_by_broker(self, name: str) -> Counter[str]:
        """Rows of a table for each broker, from the Delta log alone; 0 for one that is not there."""
        rows: Counter[str] = Counter()
        for partition, count in self.partition_rows(name).items():
            rows[partition[0]] += count
        return rows

    def select(self, name: str, broker: str | None = None) -> str:
        """SQL that DuckDB reads the table with: every declared column, null where the files lack it; see `files`."""
        from pipelines.lake.delta.log import active_files

        table = TABLES[name]
        places = active_files(table, self.table_root(name), None if broker is None else {broker})
        files = [str(place) for place in places]
        columns = ", ".join(f'"{column.name}"' for column in table.columns)
        stored = f"SELECT * FROM read_parquet([{', '.join(map(quoted, files))}], union_by_name=true)"
        if files and set(table.schema.names) <= set(pq.read_schema(readable(places[0])).names):
            return f"SELECT {columns} FROM ({stored})"
        declared = no_rows(table)  # files of an earlier version may all lack a column
        return f"SELECT {columns} FROM ({declared} UNION ALL BY NAME {stored})" if files else declared

    def query(self, sql: str, **parameters: object) -> pa.Table:
        """Ask DuckDB; every table of the lake that the SQL names is there as a view, times in UTC."""
        return self._asked(sql, None, parameters)

    def query_broker(self, sql: str, broker: str, **parameters: object) -> pa.Table:
        """Ask of `$broker` alone, as `query`: the parts of others are not opened, however many brokers the lake has."""
        return self._asked(sql, broker, {"broker": broker, **parameters})

    def asked_often(self) -> AbstractContextManager[object]:
        """Let the questions that are asked meanwhile share one instance of DuckDB: each starts its own otherwise."""
        return connected(self.root)

    def _asked(self, sql: str, broker: str | None, parameters: dict[str, object]) -> pa.Table:
        with connected(self.root) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            for name in TABLES:
                if name in sql:
                    connection.execute(f'CREATE TEMP VIEW "{name}" AS {self.select(name, broker)}')
            return connection.sql(sql, params=parameters or None).to_arrow_table()

    def write(self, name: str, rows: pa.Table, replaced: Sequence[tuple[str, ...]] | None = None) -> int:
        """Write a small result without Spark, replacing partitions (the whole table with None); rows written.

        The rows of a partitioned table must come with equal partition values together.
        """
        from pipelines.lake.delta.commit import commit
        from pipelines.lake.delta.parts import new_job, remove_job, write_parts

        table, root, job = TABLES[name], self.table_root(name), new_job()
        try:
            parts = write_parts(table, root, job, rows.cast(table.bare_schema).to_batches())
        except BaseException:
            remove_job(root, job)
            raise
        commit(table, root, parts, replaced)
        return int(rows.num_rows)

    def frame(self, spark: SparkSession, name: str) -> DataFrame:
        """The table as a Spark DataFrame. Raises LakeError for one on an object store: pip's Spark cannot read it."""
        from pipelines.lake.tables.spark_schema import spark_schema

        if isinstance(self.root, ObjectPlace):
            raise LakeError(f"{self.root}: Spark as pip installs it reads no objects; ask in SQL instead")
        schema = spark_schema(TABLES[name].bare_schema)
        files = self.files(name)
        return spark.read.schema(schema).parquet(*files) if files else spark.createDataFrame([], schema)


def lake_to_write(sources: Sources) -> Lake:
    """The lake of the configuration. Raises WouldTouchEvidence for one among the evidence, or around it."""
    lake, guard = Lake(sources.lake), EvidenceGuard(*sources.evidence())
    tables, catalog = lake.places
    if isinstance(tables, Path) and isinstance(catalog, Path):  # of an object store nothing is evidence
        guard.refuse(tables, "[lake] path")
        guard.refuse(catalog, "[lake] path")
        guard.refuse_around(tables, "[lake] path")
    return lake


def no_rows(table: Table) -> str:
    """SQL of every declared column of a table, and no rows."""
    types = _duckdb_types()
    nulls = (f'CAST(NULL AS {types[column.type]}) AS "{column.name}"' for column in table.columns)
    return f"SELECT {', '.join(nulls)} WHERE false"


@cache
def _duckdb_types() -> dict[pa.DataType, str]:
    """DuckDB's name of each Arrow type that a column has."""
    kinds = sorted({column.type for table in TABLES.values() for column in table.columns}, key=str)
    probe = pa.table([pa.array([], kind) for kind in kinds], names=list(map(str, kinds)))
    with duckdb.connect() as connection:
        return dict(zip(kinds, map(str, connection.from_arrow(probe).types), strict=True))


def quoted(text: str) -> str:
    """Text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
