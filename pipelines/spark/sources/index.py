"""`rocketmq_index`: the entries of index files; and one row per index file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql.datasource import InputPartition

from parsers.damage.errors import unheard
from pipelines.spark.sources.slices import Piece, Slice
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.index.geometry import Geometry


class IndexReader(StoreReader):
    """How many slots a file has is not in the file, so planning asks all index files of the store together."""

    place: ClassVar[str | None] = "physical_offset"

    def partitions(self) -> Sequence[InputPartition]:
        from parsers.index.open import open_index

        index = self.store().index
        known = {o.file.path: o.geometry for o in open_index(index, damage=unheard) if o.geometry is not None}
        planned = [slice_ for slice_ in super().partitions() if isinstance(slice_, Slice)]
        return [Slice([replace(p, known=tuple(known.get(p.file.path, ()))) for p in s.pieces]) for s in planned]

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.index.read import read_index

        yield from read_index([piece.file], geometry=geometry_of(piece), damage=self.note_damage)


class IndexFilesReader(IndexReader):
    place = None

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.index.read import index_files

        yield index_files([piece.file], geometry=geometry_of(piece), damage=self.note_damage)


def geometry_of(piece: Piece) -> Geometry | None:
    """What planning found out, None when it could not."""
    from parsers.index.geometry import Geometry

    return Geometry(*piece.known) if piece.known else None


class IndexSource(StoreSource):
    format_name = "rocketmq_index"
    table_name = "index_entries"
    reader_class = IndexReader


class IndexFilesSource(StoreSource):
    format_name = "rocketmq_index_files"
    table_name = "index_files"
    reader_class = IndexFilesReader
