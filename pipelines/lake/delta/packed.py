"""Parts that hold the rows of many files of one broker, and how the rows of some of these files are replaced.

A part is never changed. What stays of it is written again, together with all small parts: so the files that change
often come to lie in the same parts, and parts of files that no longer change are left alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.lake.delta.log import partition_parts
from pipelines.lake.delta.parts import Part, files_in, part_that_is_there, write_parts
from pipelines.lake.tables.raw_table import FileTable
from pipelines.lake.tables.rows import conform
from pipelines.lake.tables.table import Table
from pipelines.objects.both import readable
from pipelines.objects.place import Place

SMALL_ROWS = 1 << 18
"""A part with fewer rows is written again with others when its broker gets new ones."""
BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Repacked:
    """Parts to add, paths of the table's parts that go with them, and new parts whose rows are in others by now."""

    parts: list[Part]
    without: set[str]
    unneeded: list[Part]


def repack(
    table: FileTable,
    root: Place,
    job: str,
    new: Sequence[Part],
    replaced: Collection[tuple[str, str]],
    left_out: Set[str],
) -> Repacked:
    """Bring new parts of a broker's files together with the parts that the table has of it; nothing is committed yet.

    Args:
        replaced: (broker, file) of the files whose present rows go.
        left_out: files whose rows in the new parts are not wanted.
    """
    gone: defaultdict[str, set[str]] = defaultdict(set)
    for broker, file in replaced:
        gone[broker].add(file)
    present = list(partition_parts(table, root, gone))
    old = _to_write_again(root, [(part, gone[part.partition[0]]) for part in present])
    fresh = _to_write_again(root, [(part, left_out) for part in new])
    if len(old) + len(fresh) == 1 and not any(lost for _, lost in old + fresh):
        return Repacked(list(new), set(), [])
    written = write_parts(table, root, job, rows_again(table, root, old + fresh))
    again = {part.path for part, _ in fresh}
    return Repacked(
        [*written, *(part for part in new if part.path not in again)],
        {part.path for part, _ in old},
        [part for part in new if part.path in again],
    )


def _to_write_again(root: Place, parts: Sequence[tuple[Part, Set[str]]]) -> list[tuple[Part, Set[str]]]:
    """The parts that are small or have rows that go, each with the files whose rows go."""
    losing = ((part, files_in(root / part.path).keys() & lost) for part, lost in parts)
    return [(part, lost) for part, lost in losing if lost or part.rows < SMALL_ROWS]


def rows_again(table: Table, root: Place, parts: Sequence[tuple[Part, Set[str]]]) -> Iterator[pa.RecordBatch]:
    """The rows of parts, each without those of the files named beside it, under the columns of the table.

    Raises PartsMissing for a part that cannot be read.
    """
    for part, lost in parts:
        path = root / part.path
        with part_that_is_there(path), pq.ParquetFile(readable(path)) as file:
            for batch in conform(file.iter_batches(BATCH_ROWS), table.bare_schema):
                yield batch if not lost else batch.filter(pc.invert(pc.is_in(batch.column("file"), _texts(lost))))


def _texts(values: Set[str]) -> pa.Array:
    return pa.array(sorted(values), pa.string())
