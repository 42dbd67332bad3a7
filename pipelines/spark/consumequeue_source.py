"""`rocketmq_consumequeue`: the units of ConsumeQueue files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from parsers.store import Store, StoreFile
from pipelines.spark.slices import Piece
from pipelines.spark.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa


class ConsumeQueueReader(StoreReader):
    """Further option: `topics`, names separated by commas."""

    def files_of(self, store: Store) -> list[StoreFile]:
        topics = set(self.options["topics"].split(",")) if "topics" in self.options else None
        queues = sorted([*store.queues.items(), *store.batch_queues.items()])
        return [file for (topic, _), files in queues if topics is None or topic in topics for file in files]

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.batchqueue import read_batch_queue
        from parsers.consumequeue.read import read_queue

        read = read_batch_queue if piece.file.kind == "batchconsumequeue" else read_queue
        yield from read([piece.file], on_damage="collect")


class ConsumeQueueSource(StoreSource):
    table_name = "consumequeue_units"
    reader_class = ConsumeQueueReader

    @classmethod
    def name(cls) -> str:
        return "rocketmq_consumequeue"
