"""Checkpoint, batch queue and timer files by hand: versions, unwritten rests, damage."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from parsers.checkpoints.checkpoint import (
    CHECKPOINT,
    FILE_SIZE,
    Checkpoint,
    Version,
    checkpoint_to_batch,
    decode_checkpoint,
    read_checkpoint,
)
from parsers.commitlog.record.layout import MAGIC_BLANK
from parsers.consumequeue.batch import BATCH_UNIT, BATCH_UNIT_SCHEMA, read_batch_queue, summarize_batch_queue
from parsers.damage.errors import TruncatedRecord, UnreadableFile
from parsers.queues.queue import BatchQueue
from parsers.timer.check import TIMER_CHECK, read_timercheck
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT, read_timerlog
from parsers.timer.schema import TIMER_RECORD_SCHEMA
from parsers.timer.wheel import TIMER_SLOT, read_wheel
from parsers.values.java import INT_MIN, LONG_MAX
from recovery.query.watermark import summary_before
from tests.support.files import Seen, packed, put


def checkpoint_bytes(*fields: int) -> bytes:
    return packed(CHECKPOINT, [fields]).ljust(FILE_SIZE, b"\0")


@pytest.mark.parametrize(
    ("version", "stored", "expected"),
    [
        ((4, 9, 7), (0, 0, 0), (None, None, None)),
        ((5, 0, 0), (0, 0, 0), (0, None, None)),
        ((5, 3, 3), (0, 7, 0), (0, 7, None)),
        ((5, 5, 0), (1, 2, 3), (1, 2, 3)),
        (None, (0, 7, 0), (None, 7, None)),
    ],
)
def test_fields_that_a_version_does_not_have_are_none(
    version: Version | None, stored: tuple[int, ...], expected: tuple[int | None, ...]
) -> None:
    found = decode_checkpoint(checkpoint_bytes(9000, 8000, 4000, *stored), version=version)
    assert (found.master_flushed_offset, found.confirm_physical_offset, found.logics_physical_offset) == expected
    assert (found.min_timestamp, found.min_timestamp_index) == (5000, 4000)


def test_derived_times_are_never_negative() -> None:
    assert Checkpoint(100, 9000, 50, None, None, None).min_timestamp == 0


def test_a_checkpoint_as_a_row(tmp_path: Path) -> None:
    file = put(tmp_path, "checkpoint", checkpoint_bytes(1_795_274_053_454, LONG_MAX, 0, 0, 0, 0))
    found = read_checkpoint(file)
    assert found is not None
    (row,) = checkpoint_to_batch(file, found).to_pylist()
    assert f"{row['physic_msg_timestamp']:%Y-%m-%dT%H:%M:%S.%f}" == "2026-11-21T15:14:13.454000"
    assert row["logics_msg_timestamp"] is None, "no calendar holds it"
    assert row["master_flushed_offset"] is None, "0, and the version is not known"


@pytest.mark.parametrize(
    ("content", "kind", "is_read"),
    [
        (b"", "TruncatedRecord", False),
        (bytes(47), "TruncatedRecord", False),
        (bytes(48), "CorruptRecord", True),
        (bytes(5000), "CorruptRecord", True),
        (bytes(60) + b"\1" + bytes(4035), "UnsupportedVersion", True),
    ],
)
def test_a_checkpoint_of_another_form(tmp_path: Path, content: bytes, kind: str, is_read: bool) -> None:
    seen, file = Seen(), put(tmp_path, "checkpoint", content)
    assert (read_checkpoint(file, damage=seen) is not None) == is_read
    assert [(row.kind, row.path) for row in seen.rows] == [(kind, file.path)]


def batch_unit(place: int, first: int, count: int, size: int = 50) -> tuple[int, ...]:
    return (place, size, 3, 1_795_000_000_000, first, count, -1, 0)


def test_batch_units_say_their_own_offsets(tmp_path: Path) -> None:
    rows = [batch_unit(0, 5, 4), batch_unit(100, 9, 1), batch_unit(200, 10, 3)]
    files = [
        put(tmp_path, "batchconsumequeue/T/0/00000000000000000000", packed(BATCH_UNIT, rows[:2])),
        put(tmp_path, "batchconsumequeue/T/0/00000000000000000092", packed(BATCH_UNIT, rows[2:]).ljust(92, b"\0")),
    ]
    table = pa.Table.from_batches(read_batch_queue(files), BATCH_UNIT_SCHEMA)
    assert table["queue_offset"].to_pylist() == [5, 9, 10]
    assert table["store_timestamp_ms"].to_pylist() == [1_795_000_000_000] * 3
    found = summarize_batch_queue(files, commitlog_min=100)
    assert (found.min_queue_offset, found.max_queue_offset, found.max_physical_offset) == (9, 13, 250)
    expired = summarize_batch_queue(files, commitlog_min=1000)
    assert (expired.min_queue_offset, expired.max_queue_offset) == (13, 13)
    for until, ends, units in ((251, (13, 250), 3), (200, (10, 150), 2), (100, (9, 50), 1), (0, (0, None), 0)):
        cut = summary_before(BatchQueue(files), found, until, log_end=250)
        assert ((cut.max_queue_offset, cut.max_physical_offset), cut.units) == (ends, units)
    assert summary_before(BatchQueue(files), found, 200, log_end=249) == found, "its last unit is of no message"


def test_batch_damage(tmp_path: Path) -> None:
    odd = [batch_unit(-1, 5, 4), batch_unit(0, -5, 4), batch_unit(0, 5, 0), batch_unit(0, 5, 1, size=0)]
    terminator = (-1, 0, 0, 0, 0, 0, -1, 0)
    content = packed(BATCH_UNIT, [batch_unit(0, 0, 2), *odd, batch_unit(90, 2, 2), terminator]) + b"\0\0\1"
    seen, file = Seen(), put(tmp_path, "batchconsumequeue/T/0/00000000000000000000", content)
    table = pa.Table.from_batches(read_batch_queue([file], damage=seen), BATCH_UNIT_SCHEMA)
    assert table["queue_offset"].to_pylist() == [0, 2]
    assert seen.places == [(7 * 46, 3, None), (46, 4 * 46, None)]
    assert summarize_batch_queue([file]).max_queue_offset == 2
    file.path.unlink()
    with pytest.raises(UnreadableFile):
        list(read_batch_queue([file]))


def timer_unit(place: int, delay_ms: int, magic: int = 1, previous: int = -1) -> tuple[int, ...]:
    return (52, previous, magic, 1_795_000_000_000, delay_ms, place, 400, 77, 0)


BLANK_ROW = (88, 0, MAGIC_BLANK)


def test_timers_and_the_blank_between_files(tmp_path: Path) -> None:
    rows = [timer_unit(0, 5000), timer_unit(400, -1, magic=3, previous=0), timer_unit(800, 0, magic=5)]
    first = packed(TIMER_UNIT, rows[:2]) + packed(TIMER_BLANK, [BLANK_ROW])
    files = [
        put(tmp_path, "timerlog/00000000000000000000", first.ljust(192, b"\0")),
        put(tmp_path, "timerlog/00000000000000000192", packed(TIMER_UNIT, rows[2:]).ljust(192, b"\0")),
        put(tmp_path, "config/timercheck", b""),
    ]
    table = pa.Table.from_batches(read_timerlog(files), TIMER_RECORD_SCHEMA)
    assert table["position"].to_pylist() == [0, 52, 192]
    assert table["is_rolled"].to_pylist() == [False, True, False]
    assert table["is_deletion"].to_pylist() == [False, False, True]
    assert [due.timestamp() for due in table["due_time"].to_pylist()] == [1795000005, 1794999999.999, 1795000000]


def test_timer_damage(tmp_path: Path) -> None:
    good = timer_unit(0, 5)
    rows = [good, (51, *good[1:]), timer_unit(0, 5, magic=16), timer_unit(0, 5, magic=INT_MIN), good]
    seen, file = Seen(), put(tmp_path, "timerlog/00000000000000000000", packed(TIMER_UNIT, rows))
    table = pa.Table.from_batches(read_timerlog([file], damage=seen), TIMER_RECORD_SCHEMA)
    assert table["position"].to_pylist() == [0, 208]
    assert seen.places == [(52, 156, "unit_size")]


def test_the_wheel_and_the_timercheck(tmp_path: Path) -> None:
    slots = packed(TIMER_SLOT, [(0, 0, 0, 0, 0), (1795, 52, 104, 2, 0), (0, 0, 0, 0, 0)])
    wheel = read_wheel(put(tmp_path, "timerwheel", slots))
    assert wheel.to_pylist() == [
        {"slot": 1, "time": 1795, "first_position": 52, "last_position": 104, "timer_count": 2}
    ]
    with pytest.raises(TruncatedRecord, match="torn"):
        read_wheel(put(tmp_path, "timerwheel", slots[:-1]))
    seen = Seen()
    torn = read_wheel(put(tmp_path, "timerwheel", slots[:-1]), damage=seen)
    assert torn.num_rows == 1
    assert seen.places == [(2 * TIMER_SLOT.size, TIMER_SLOT.size - 1, None)]
    check = put(tmp_path, "config/timercheck", packed(TIMER_CHECK, [range(7)]).ljust(4096, b"\0"))
    assert list(read_timercheck(check).values()) == list(range(7))
    with pytest.raises(TruncatedRecord) as caught:
        read_timercheck(put(tmp_path, "config/timercheck", b"short"))
    assert caught.value.path == check.path
    assert read_timercheck(put(tmp_path, "config/timercheck", b"short"), damage=seen) is None
    assert seen.rows[-1].kind == "TruncatedRecord"
