"""`rocketmq_compaction`: the copies of compacted topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.spark.sources.slices import Piece
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa


class CompactionReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.compaction.copies import read_copies

        asked = [name for name in self.names if name not in ("broker", "file")] or ["position"]
        yield from read_copies([piece.file], columns=asked, on_damage="collect", damage=self.note_damage)


class CompactionSource(StoreSource):
    format_name = "rocketmq_compaction"
    table_name = "compacted_messages"
    reader_class = CompactionReader
