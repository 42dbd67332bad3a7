"""ConsumeQueue units as Arrow columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from parsers.consumequeue.kernel import Bytes, UnitColumns, decode_units
from parsers.consumequeue.layout import CQ_UNIT, TAGS_CODE_KINDS, UNIT_KINDS
from parsers.consumequeue.schema import UNIT_SCHEMA
from parsers.layouts.constants import constant, named_constant, names_of
from parsers.values.topics import SCHEDULE_TOPIC


def units_to_batch(data: Bytes, *, topic: str, queue_id: int, first_queue_offset: int) -> pa.RecordBatch:
    """Whole units to at most as many rows of UNIT_SCHEMA, in file order.

    Shape: 20 * n bytes -> the units that ConsumeQueue#recover accepts (physical_offset >= 0, msg_size > 0), pre-blanks
        among them (`kind`); any other unit is no row, and its number is skipped in `queue_offset`.
    Units: queue_offset counts messages; physical_offset and msg_size count bytes; tags_code see `tags_code_kind`.
    Source: store/ConsumeQueue.java#recover, #putMessagePositionInfo, #fillPreBlank @5.3.3.
    """
    count = len(data) // CQ_UNIT.size
    types = (np.int64, np.int64, np.int32, np.int64, np.int8, np.int8)
    units = UnitColumns._make(np.empty(count, type_) for type_ in types)
    rows = decode_units(data, first_queue_offset, topic == SCHEDULE_TOPIC, units)
    return pa.RecordBatch.from_arrays(
        [
            named_constant(topic, rows),
            constant(queue_id, rows),
            *(pa.array(column[:rows]) for column in units[:4]),
            pa.DictionaryArray.from_arrays(pa.array(units.kind[:rows]), names_of(*UNIT_KINDS), safe=False),
            pa.DictionaryArray.from_arrays(pa.array(units.tags_kind[:rows]), names_of(*TAGS_CODE_KINDS), safe=False),
        ],
        schema=UNIT_SCHEMA,
    )
