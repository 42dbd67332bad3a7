"""Scan a log's records for what dispatch makes of them: columns of records, queue units and index hashes.

The compiled pass does all but the rare rows; those are asked of `recovery.rules.dispatch`, so both give equal columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from parsers.commitlog.record.message import decode_message
from parsers.damage.errors import StoreFormatError
from parsers.kernels.arrays import Bytes, Ints, Longs
from parsers.values.java import index_key_hash
from recovery.rules.dispatch import (
    DispatchRequest,
    DispatchRules,
    InvalidForDispatch,
    QueueUnit,
    index_keys,
    queue_units,
)
from recovery.scan.kernel import (
    DONE,
    FULL,
    INVALID,
    NEW_TOPIC,
    PLAIN,
    RecordColumns,
    ScanBatch,
    ScanOptions,
    UnitColumns,
    scan_records,
)
from recovery.scan.property_spans import SPANS
from recovery.scan.topic_table import TopicTable

Scalar = TypeVar("Scalar", bound=np.generic)
MOST_PER_RECORD = 1 << 14
"""Units or keys one record can have, room for which is always kept: properties are at most 32767 bytes."""


class LogScanner:
    """Scans runs of records under one set of rules; `topics` grows as names are met."""

    def __init__(self, rules: DispatchRules) -> None:
        self.rules = rules
        self.topics = TopicTable(rules)
        self._options = ScanOptions(
            delay_ms=np.array(rules.delay_levels.millis, np.int64),
            index_enabled=rules.index_enabled,
            index_tags=rules.version.indexes_tags,
            index_commits=rules.version.indexes_commits,
            index_unique_ids=rules.version.indexes_unique_ids,
            split_values=not rules.version.keeps_property_values_with_separators,
            span=np.empty(SPANS, np.int64),
        )

    def scan(self, data: Bytes, positions: Longs) -> ScanBatch:
        """The columns of the well-formed records that start at these file positions of `data`, in log order."""
        rows = len(positions)
        records = record_columns(positions)
        units, keys = unit_columns(rows + MOST_PER_RECORD), np.empty(4 * rows + MOST_PER_RECORD, np.int32)
        row, unit_rows, key_rows = 0, 0, 0
        while True:
            out = ScanBatch(records, units, keys)
            status, row, unit_rows, key_rows, start, end = scan_records(
                data, self.topics.arrays, self._options, out, row, unit_rows, key_rows
            )
            if status == DONE:
                break
            if status == NEW_TOPIC:
                self._meet([bytes(data[start:end])])
            elif status == FULL:
                units = UnitColumns._make(_grown(column, unit_rows) for column in units)
                keys = _grown(keys, key_rows)
            else:
                odd_units, odd_keys = self._ask(data, row, records)
                units = UnitColumns._make(_grown(column, unit_rows, len(odd_units)) for column in units)
                keys = _grown(keys, key_rows, len(odd_keys))
                records.first_key[row] = key_rows
                _put_units(units, unit_rows, row, odd_units, self.topics)
                keys[key_rows : key_rows + len(odd_keys)] = odd_keys
                row, unit_rows, key_rows = row + 1, unit_rows + len(odd_units), key_rows + len(odd_keys)
        records.first_key[rows] = key_rows
        return ScanBatch(records, UnitColumns._make(column[:unit_rows] for column in units), keys[:key_rows])

    def _meet(self, stored: Iterable[bytes]) -> None:
        for name in stored:
            self.topics.code(name)

    def _ask(self, data: Bytes, row: int, records: RecordColumns) -> tuple[list[QueueUnit], list[int]]:
        """Units and key hashes of one row by the scalar rules; a record that is invalid for them has none."""
        try:
            message = decode_message(memoryview(data), int(records.file_pos[row]))  # type: ignore[arg-type]
            request = DispatchRequest.of(message, self.rules)
            units, keys = queue_units(request, self.rules), index_keys(request, self.rules)
        except (InvalidForDispatch, StoreFormatError):
            records.state[row], records.tags_code[row] = INVALID, 0
            return [], []
        self._meet([message.topic_stored, *(unit.topic.encode("utf-8", "replace") for unit in units[1:])])
        records.state[row] = PLAIN
        records.tags_code[row] = units[0].tags_code if units else 0
        return units, [index_key_hash(key) for key in keys]


def record_columns(positions: Longs) -> RecordColumns:
    rows = len(positions)

    def longs() -> Longs:
        return np.empty(rows, np.int64)

    def ints() -> Ints:
        return np.empty(rows, np.int32)

    return RecordColumns(
        file_pos=positions,
        physical_offset=longs(),
        total_size=ints(),
        sys_flag=ints(),
        store_timestamp_ms=longs(),
        topic=ints(),
        queue_id=ints(),
        queue_offset=longs(),
        tags_code=longs(),
        state=np.empty(rows, np.int8),
        first_key=np.empty(rows + 1, np.int64),
    )


def unit_columns(rows: int) -> UnitColumns:
    return UnitColumns(
        record=np.empty(rows, np.int64),
        topic=np.empty(rows, np.int32),
        queue_id=np.empty(rows, np.int32),
        queue_offset=np.empty(rows, np.int64),
        message_count=np.empty(rows, np.int16),
    )


def _grown(column: npt.NDArray[Scalar], used: int, wanted: int = MOST_PER_RECORD) -> npt.NDArray[Scalar]:
    """The column with room for `wanted` more rows after `used`; the same one when it has that."""
    if used + wanted <= len(column):
        return column
    larger = np.empty(2 * len(column) + wanted, column.dtype)
    larger[:used] = column[:used]
    return larger


def _put_units(units: UnitColumns, at: int, row: int, found: list[QueueUnit], topics: TopicTable) -> None:
    for place, unit in enumerate(found, start=at):
        units.record[place], units.queue_id[place] = row, unit.queue_id
        units.topic[place] = topics.code(unit.topic.encode("utf-8", "replace"))
        units.queue_offset[place] = unit.queue_offset
        units.message_count[place] = unit.message_count if unit.in_batch_queue else 0
