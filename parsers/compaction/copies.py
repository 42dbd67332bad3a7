"""The messages of a compacted queue's log: records as in the CommitLog, at their own places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from parsers.commitlog.batches.segment import Decoding, read_segment
from parsers.commitlog.batches.slab import SlabPool
from parsers.compaction.schema import COPY_SCHEMA, POSITION
from parsers.damage.errors import DamageSink
from parsers.store.store_file import StoreFile


def read_copies(
    files: Sequence[StoreFile], *, columns: Sequence[str] | None = None, damage: DamageSink | None = None
) -> Iterator[pa.RecordBatch]:
    """The messages of one queue's log files, in offset order, as batches of the named columns (all of COPY_SCHEMA).

    Files need not join: a pass leaves fewer of them in front, and none of their names is used again. A record's
    PHYSICALOFFSET is its own position here.

    Raises (or hands to `damage`): the errors of `read_segment`.
    Source: store/kv/CompactionLog.java#CompactionAppendMessageCallback, #compaction, #replaceFiles @5.3.3.
    """
    names = list(COPY_SCHEMA.names if columns is None else columns)
    asked = [POSITION if name == "position" else name for name in names]
    decoding = Decoding(pool=SlabPool.for_files(*(file.size for file in files)))
    for file in files:
        for batch in read_segment(file, columns=asked, damage=damage, decoding=decoding):
            yield batch.rename_columns(names)
