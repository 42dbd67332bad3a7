"""`rocketmq_consumequeue`: the units of ConsumeQueues, in files or a database; and `rocketmq_ext`: their ext units."""

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

        yield from read_units(piece.file, topics=self._topics(), on_damage="collect", damage=self.note_damage)

    def _topics(self) -> list[str] | None:
        return self.options["topics"].split(",") if "topics" in self.options else None


class ConsumeQueueSource(StoreSource):
    format_name = "rocketmq_consumequeue"
    table_name = "consumequeue_units"
    reader_class = ConsumeQueueReader


class ExtReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.consumequeue.ext_columns import read_ext_units

        yield from read_ext_units([piece.file], on_damage="collect", damage=self.note_damage)


class ExtSource(StoreSource):
    format_name = "rocketmq_ext"
    table_name = "ext_units"
    reader_class = ExtReader
