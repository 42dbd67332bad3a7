"""Consumer records of POP in RocksDB (popConsumerKVServiceEnable, since 5.3.2): what is popped and not acknowledged.

Such a broker writes no revive log. It has a row for each message in `kvStore`, column family `popState`; the key
begins with the instant until which the message is invisible. An acknowledgement deletes the row, as does the delivery
to the retry topic. With enablePopBufferMerge rows stay in memory for a while; those acknowledged by then are never
written.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.messages.declared import Named
from parsers.messages.json_body import JsonKind
from parsers.messages.json_columns import JsonColumns
from parsers.rocksdb.database import Database
from parsers.store.store_file import StoreFile
from parsers.values.java import decode_utf8

FAMILY = "popState"
POP_RECORD = JsonKind(
    "pop_record",
    "one message that was popped and not acknowledged",
    "PopConsumerRecord, PopConsumerRocksdbStore @5.3.3 - 5.5.0",
    Named("topic", "topicId", "text", "popped from this topic"),
    Named("queue_id", "queueId", "int32", "and this queue"),
    Named("group", "groupId", "text", "by this consumer group"),
    Named("queue_offset", "offset", "int64", "its number there"),
    Named("pop_time_ms", "popTime", "time_ms", "when it was popped"),
    Named("invisible_ms", "invisibleTime", "int64", "milliseconds for which no other pop gets it"),
    Named("retry_flag", "retryFlag", "int32", "0 of a topic, 1 and 2 of a retry topic with `_` and `+`"),
    Named("attempt_times", "attemptTimes", "int32", "how often it could not be put into the retry topic"),
    Named("attempt_id", "attemptId", "text", "the attempt that its client named"),
    Named("suspend", "suspend", "flag", "delivering it again counts as no retry (since 5.5.0)"),
)
RECORDS = JsonColumns(POP_RECORD)
NEEDED = ("group", "topic", "queue_id", "queue_offset", "pop_time_ms", "invisible_ms")


def read_pop_records(file: StoreFile, *, damage: DamageSink | None = None) -> Iterator[pa.Table]:
    """The rows of a database of consumer records, in the order in which they become visible: `RECORDS.schema`.

    Rows that are none are damage, as is a database that cannot be read.
    """
    try:
        with Database(file.path) as database:
            for flaw in database.flaws:
                report(flaw, damage)
            if FAMILY not in database.families:
                return
            for pairs in database.pairs(FAMILY):
                rows = RECORDS.read(pa.array([decode_utf8(value) for _, value in pairs], pa.string()))
                yield _whole(rows, file, damage)
    except StoreFormatError as error:
        report(error, damage)


def _whole(rows: pa.Table, file: StoreFile, damage: DamageSink | None) -> pa.Table:
    """The rows that say all that a broker writes, until an instant that is a long; each other one is reported."""
    is_whole = rows["readable"]
    for name in NEEDED:
        is_whole = pc.and_(is_whole, rows[name].is_valid())
    is_whole = pc.and_(is_whole, pa.array(_adds_up(rows["pop_time_ms"], rows["invisible_ms"])))
    for _ in range(len(rows) - (pc.sum(is_whole).as_py() or 0)):
        report(CorruptRecord("no consumer record", field="value", path=file.path), damage)
    return rows.filter(is_whole)


def _adds_up(*columns: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Whether the sum of two columns of longs is one, too."""
    first, second = (column.fill_null(0).to_numpy() for column in columns)
    wraps: npt.NDArray[np.bool_] = ((first ^ (first + second)) & (second ^ (first + second))) < 0
    return ~wraps
