"""What is wrong with a lake: parts that its tables name and that are not there or not whole, and doubled messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.errors import OtherPartitions, first_line
from pipelines.lake.delta.log import partition_parts, was_never_written
from pipelines.lake.delta.parts import Part
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.objects.both import readable
from pipelines.objects.place import Place, StoreRefused

DOUBLES = """
SELECT broker, file, count(*) AS doubles
FROM (SELECT broker, file, count(*) OVER (PARTITION BY broker, physical_offset) AS n FROM commitlog_messages)
WHERE n > 1
GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a table, and the partition it is in; without a partition, the table itself cannot be read."""

    table: str
    partition: tuple[str, ...] | None
    part: str | None
    what: str


def faults(lake: Lake) -> Iterator[Fault]:
    """Every fault of the lake: each part is looked at, its last bytes are read, and messages are counted."""
    for name in TABLES:
        found = list(_of_table(lake, name))
        yield from found
        if name == "commitlog_messages" and not found and lake.version(name) is not None:
            for row in lake.query(DOUBLES).to_pylist():
                what = f"{row['doubles']} rows of messages that are there more than once"
                yield Fault(name, (row["broker"], row["file"]), None, what)


def _of_table(lake: Lake, name: str) -> Iterator[Fault]:
    root = lake.table_root(name)
    try:
        parts = list(partition_parts(TABLES[name], root))
    except StoreRefused:
        raise
    except (DeltaError, OSError) as refused:
        yield Fault(name, None, None, f"its log cannot be read: {first_line(str(refused))}")
        return
    except OtherPartitions:
        yield Fault(name, None, None, OtherPartitions.WHAT)
        return
    if not parts and lake.has(name) and lake.version(name) is None and not was_never_written(root):
        yield Fault(name, None, None, "its log cannot be read: it has no version")
    for part in parts:
        if (what := _wrong_with(root, part)) is not None:
            yield Fault(name, part.partition, part.path, what)


def _wrong_with(root: Place, part: Part) -> str | None:
    path = root / part.path
    try:
        size = path.stat().st_size
        if size != part.size:
            return f"{size} bytes where {part.size} were written"
        rows = pq.read_metadata(readable(path)).num_rows
    except FileNotFoundError:
        return "is not there"
    except StoreRefused:
        raise  # it may be there and whole
    except (OSError, pa.ArrowInvalid) as refused:
        return f"cannot be read: {' '.join(str(refused).split())}"
    return None if rows == part.rows else f"{rows} rows where {part.rows} were written"


def drop(
    lake: Lake,
    found: Iterable[Fault],
    is_held: Callable[[str, tuple[str, ...]], bool],
    tell: Callable[[str, list[Part]], None] = lambda table, parts: None,
) -> list[Fault]:
    """Take faulty parts out of their tables, one transaction for each table; the faults that are left as they are.

    A partition that can be read again goes whole, so that what is read is not put after a hole. Of any other one only
    the parts go that cannot be read: the rest of its rows may be nowhere else.

    Args:
        is_held: whether the evidence still holds all that a partition (table, values) was made from.
        tell: called with each table and the parts that were taken out of it, as soon as they are.
    """
    left, by_table = [], defaultdict[str, list[Fault]](list)
    for fault in found:
        by_table[fault.table].append(fault)
    for name, faults_there in by_table.items():
        whole = {fault.partition for fault in faults_there if fault.partition and is_held(name, fault.partition)}
        others = [fault for fault in faults_there if fault.partition not in whole]
        left += [fault for fault in others if fault.part is None]
        gone = {fault.part for fault in others if fault.part is not None}
        if whole or gone:
            parts = [
                p
                for p in partition_parts(TABLES[name], lake.table_root(name))
                if p.partition in whole or p.path in gone
            ]
            commit(TABLES[name], lake.table_root(name), [], whole, without=gone)
            tell(name, parts)
    return left
