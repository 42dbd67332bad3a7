"""`rocketmq_commitlog`: the messages of CommitLog files; and their byte ranges.

A file is split anywhere: a message carries its own physical offset, so a task finds the first record that proves itself
at or after its start, and owns every record that starts before its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from parsers.store import Store, StoreFile
from pipelines.spark.slices import Piece, Slice
from pipelines.spark.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.commitlog.properties import PropertyRule

BODY_COLUMNS = ("body", "body_decompressed")


class CommitLogReader(StoreReader):
    """Further options:

    topics: names separated by commas.
    min_physical_offset, max_physical_offset: only messages that start at or after the one and before the other.
    bodies: `true` fills body and body_decompressed, which are null otherwise.
    starts: JSON object, file -> byte to read it from.
    version: of the broker, which decides how properties are read.
    """

    within_files = True

    def files_of(self, store: Store) -> list[StoreFile]:
        low, high = self.number("min_physical_offset"), self.number("max_physical_offset")

        def overlaps(file: StoreFile) -> bool:
            base = file.base_offset or 0
            return (low is None or base + file.size > low) and (high is None or base < high)

        return [file for file in store.commitlog if overlaps(file)]

    def partitions(self) -> Sequence[InputPartition]:
        planned = [slice_ for slice_ in super().partitions() if isinstance(slice_, Slice)]
        narrowed = [Slice([kept for piece in s.pieces if (kept := self._narrowed(piece))]) for s in planned]
        return [slice_ for slice_ in narrowed if slice_.pieces]

    def _rule(self) -> PropertyRule:
        from recovery.versions import BrokerVersion

        version = BrokerVersion.parse(self.options["version"]) if "version" in self.options else None
        return "first_separator" if version is None or version.keeps_property_values_with_separators else "split"

    def _narrowed(self, piece: Piece) -> Piece | None:
        """The part of a piece that the options ask for; None when they ask for nothing of it."""
        base = piece.file.base_offset or 0
        starts = json.loads(self.options.get("starts", "{}"))
        low, high = self.number("min_physical_offset"), self.number("max_physical_offset")
        start = max(piece.start, starts.get(f"commitlog/{piece.file.path.name}", 0), 0 if low is None else low - base)
        end = piece.end if high is None else min(piece.end, high - base)
        return replace(piece, start=start, end=end) if start < end else None

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        from parsers.commitlog.segment import read_segment

        with_bodies = self.options.get("bodies", "false") == "true"
        topics = self.options["topics"].split(",") if "topics" in self.options else None
        asked = [name for name in self.names if name not in ("broker", "file")]
        wanted = [name for name in asked if with_bodies or name not in BODY_COLUMNS]
        read = wanted if topics is None or "topic" in wanted else [*wanted, "topic"]
        read = read or ["physical_offset"]
        for batch in read_segment(piece.file, columns=read, start=piece.start, end=piece.end, rule=self._rule()):
            kept = batch if topics is None else batch.filter(pc.is_in(batch.column("topic"), pa.array(topics)))
            yield kept


class RegionsReader(StoreReader):
    """A file is one piece: what a byte range is depends on what is before it."""

    def files_of(self, store: Store) -> list[StoreFile]:
        return store.commitlog

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from parsers.commitlog.segment import regions_of
        from pipelines.tables import COMMITLOG_REGIONS

        base = piece.file.base_offset or 0
        rows = [
            {
                "physical_offset": base + region.file_pos,
                "file_pos": region.file_pos,
                "length": region.length,
                "kind": region.kind,
                "records": region.records,
                "file_size": piece.file.size,
                "reason": region.reason,
            }
            for region in regions_of(piece.file, verify_crc=False)
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=COMMITLOG_REGIONS.select(list(rows[0]) if rows else []))


class CommitLogSource(StoreSource):
    table_name = "commitlog_messages"
    reader_class = CommitLogReader

    @classmethod
    def name(cls) -> str:
        return "rocketmq_commitlog"


class RegionsSource(StoreSource):
    table_name = "commitlog_regions"
    reader_class = RegionsReader

    @classmethod
    def name(cls) -> str:
        return "rocketmq_regions"
