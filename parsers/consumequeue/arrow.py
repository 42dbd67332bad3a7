"""ConsumeQueue units as Arrow columns."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.tags import SCHEDULE_TOPIC
from parsers.consumequeue.kernel import Bytes, decode_units
from parsers.consumequeue.layout import CQ_UNIT, TAGS_CODE_KINDS, UNIT_KINDS

NAME = pa.dictionary(pa.int8(), pa.string())
UNIT_SCHEMA = pa.schema(
    [
        ("topic", NAME),
        ("queue_id", pa.int32()),
        ("queue_offset", pa.int64()),
        ("physical_offset", pa.int64()),
        ("msg_size", pa.int32()),
        ("tags_code", pa.int64()),
        ("kind", NAME),
        ("tags_code_kind", NAME),
    ]
)


def units_to_batch(data: Bytes, *, topic: str, queue_id: int, first_queue_offset: int) -> pa.RecordBatch:
    """Whole units to at most as many rows of UNIT_SCHEMA, in file order.

    Shape: 20 * n bytes -> the units that ConsumeQueue#recover accepts (physical_offset >= 0, msg_size > 0), pre-blanks
        among them (`kind`); any other unit is no row, and its number is skipped in `queue_offset`.
    Units: queue_offset counts messages; physical_offset and msg_size count bytes; tags_code see `tags_code_kind`.
    Source: store/ConsumeQueue.java#recover, #putMessagePositionInfo, #fillPreBlank @5.3.3.
    """
    count = len(data) // CQ_UNIT.size
    queue_offset, physical_offset, tags_code = (np.empty(count, np.int64) for _ in range(3))
    msg_size, kind, tags_kind = np.empty(count, np.int32), np.empty(count, np.int8), np.empty(count, np.int8)
    columns = (queue_offset, physical_offset, msg_size, tags_code)
    rows = decode_units(data, first_queue_offset, topic == SCHEDULE_TOPIC, *columns, kind, tags_kind)
    return pa.RecordBatch.from_arrays(
        [
            named(constant(0, "int8", rows), (topic,)),
            pa.array(constant(queue_id, "int32", rows)),
            *(pa.array(column[:rows]) for column in columns),
            named(kind[:rows], UNIT_KINDS),
            named(tags_kind[:rows], TAGS_CODE_KINDS),
        ],
        schema=UNIT_SCHEMA,
    )


def named(codes: npt.NDArray[np.int8], names: tuple[str, ...]) -> pa.DictionaryArray:
    """Codes that are positions in `names`; the caller made them, so they are not checked again."""
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(names, pa.string()), safe=False)


def constant(value: int, dtype: str, rows: int) -> npt.NDArray[np.signedinteger]:
    """`rows` times the same value: a slice of one shared read-only array, so a constant column costs nothing."""
    return _filled(value, dtype, max(1, rows - 1).bit_length())[:rows]


@lru_cache(maxsize=64)
def _filled(value: int, dtype: str, bits: int) -> npt.NDArray[np.signedinteger]:
    column: npt.NDArray[np.signedinteger] = np.full(1 << bits, value, dtype)
    column.flags.writeable = False
    return column
