"""The messages of a whole CommitLog, or of the part that answers a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.schema import schema_of
from parsers.commitlog.batches.segment import PLAIN, Decoding, RegionSink, read_segment
from parsers.commitlog.batches.slab import SlabPool
from parsers.damage.errors import DamageSink, report, unheard
from parsers.layouts.columns import TIMESTAMP
from parsers.store.sequence import sequence_errors
from parsers.store.store import Store
from parsers.store.store_file import StoreFile


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Which messages are wanted; None asks nothing. Ranges take their first value and leave out their last.

    `max_physical_offset` is the end, as RocketMQ's maxima are. `key`: one of the message's KEYS, or its unique id.
    """

    topics: Collection[str] | None = None
    queue_id: int | None = None
    key: str | None = None
    min_physical_offset: int | None = None
    max_physical_offset: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None

    def columns(self) -> list[str]:
        """The columns that the answer depends on."""
        needed = {
            "topic": self.topics,
            "queue_id": self.queue_id,
            "keys": self.key,
            "unique_id": self.key,
            "physical_offset": self.max_physical_offset if self.min_physical_offset is None else 0,
            "store_timestamp": self.until_ms if self.since_ms is None else 0,
        }
        return [name for name, asked in needed.items() if asked is not None]

    def may_hold(self, file: StoreFile) -> bool:
        """Whether the file's range of physical offsets meets the wanted one."""
        if file.base_offset is None:
            return True
        first, end = file.base_offset, file.base_offset + file.size
        before = self.min_physical_offset is not None and end <= self.min_physical_offset
        behind = self.max_physical_offset is not None and first >= self.max_physical_offset
        return not (before or behind)

    def keep(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The wanted rows of a batch that has `columns()`."""
        conditions = list(self._conditions(batch))
        if not conditions:
            return batch
        mask = conditions[0]
        for condition in conditions[1:]:
            mask = pc.and_kleene(mask, condition)
        return batch.filter(mask)

    def _conditions(self, batch: pa.RecordBatch) -> Iterator[pa.Array]:
        if self.topics is not None:
            yield pc.is_in(batch["topic"], pa.array(sorted(self.topics), pa.string()))
        if self.queue_id is not None:
            yield pc.equal(batch["queue_id"], self.queue_id)
        if self.key is not None:
            word = f"(^| ){re.escape(self.key)}( |$)"
            in_keys = pc.fill_null(pc.match_substring_regex(batch["keys"], word), False)
            yield pc.or_(in_keys, pc.fill_null(pc.equal(batch["unique_id"], self.key), False))
        yield from _within(batch, "physical_offset", self.min_physical_offset, self.max_physical_offset)
        yield from _within(batch, "store_timestamp", _time(self.since_ms), _time(self.until_ms))


def _time(epoch_ms: int | None) -> pa.Scalar | None:
    return None if epoch_ms is None else pa.scalar(epoch_ms * 1000, pa.int64()).cast(TIMESTAMP)


def _within(batch: pa.RecordBatch, name: str, first: object, end: object) -> Iterator[pa.Array]:
    if first is not None:
        yield pc.greater_equal(batch[name], first)
    if end is not None:
        yield pc.less(batch[name], end)


def read_commitlog(
    source: Store | Sequence[StoreFile],
    *,
    columns: Sequence[str] | None = None,
    where: MessageFilter | None = None,
    decoding: Decoding = PLAIN,
    damage: DamageSink | None = unheard,
    regions: RegionSink | None = None,
) -> Iterator[pa.RecordBatch]:
    """The messages of the files in offset order, as batches of `schema_of(columns)`; batches without rows are left out.

    Arguments and errors are those of `read_segment`. Gaps between files, and files of another size, are findings too.
    """
    files = source.commitlog if isinstance(source, Store) else source
    where = where or MessageFilter()
    schema = schema_of(columns)
    asked = [*schema.names, *(name for name in where.columns() if name not in schema.names)]
    for error in sequence_errors(files):
        report(error, damage)
    decoding = replace(decoding, pool=decoding.pool or SlabPool.for_files(*(file.size for file in files)))
    for file in filter(where.may_hold, files):
        for batch in read_segment(file, columns=asked, decoding=decoding, damage=damage, regions=regions):
            kept = where.keep(batch)
            if kept.num_rows:
                yield kept.select(schema.names)
