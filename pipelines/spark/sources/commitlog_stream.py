"""`spark.readStream.format("rocketmq_commitlog")`: the messages of a store that grows, each once.

An offset of the stream is a physical offset that log, queues and index had all passed when it was looked at
(`recovery.query.watermark`). A log is only appended to, so the rows between two offsets are
the same whenever they are read: a batch that is tried again, or read again after a restart, gives the same rows. A
start may have cut the log and the broker appended to it again: so an offset also says what lies right before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from pipelines.spark.sources.source import Options, StoreReader

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.store import Store

AT = "physical_offset"
"""An offset of the stream: how far its messages were read."""
BEFORE = "bytes_before"
"""Beside it where any message was read: CRC-32 of the bytes right before it, the end of the last of them. Whatever is
appended to a log that was cut there, or further back, has been stored at another time, and has other bytes."""
COMPARED = 4096
"""So many bytes, at most."""
AGAIN = (
    "begin again with a new checkpoint and a new table: batches are counted from 0 again, and a table that notes their "
    "numbers would leave them out"
)


@dataclass
class Between(InputPartition):
    """A slice of the log, and the physical offsets that its messages start at or after, and before."""

    slice_: InputPartition
    start: int
    end: int


class CommitLogStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches on the driver, reads them on workers; `reader_class` reads what lies between two offsets."""

    def __init__(self, reader_class: type[StoreReader], options: Options, names: Sequence[str], table: str) -> None:
        self._reader_class, self._options, self._names, self._table = reader_class, options, list(names), table
        self._available: int | None = None

    def initialOffset(self) -> dict[str, int]:
        return {AT: max(self._store().log_start, self._reader().number("min_physical_offset") or 0)}

    def prepareForTriggerAvailableNow(self) -> None:
        self._available = self._reached(self._store())

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        """Raises ValueError where the log ends before what was read of it already, or has other messages there now."""
        from recovery.query.watermark import watermark

        store = self._store()
        reached = self._reached(store) if self._available is None else self._available
        if reached < start[AT]:
            self._require_end(start[AT], watermark(store).log_end)
        self._require_same(store, start)
        return start if reached <= start[AT] else {AT: reached, **_before(store, reached)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Raises ValueError where the broker has deleted messages that are to be read, files of them are gone, or the
        log has other messages there than when the offsets were taken."""
        if start[AT] == end[AT]:
            return []
        between = start[AT], end[AT]
        planned = [Between(slice_, *between) for slice_ in self._reader(*between).partitions()]
        store = self._store()  # looked at after the plan, which lacks what was gone before it
        first, files = store.log_start, store.commitlog
        self._require_end(end[AT], max(((file.base_offset or 0) + file.size for file in files), default=0))
        if start[AT] < first:
            raise ValueError(
                f"{self._options['store']}: messages from physical offset {start[AT]} on are to be read, and the log "
                f"begins at {first} now: the broker has deleted those between; {AGAIN}"
            )
        for offset in (start, end):
            self._require_same(store, offset)
        return planned

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Raises OSError for a file that cannot be read to its end: the batch fails, and is tried again."""
        if not isinstance(partition, Between):  # Spark's stand-in for an empty list of partitions
            return
        reader = self._reader(partition.start, partition.end)
        yield from reader.read(partition.slice_)
        for file, why in reader.unread.items():
            raise OSError(f"{file}: {why}")

    def _reader(self, start: int | None = None, end: int | None = None) -> StoreReader:
        bounds = {"min_physical_offset": start, "max_physical_offset": end}
        given = {name: str(value) for name, value in bounds.items() if value is not None}
        return self._reader_class({**self._options, **given}, self._names, self._table)

    def _store(self) -> Store:
        """Raises ValueError where the log is not there, which is no log that lost its end or its beginning."""
        store = self._reader().store()
        if store.log_not_found is not None:
            raise ValueError(store.log_not_found)
        return store

    def _require_end(self, was: int, now: int) -> None:
        if now < was:
            raise ValueError(
                f"{self._options['store']}: the log went up to physical offset {was} and ends at {now} now: its end "
                f"was cut, and what was there is gone; {AGAIN}"
            )

    def _require_same(self, store: Store, offset: dict[str, int]) -> None:
        """What lies before an offset, where the log still has it, must be what was there when the offset was taken."""
        now = _before(store, offset[AT])
        if BEFORE in offset and now and now[BEFORE] != offset[BEFORE]:
            raise ValueError(
                f"{self._options['store']}: what the log has right before physical offset {offset[AT]} is not what was "
                f"there when it was read: the log was cut further back, and has grown past that place since; {AGAIN}"
            )

    def _reached(self, store: Store) -> int:
        """How far a store has come, and as far as the option `max_physical_offset` asks for."""
        from recovery.query.watermark import watermark

        reached, most = watermark(store).physical_offset, self._reader().number("max_physical_offset")
        return reached if most is None else min(reached, most)


def _before(store: Store, physical_offset: int) -> dict[str, int]:
    """What an offset says of the log before it; nothing where no file of the log has any of it."""
    from parsers.evidence.mapped import map_file

    for file in store.commitlog:
        end = physical_offset - (file.base_offset or 0)
        if 0 < end <= file.size:
            return {BEFORE: crc32(map_file(file.path)[max(0, end - COMPARED) : end])}
    return {}
