"""`rocketmq_commitlog`: the messages of CommitLog files; and their byte ranges.

A file is split anywhere: a message carries its own physical offset, so a task finds the first record that proves itself
at or after its start, and owns every record that starts before its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from parsers.damage.errors import StoreFormatError
from parsers.store.places import name_below
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.spark.sources.commitlog_stream import CommitLogStream
from pipelines.spark.sources.slices import Piece, Slice
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.commitlog.batches.read import MessageFilter
    from parsers.commitlog.files.region import Region
    from parsers.commitlog.record.properties import PropertyRule

BODY_COLUMNS = ("body", "body_decompressed")
CRC_COLUMNS = ("crc_ok", "record_crc_ok")
IN_PROGRESS = "in progress: behind the watermark of this ingest"


class CommitLogReader(StoreReader):
    """Further options:

    topics: names separated by commas.
    min_physical_offset, max_physical_offset: only messages that start at or after the one and before the other.
    bodies: `true` fills body and body_decompressed, which are null otherwise.
    starts: JSON object, file -> byte to read it from.
    version: of the broker, which decides how properties are read.
    """

    within_files = True
    place = "physical_offset"

    def files_of(self, store: Store) -> list[StoreFile]:
        where = self._where()
        return [file for file in super().files_of(store) if where.may_hold(file)]

    def partitions(self) -> Sequence[InputPartition]:
        planned = [slice_ for slice_ in super().partitions() if isinstance(slice_, Slice)]
        begins: dict[Path, int] = {}
        narrowed = [Slice([kept for piece in s.pieces if (kept := self._narrowed(piece, begins))]) for s in planned]
        return [slice_ for slice_ in narrowed if slice_.pieces]

    def _where(self) -> MessageFilter:
        """The options as a filter. Raises ValueError for one that is no number."""
        from parsers.commitlog.batches.read import MessageFilter

        return MessageFilter(
            topics=self.options["topics"].split(",") if "topics" in self.options else None,
            min_physical_offset=self.number("min_physical_offset"),
            max_physical_offset=self.number("max_physical_offset"),
        )

    def _where_in(self, file: StoreFile) -> MessageFilter:
        """`_where` for one file, which is read from its byte in `starts`."""
        where, base = self._where(), file.base_offset or 0
        name = name_below(Path(self.options["store"]), file.path)
        start = json.loads(self.options.get("starts", "{}")).get(name, 0)
        low = max(base + start, where.min_physical_offset or 0)
        return where if low <= base else replace(where, min_physical_offset=low)

    def _rule(self) -> PropertyRule:
        from recovery.rules.versions import BrokerVersion

        version = BrokerVersion.parse(self.options["version"]) if "version" in self.options else None
        return "first_separator" if version is None or version.keeps_property_values_with_separators else "split"

    def _narrowed(self, piece: Piece, begins: dict[Path, int]) -> Piece | None:
        """The part of a piece that may hold what the options ask for; None when it holds nothing of it.

        `begins` keeps, for each file, where reading begins.
        """
        where, base = self._where_in(piece.file), piece.file.base_offset or 0
        if piece.file.path not in begins:
            begins[piece.file.path] = _begin(piece.file, (where.min_physical_offset or 0) - base)
        high = where.max_physical_offset
        start = max(piece.start, begins[piece.file.path])
        end = piece.end if high is None else min(piece.end, high - base)
        return replace(piece, start=start, end=end) if start < end else None

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.commitlog.batches.segment import Decoding, read_segment

        where = self._where_in(piece.file)
        with_bodies = self.options.get("bodies", "false") == "true"
        asked = [name for name in self.names if name not in ("broker", "file")]
        read = [name for name in asked if with_bodies or name not in BODY_COLUMNS]
        read += [name for name in where.columns() if name not in read]
        read += [] if self.number("until") is None or self.place in read else [self.place]
        read = read or ["physical_offset"]
        batches = read_segment(
            piece.file,
            columns=read,
            between=(piece.start, piece.end),
            decoding=Decoding(rule=self._rule()),
            damage=self.note_damage,
        )
        yield from map(where.keep, batches)


def _begin(file: StoreFile, file_pos: int) -> int:
    """Where to begin to read a file for all its messages at or after `file_pos`; 0 for a file that cannot be read."""
    from parsers.commitlog.files.slices import start_before

    if file_pos <= 0:
        return 0
    try:
        return start_before(file, file_pos)
    except StoreFormatError:
        return 0


class RegionsReader(StoreReader):
    """A file is one piece: what a byte range is depends on what is before it."""

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from pipelines.lake.tables.raw_messages import COMMITLOG_REGIONS

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
            for region in self._regions(piece)
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=COMMITLOG_REGIONS.select(list(rows[0]) if rows else []))

    def _regions(self, piece: Piece) -> list[Region]:
        """The regions of a file; where messages go on after the option `until`, these are told as not written yet."""
        from parsers.commitlog.batches.segment import read_segment, regions_of
        from parsers.commitlog.files.region import Region

        regions, until = regions_of(piece.file, damage=self.note_damage), self.number("until")
        end = None if until is None else max(0, until - (piece.file.base_offset or 0))
        if end is None or not any(region.kind == "messages" and region.end > end for region in regions):
            return regions
        self.note_cut(piece)
        told, size = list[Region](), regions[-1].end
        for _ in read_segment(piece.file, columns=CRC_COLUMNS, between=(0, end), regions=told.append) if end else ():
            pass
        reached = told[-1].end if told else 0
        return [*told, Region(piece.file.path, reached, size - reached, "unwritten", IN_PROGRESS)]


class CommitLogSource(StoreSource):
    format_name = "rocketmq_commitlog"
    table_name = "commitlog_messages"
    reader_class = CommitLogReader

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        options = {key.lower(): value for key, value in self.options.items()}
        return CommitLogStream(self.reader_class, options, schema.fieldNames(), self.table_name)


class RegionsSource(StoreSource):
    format_name = "rocketmq_regions"
    table_name = "commitlog_regions"
    reader_class = RegionsReader
