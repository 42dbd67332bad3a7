"""ConsumeQueueExt files (enableConsumeQueueExt): what a unit's tags_code points to when it is an ext address.

Source: store/ConsumeQueueExt.java#CqExtUnit, #put, #recover @5.3.3 (the same from 4.2.0 on).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.evidence.mapped import map_file
from parsers.layouts.layout import Buffer, Field, Layout
from parsers.store.store_file import StoreFile

UNIT_SIZE = Field("unit_size", "h", "bytes of the unit with its bitmap; 0 or less: the rest of the file is not used")
CQ_EXT_SIZE = Layout("ConsumeQueueExt unit size", "store/ConsumeQueueExt.java#read @5.3.3", UNIT_SIZE)
CQ_EXT_UNIT = Layout(
    "ConsumeQueueExt unit",
    "store/ConsumeQueueExt.java#write @5.3.3",
    UNIT_SIZE,
    Field("tags_code", "q", "the tags code that the ConsumeQueue unit gave up for the address"),
    Field("store_timestamp_ms", "q", "when the broker stored the message"),
    Field("bitmap_size", "h", "bytes of filter bitmap that follow"),
)

END_OF_FILE = CQ_EXT_SIZE.pack({"unit_size": -1})
"""Stands after the last unit of a file that is full."""
END_BLANK = 4
"""Bytes that are kept free at a file's end (END_BLANK_DATA_LENGTH)."""
MOST_UNIT_BYTES = (1 << 15) - 1
"""CqExtUnit#MAX_EXT_UNIT_SIZE: a larger unit is refused, and the queue keeps the tags code itself."""


@dataclass(frozen=True, slots=True)
class ExtUnit:
    """One unit; its address is `file base + file_pos`, as `layout.ext_offset` of the tags_code gives it."""

    file_pos: int
    tags_code: int
    store_timestamp_ms: int
    bitmap: bytes

    @property
    def size(self) -> int:
        return CQ_EXT_UNIT.size + len(self.bitmap)


def decode_ext_unit(buf: Buffer, at: int) -> ExtUnit | None:
    """The unit at byte `at`; None where the used part of the file ends.

    Raises CorruptRecord when the two sizes disagree or go beyond the file; TruncatedRecord when no whole unit is left.
    """
    if len(buf) - at < CQ_EXT_SIZE.size or CQ_EXT_SIZE.unpack(buf, at)["unit_size"] <= 0:
        return None
    row = CQ_EXT_UNIT.unpack(buf, at)
    size, bitmap_size, bitmap_at = row["unit_size"], row["bitmap_size"], at + CQ_EXT_UNIT.size
    if bitmap_size < 0 or bitmap_size != size - CQ_EXT_UNIT.size or size > len(buf) - at:
        raise CorruptRecord(
            "sizes of a ConsumeQueueExt unit that do not agree",
            at=at,
            field="unit_size",
            expected=f"20 + bitmap_size, at most {len(buf) - at}",
            actual=row,
            length=len(buf) - at,
        )
    bitmap = bytes(buf[bitmap_at : bitmap_at + bitmap_size])
    return ExtUnit(at, row["tags_code"], row["store_timestamp_ms"], bitmap)


def read_ext(file: StoreFile, *, damage: DamageSink | None = None) -> Iterator[ExtUnit]:
    """The units of one file, in order. A broken unit ends it: nothing says where the next one starts."""
    try:
        buf = map_file(file.path)
        at = 0
        while (unit := decode_ext_unit(buf, at)) is not None:
            yield unit
            at += unit.size
    except StoreFormatError as error:
        report(error.in_file(file.path), damage)
