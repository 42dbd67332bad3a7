"""`rocketmq_files`: one row per file of a store, understood or not, with its hash."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from parsers.damage.errors import Damage, DamageSink, StoreFormatError
from parsers.store.store_file import StoreFile
from pipelines.installed.version import installed_version
from pipelines.spark.sources.slices import Piece
from pipelines.spark.sources.source import StoreReader, StoreSource, table_of

if TYPE_CHECKING:
    import pyarrow as pa


class FilesReader(StoreReader):
    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = table_of(self.table_name).bare_schema
        row = {**dict.fromkeys(schema.names), **file_row(piece.file, self.note_damage)}
        yield pa.RecordBatch.from_pylist([row], schema=schema)


class FilesSource(StoreSource):
    format_name = "rocketmq_files"
    table_name = "store_files"
    reader_class = FilesReader


def file_row(file: StoreFile, damage: DamageSink) -> dict[str, object]:
    """The columns of `store_files` for one file, without its origin; `damage` gets one that cannot be read."""
    from pipelines.spark.sources.fingerprint import fingerprint

    used, sha256, why = None, None, file.why
    try:
        used, sha256 = fingerprint(file)
    except StoreFormatError as refused:
        why = str(refused)
        damage(Damage.of(refused.in_file(file.path)))
    return {
        "kind": file.kind,
        "base_offset": file.base_offset,
        "topic": file.topic,
        "queue_id": file.queue_id,
        "size": file.size,
        "modified_at": datetime.fromtimestamp(file.mtime_ns / 1e9, UTC),
        "used_bytes": used,
        "sha256": sha256,
        "why": why,
        "parser_version": installed_version(),
    }
