"""`rocketmq_ext`: the units of ConsumeQueueExt files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.spark.sources.slices import Piece
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa


class ExtReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.consumequeue.ext_columns import read_ext_units

        yield from read_ext_units([piece.file], on_damage="collect", damage=self.note_damage)


class ExtSource(StoreSource):
    table_name = "ext_units"
    reader_class = ExtReader

    @classmethod
    def name(cls) -> str:
        return "rocketmq_ext"
