"""Walk the plainly valid records of a file at once: the compiled twin of `recovery.broker.message_check`.

It accepts only what the readable form accepts too; where it stops, the readable form decides.
"""

from __future__ import annotations

from typing import NamedTuple

from parsers.commitlog.compiled.kernel import body_crc_ok
from parsers.commitlog.compiled.shape import AT_BODY_CRC, AT_MAGIC, shape_of
from parsers.commitlog.record.layout import MAGIC_V2
from parsers.kernels.arrays import Bytes, Longs
from parsers.kernels.bigendian import load_int
from parsers.kernels.kernel import kernel
from recovery.scan.property_spans import INNER_BASE, INNER_NUM, find_spans


class Accepts(NamedTuple):
    """What a broker takes a record for: it may be of the second version, its CRC may be any, and a separator within a
    property's value ends the value."""

    v2: bool
    any_crc: bool
    split_values: bool


@kernel
def walk_valid(data: Bytes, at: int, accepts: Accepts, before: int, span: Longs, positions: Longs) -> tuple[int, int]:
    """How many records from byte `at` on are valid one after another, filling `positions`, and the byte after them.

    Stops early at a record that only the readable form can judge: inner-batch numbers, odd properties, a header that is
    no entry's. `span` is room for the pass; `before`: bytes of the header before each record, 0 without one.
    """
    count = 0
    while count < len(positions):
        record = at + before
        size, body_at, body_size, _, _, properties_at, properties_size = shape_of(data, record)
        if size == 0 or (before > 0 and (load_int(data, at) < 0 or load_int(data, at + AT_MAGIC) < 0)):
            break
        if load_int(data, record + AT_MAGIC) == MAGIC_V2 and not accepts.v2:
            break
        body_crc = load_int(data, record + AT_BODY_CRC)
        if not accepts.any_crc and body_size > 0 and not body_crc_ok(data, body_at, body_size, body_crc):
            break
        if not find_spans(data, properties_at, properties_at + properties_size, accepts.split_values, span):
            break
        if span[2 * INNER_NUM] >= 0 and span[2 * INNER_BASE] >= 0:
            break
        positions[count] = record
        count += 1
        at = record + size
    return count, at
