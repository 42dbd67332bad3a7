"""`rocketmq_consumequeue`: the units of ConsumeQueues, in files or in a database."""

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
    table_name = "consumequeue_units"
    reader_class = ConsumeQueueReader

    @classmethod
    def name(cls) -> str:
        return "rocketmq_consumequeue"
