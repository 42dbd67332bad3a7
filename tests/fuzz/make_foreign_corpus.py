"""Small segments of a tiered store, and rows of databases: what the fuzzer starts from."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.commitlog.record.message import encode_message
from parsers.consumequeue.layout import CQ_UNIT
from parsers.rocksdb.layout import (
    CHECKPOINT_TOPIC,
    DATABASE_UNIT,
    DISPATCHED,
    KEY_LIMIT,
    KEY_QUEUE,
    KEY_TOPIC,
    KEY_UNIT,
    MAX,
    MIN,
    NAME_SIZE,
    OFFSET_KEY_END,
    QUEUE_LIMIT,
    TABLE_KEY,
    TABLE_OFFSET,
    TABLE_VERSION,
)
from parsers.rocksdb.tables import JSON_VALUE, VERSION_KEY, VERSION_NAME
from parsers.values.java import LONG_MAX
from tests.fuzz.foreign_harness import row_bytes
from tests.fuzz.make_store_corpus import NOW_MS
from tests.support.files import packed
from tests.support.new_message import new_message

TOPIC = b"T"
UNITS, OFFSETS, VERSIONS = range(3)
SIZE = len(encode_message(new_message("T", b"0", physical_offset=0)))


def segment_log() -> bytes:
    """Three messages of one queue, at their places in its own log."""
    messages = (new_message("T", b"%d" % n, queue_offset=n, physical_offset=n * SIZE) for n in range(3))
    return b"".join(map(encode_message, messages))


def segment_units() -> bytes:
    """The units that lead to them."""
    return packed(CQ_UNIT, [(number * SIZE, SIZE, 0) for number in range(3)])


def segments() -> dict[str, bytes]:
    """Both segments of the queue, by kind."""
    return {"COMMIT_LOG": segment_log(), "CONSUME_QUEUE": segment_units()}


def queue_rows(numbers: Sequence[int] = range(3), place: int | None = None) -> bytes:
    """Units of one queue, its limits, and how far dispatch came; `place`: where all of them lead, else one after
    another."""

    def at(number: int) -> int:
        return number * SIZE if place is None else place

    head = packed(KEY_TOPIC, [(len(TOPIC), 1)]) + TOPIC
    of_queue = head + packed(KEY_QUEUE, [(1, 0, 1)])
    units = b"".join(
        row_bytes(
            UNITS,
            of_queue + packed(KEY_UNIT, [(n,)]),
            packed(DATABASE_UNIT, [(at(n), SIZE, 0, NOW_MS)]),
        )
        for n in numbers
    )
    limits = b"".join(
        row_bytes(OFFSETS, head + b"\x01" + which + packed(KEY_LIMIT, [(1, 0)]), packed(QUEUE_LIMIT, [(at(n), n)]))
        for which, n in ((MAX, numbers[-1]), (MIN, numbers[0]))
    )
    dispatched = packed(KEY_TOPIC, [(len(CHECKPOINT_TOPIC), 1)]) + CHECKPOINT_TOPIC + b"\x01" + MAX
    return (
        units + limits + row_bytes(OFFSETS, dispatched + packed(KEY_LIMIT, [(1, 0)]), packed(DISPATCHED, [(3 * SIZE,)]))
    )


def table_rows() -> bytes:
    """Rows of both forms: a topic, an offset, a version."""
    named = packed(NAME_SIZE, [(len(TOPIC),)]) + TOPIC
    group = named + b"\x01" + named
    return (
        row_bytes(UNITS, TOPIC, b'{"topicName":"T","readQueueNums":4}')
        + row_bytes(VERSIONS, VERSION_KEY, b'{"counter":1}')
        + row_bytes(UNITS, packed(TABLE_KEY, [(1, 3, 2)]) + named, JSON_VALUE + b'{"topicName":"T"}')
        + row_bytes(
            UNITS,
            packed(TABLE_KEY, [(1, 1, 2)]) + group + packed(OFFSET_KEY_END, [(1, 0)]),
            packed(TABLE_OFFSET, [(5,)]),
        )
        + row_bytes(UNITS, packed(TABLE_KEY, [(1, 1, 1)]) + VERSION_NAME, packed(TABLE_VERSION, [(0, NOW_MS, 1)]))
    )


def corpus() -> dict[str, dict[str, bytes]]:
    """By target and name."""
    return {
        "tiered_log": {"messages": segment_log()},
        "tiered_queue": {"units": segment_units()},
        "rocksdb_queues": {"rows": queue_rows(), "extreme": queue_rows((0, LONG_MAX), LONG_MAX)},
        "rocksdb_tables": {"rows": table_rows()},
    }
