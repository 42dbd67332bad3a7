"""The units of a queue's ConsumeQueueExt files as columns, found by a compiled walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from parsers.consumequeue.ext import CQ_EXT_UNIT, decode_ext_unit
from parsers.consumequeue.schema import EXT_UNIT_SCHEMA
from parsers.damage.errors import DamageSink, StoreFormatError, report
from parsers.evidence.mapped import map_file
from parsers.kernels.arrays import Bytes, LongRows, Longs
from parsers.kernels.bigendian import load_long, load_short
from parsers.kernels.kernel import kernel
from parsers.store.store_file import StoreFile
from parsers.values.java import LONG_MIN

UNIT_SIZE = CQ_EXT_UNIT.size
TAGS_AT, TIME_AT = CQ_EXT_UNIT.offsets["tags_code"], CQ_EXT_UNIT.offsets["store_timestamp_ms"]
BITMAP_SIZE_AT = CQ_EXT_UNIT.offsets["bitmap_size"]


class ExtColumns(NamedTuple):
    """One row for each unit, in file order. `ext_offset`: the byte in the queue's ext files where it starts, rising;
    an ext address less -2**63."""

    ext_offset: Longs
    unit_size: Longs
    tags_code: Longs
    store_timestamp_ms: Longs


@kernel
def walk_ext(data: Bytes, found: LongRows) -> int:
    """Fill position, size, tags code and store time of the units, as far as there is room; returns how many there are.

    Ends where sizes do not fit.
    """
    at, count = 0, 0
    while at + UNIT_SIZE <= len(data):
        size = load_short(data, at)
        if size < UNIT_SIZE or at + size > len(data) or load_short(data, at + BITMAP_SIZE_AT) != size - UNIT_SIZE:
            break
        if count < len(found):
            found[count, 0], found[count, 1] = at, size
            found[count, 2], found[count, 3] = load_long(data, at + TAGS_AT), load_long(data, at + TIME_AT)
        at, count = at + size, count + 1
    return count


def read_ext_units(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> Iterator[pa.RecordBatch]:
    """The units of one queue's files as batches of EXT_UNIT_SCHEMA, one for each file; `ext_address` is what the
    tags_code of a ConsumeQueue unit is that leads here.

    Raises, or reports, what `read_ext` does: a broken unit ends its file.
    """
    for file in files:
        try:
            buf = map_file(file.path)
        except StoreFormatError as error:
            report(error.in_file(file.path), damage)
            continue
        found = _walked(np.frombuffer(buf, np.uint8))
        yield _batch(file, buf, found)
        try:
            decode_ext_unit(buf, int(found[-1, :2].sum()) if len(found) else 0)
        except StoreFormatError as error:
            report(error.in_file(file.path), damage)


def _batch(file: StoreFile, buf: memoryview, found: Longs) -> pa.RecordBatch:
    bit_maps = [bytes(buf[at + UNIT_SIZE : at + size]) for at, size in found[:, :2].tolist()]
    columns = [
        pa.repeat(pa.scalar(file.topic, pa.string()), len(found)),
        pa.repeat(pa.scalar(file.queue_id, pa.int32()), len(found)),
        pa.array(found[:, 0]),
        pa.array(found[:, 0] + ((file.base_offset or 0) + LONG_MIN)),
        pa.array(found[:, 2]),
        pa.array(found[:, 3]),
        pa.array(bit_maps, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=EXT_UNIT_SCHEMA)


def ext_columns(files: Sequence[StoreFile]) -> ExtColumns:
    """The units of the files, given in offset order; those of a file that the system refuses are none."""
    pieces = [np.empty((0, 4), np.int64), *_pieces(files)]
    whole = np.concatenate(pieces)
    return ExtColumns(*(np.ascontiguousarray(column) for column in whole[np.argsort(whole[:, 0], kind="stable")].T))


def _pieces(files: Sequence[StoreFile]) -> Iterator[Longs]:
    for file in files:
        try:
            data = np.frombuffer(map_file(file.path), np.uint8)
        except StoreFormatError:
            continue
        found = _walked(data)
        found[:, 0] += file.base_offset or 0
        yield found


def _walked(data: Bytes) -> Longs:
    """A row for each unit of one file: its position, size, tags code and store time."""
    found = np.empty((walk_ext(data, np.empty((0, 4), np.int64)), 4), np.int64)
    walk_ext(data, found)
    return found
