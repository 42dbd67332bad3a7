"""`df.write.format("rocketlens_delta")`: tasks make rows and write Parquet parts, the driver commits them to Delta.

What passes through Spark is the work, one small row for each task. The rows of the table are made in the worker and
written there: through the JVM they would cost several times what decoding and writing them costs.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from pipelines.spark.sources.source import table_of

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.lake.delta import Part

Work = Callable[[], Iterator["pa.RecordBatch"]]
"""Makes rows of a table when it is called, batch by batch. It travels to a worker as a pickle."""
WORK = "work BINARY"
"""The schema of the rows that the writer takes: pickled `Work`."""


@dataclass
class Written(WriterCommitMessage):
    """The parts one task wrote."""

    parts: list[Part]


class DeltaSink(DataSource):
    """Options: `table` (a name of pipelines.lake.tables.raw), `root` (its folder), `replaces`.

    `replaces` is a JSON list of partitions whose present rows go in the same transaction (each a list of values in the
    order of the table's `partition_by`), `null` for the whole table, `[]` to append.
    """

    @classmethod
    def name(cls) -> str:
        return "rocketlens_delta"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        return DeltaPartsWriter(self.options["table"], Path(self.options["root"]), self.options["replaces"])


class DeltaPartsWriter(DataSourceArrowWriter):
    """A task that is retried leaves a part nobody refers to: invisible to readers, removed by `vacuum`."""

    def __init__(self, table: str, root: Path, replaces: str) -> None:
        self.table, self.root, self.replaces = table, root, replaces

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        from pipelines.lake.delta import write_parts

        work: Iterator[Work] = (pickle.loads(row) for rows in iterator for row in rows.column(0).to_pylist())
        return Written(write_parts(table_of(self.table), self.root, (batch for make in work for batch in make())))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        from pipelines.lake.delta import commit

        parts = [part for message in messages if isinstance(message, Written) for part in message.parts]
        partitions = json.loads(self.replaces)
        commit(
            table_of(self.table),
            self.root,
            parts,
            None if partitions is None else [tuple(partition) for partition in partitions],
        )

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        for message in messages:
            if isinstance(message, Written):
                for part in message.parts:
                    (self.root / part.path).unlink(missing_ok=True)
