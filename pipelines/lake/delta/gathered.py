"""Parts that came one after another, brought together: a file that a broker goes on writing to adds a part to its
partition with every ingest, and so does every state of a configuration.

Parts of like size become one, as in the levels of a log-structured merge tree: a row is written again once for each
level, and a partition keeps fewer than AT_ONCE parts of each.
"""

from __future__ import annotations

from collections import defaultdict

from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.delta.packed import rows_again
from pipelines.lake.delta.parts import Part, new_job, remove_job, write_parts
from pipelines.lake.tables.table import Table
from pipelines.objects.place import Place

AT_ONCE = 16
"""So many parts of one level of a partition become one part."""
LEVEL_BITS = 4
"""Each level's parts have 2 ** LEVEL_BITS times the rows of the one before."""
WHOLE_ROWS = 1 << 20
WHOLE_BYTES = 1 << 26
"""A part of so many rows, or bytes, is left alone."""


def gather(table: Table, root: Place, broker: str) -> int:
    """Join parts of one broker where there are many, in one transaction; returns how many parts it replaced.

    Raises:
        PartsMissing, LakeMoved: one sentence; the table is as it was.
    """
    together = _many_alike(table, root, broker)
    if not together:
        return 0
    job = new_job()
    try:
        written = write_parts(table, root, job, rows_again(table, root, [(part, frozenset()) for part in together]))
    except BaseException:
        remove_job(root, job)
        raise
    commit(table, root, written, [], without={part.path for part in together}, same_rows=True)
    return len(together)


def _many_alike(table: Table, root: Place, broker: str) -> list[Part]:
    """The parts to bring together, those of a partition one after another, in the order in which they came."""
    levels: defaultdict[tuple[tuple[str, ...], int], list[Part]] = defaultdict(list)
    for part in partition_parts(table, root, [broker]):
        if part.rows < WHOLE_ROWS and part.size < WHOLE_BYTES:
            levels[part.partition, part.rows.bit_length() // LEVEL_BITS].append(part)
    many = (part for parts in levels.values() if len(parts) >= AT_ONCE for part in parts)
    return sorted(many, key=lambda part: (part.partition, part.written_ms))
