"""`rocketmq_timer`: the units of timerlog files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipelines.spark.sources.slices import Piece
from pipelines.spark.sources.source import StoreReader, StoreSource

if TYPE_CHECKING:
    import pyarrow as pa


class TimerReader(StoreReader):
    place = "physical_offset"

    def read_piece(self, piece: Piece) -> Iterator[pa.RecordBatch]:
        from parsers.timer.log import read_timerlog

        yield from read_timerlog([piece.file], on_damage="collect", damage=self.note_damage)


class TimerSource(StoreSource):
    format_name = "rocketmq_timer"
    table_name = "timer_records"
    reader_class = TimerReader
