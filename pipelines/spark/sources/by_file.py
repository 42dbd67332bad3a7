"""Data sources whose files a parser reads one by one.

`rocketmq_consumequeue`: units of ConsumeQueues, in files or a database; `rocketmq_ext`: their ext units;
`rocketmq_timer`: units of timerlog files; `rocketmq_compaction`: copies of compacted topics; `rocketmq_checkpoint`: the
checkpoint; `rocketmq_epochs`: the epochs of controller mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.spark.sources.slices import Piece
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa


class ConsumeQueueReader(StoreReader):
    """Further option: `topics`, names separated by commas."""

    place = "physical_offset"

    def files_of(self, store: Store) -> list[StoreFile]:
        topics = self._topics()
        return [file for file in super().files_of(store) if topics is None or file.topic in (None, *topics)]

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.queues.store_queues import read_units

        yield from read_units(piece.file, topics=self._topics(), damage=self.note_damage)

    def _topics(self) -> list[str] | None:
        return self.options["topics"].split(",") if "topics" in self.options else None


class ConsumeQueueSource(StoreSource):
    format_name = "rocketmq_consumequeue"
    table_name = "consumequeue_units"
    reader_class = ConsumeQueueReader


class ExtReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.consumequeue.ext_columns import read_ext_units

        yield from read_ext_units([piece.file], damage=self.note_damage)


class ExtSource(StoreSource):
    format_name = "rocketmq_ext"
    table_name = "ext_units"
    reader_class = ExtReader


class TimerReader(StoreReader):
    place = "physical_offset"

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.timer.log import read_timerlog

        yield from read_timerlog([piece.file], damage=self.note_damage)


class TimerSource(StoreSource):
    format_name = "rocketmq_timer"
    table_name = "timer_records"
    reader_class = TimerReader


class CompactionReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.compaction.copies import read_copies

        asked = [name for name in self.names if name not in ("broker", "file")] or ["position"]
        yield from read_copies([piece.file], columns=asked, damage=self.note_damage)


class CompactionSource(StoreSource):
    format_name = "rocketmq_compaction"
    table_name = "compacted_messages"
    reader_class = CompactionReader


class CheckpointReader(StoreReader):
    """Further option: `version` of the broker, which tells a field it does not have from one that is 0."""

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.checkpoints.checkpoint import checkpoint_to_batch, read_checkpoint
        from recovery.rules.versions import BrokerVersion

        version = BrokerVersion.parse(self.options["version"]) if "version" in self.options else None
        checkpoint = read_checkpoint(piece.file, version=version, damage=self.note_damage)
        if checkpoint is not None:
            yield checkpoint_to_batch(piece.file, checkpoint)


class CheckpointSource(StoreSource):
    format_name = "rocketmq_checkpoint"
    table_name = "checkpoints"
    reader_class = CheckpointReader


class EpochReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.checkpoints.epochs import epochs_to_batch, read_epochs

        found = read_epochs([piece.file], damage=self.note_damage)
        if found is not None:
            yield epochs_to_batch(piece.file.name, found[1])


class EpochSource(StoreSource):
    format_name = "rocketmq_epochs"
    table_name = "epochs"
    reader_class = EpochReader
