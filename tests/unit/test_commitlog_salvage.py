"""What a reader says of each kind of break: why, from where to where, and where it goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.files.region import Region
from parsers.commitlog.record.layout import HEAD, MAGIC_BLANK, RECORD_START
from parsers.damage.errors import Damage, StoreFormatError
from parsers.store.store_file import StoreFile
from tests.support.small_log import FIRST_MS, SmallLog

Edit = Callable[[SmallLog], None]
Told = tuple[str, int, str | None]
SIZE = 166
"""Bytes of each message of a small log."""


def field(name: str, value: int) -> Edit:
    """Message 2 gets another value in a field of its head."""
    start, width = HEAD.offsets[name], HEAD.dtype[name].itemsize
    return lambda log: log.write(log.places[2] + start, value.to_bytes(width, "big", signed=True))


def byte(at: int, value: bytes) -> Edit:
    """Message 2 gets other bytes at `at`, from its end where negative."""
    return lambda log: log.write(log.places[2] + (at if at >= 0 else SIZE + at), value)


PROPERTIES_SIZE = SIZE - 91 - len("some body") - len("SomeTopic")
ONE_LOST = {
    "size zero": (field("total_size", 0), "total_size"),
    "size one more": (field("total_size", SIZE + 1), "total_size"),
    "size negative": (field("total_size", -256), "total_size"),
    "size beyond the file": (field("total_size", 2**31 - 1), "total_size"),
    "magic": (field("magic_code", 0x0BADCAFE), "magic_code"),
    "magic of a blank": (field("magic_code", MAGIC_BLANK), "total_size"),
    "own offset": (field("physical_offset", 7), "physical_offset"),
    "host width": (field("sys_flag", 0x10), "body_size"),
    "body size": (byte(84, b"\x00\xff\xff\xff"), "body_size"),
    "body size negative": (byte(84, b"\xff\xff\xff\xff"), "topic_size"),
    "topic size negative": (byte(97, b"\xff"), "topic_size"),
    "topic size one more": (byte(97, b"\x0a"), "properties_size"),
    "properties size": (byte(-PROPERTIES_SIZE - 2, b"\x7f\xff"), "properties_size"),
    "body": (byte(90, b"?"), "body_crc"),
    "body CRC": (field("body_crc", 1), "body_crc"),
    "zeros": (byte(0, bytes(SIZE)), "magic_code"),
    "zeros to its end": (byte(-PROPERTIES_SIZE - 2, bytes(PROPERTIES_SIZE + 2)), "total_size"),
}


def told(file: StoreFile) -> list[Told]:
    return [(region.kind, region.length, region.error and region.error.field) for region in regions_of(file)]


@pytest.mark.parametrize("edit", ONE_LOST)
def test_one_damaged_message_is_named_and_the_others_are_read(tmp_path: Path, edit: str) -> None:
    log = SmallLog()
    log.put(5)
    assert log.at == 5 * SIZE
    change, field_name = ONE_LOST[edit]
    change(log)
    assert told(log.save(tmp_path)) == [
        ("messages", 2 * SIZE, None),
        ("damage", SIZE, field_name),
        ("messages", 2 * SIZE, None),
        ("unwritten", log.size - 5 * SIZE, None),
    ]


def stale_in_a_reused_file(log: SmallLog) -> list[Told]:
    log.put(3)
    log.put(4, shift=-(2**20))
    return [("messages", 3 * SIZE, None), ("stale", 4 * SIZE, None), ("unwritten", log.size - 7 * SIZE, None)]


def stale_behind_an_overwritten_record(log: SmallLog) -> list[Told]:
    log.put(6, shift=-(2**20))
    return overwritten_by_two(log)


def older_records_in_their_own_place(log: SmallLog) -> list[Told]:
    log.put(6, first_ms=FIRST_MS - 3600_000)
    return overwritten_by_two(log)


def overwritten_by_two(log: SmallLog) -> list[Told]:
    """Two shorter records over the first two of six."""
    log.at, log.places = 0, []
    log.put(2, body=b"shorter")
    return [
        ("messages", log.at, None),
        ("stale", 2 * SIZE - log.at, None),
        ("stale", 4 * SIZE, None),
        ("unwritten", log.size - 6 * SIZE, None),
    ]


def an_earlier_end_of_file(log: SmallLog) -> list[Told]:
    log.put(6, first_ms=FIRST_MS - 3600_000)
    log.end()
    log.at, log.places = 0, []
    log.put(1, body=b"shorter")
    return [
        ("messages", SIZE - 2, None),
        ("stale", 2, None),
        ("stale", 5 * SIZE, None),
        ("stale", log.size - 6 * SIZE, None),
    ]


def the_last_message_with_another_own_offset(log: SmallLog) -> list[Told]:
    log.put(3)
    log.put(1, shift=64)
    return [
        ("messages", 3 * SIZE, None),
        ("damage", SIZE, "physical_offset"),
        ("unwritten", log.size - 4 * SIZE, None),
    ]


def a_torn_last_message(log: SmallLog) -> list[Told]:
    log.put(3)
    log.write(2 * SIZE + 100, bytes(SIZE))
    return [
        ("messages", 2 * SIZE, None),
        ("damage", 100, "total_size"),
        ("unwritten", log.size - 2 * SIZE - 100, None),
    ]


def a_blank_that_does_not_end_the_file(log: SmallLog) -> list[Told]:
    log.put(3)
    log.end()
    log.write(3 * SIZE, RECORD_START.pack({"total_size": 9, "magic_code": MAGIC_BLANK}))
    return [("messages", 3 * SIZE, None), ("blank", log.size - 3 * SIZE, "total_size")]


def fragments_behind_a_blank(log: SmallLog) -> list[Told]:
    log.put(3)
    log.put(2, shift=-SIZE)
    log.at = 3 * SIZE
    log.end()
    return [("messages", 3 * SIZE, None), ("blank", log.size - 3 * SIZE, None)]


def damage_before_a_blank(log: SmallLog) -> list[Told]:
    log.put(3)
    log.end()
    log.write(2 * SIZE, bytes(4))
    return [("messages", 2 * SIZE, None), ("damage", SIZE, "total_size"), ("blank", log.size - 3 * SIZE, None)]


def a_pre_allocated_file(log: SmallLog) -> list[Told]:
    return [("unwritten", log.size, None)]


def a_file_of_another_kind(log: SmallLog) -> list[Told]:
    log.content = bytearray(b"no log at all, " * 500)
    return [("damage", len(log.content), "magic_code")]


def a_file_of_three_bytes(log: SmallLog) -> list[Told]:
    log.content = bytearray(b"abc")
    return [("damage", 3, None)]


def an_empty_file(log: SmallLog) -> list[Told]:
    log.content = bytearray()
    return []


def a_damaged_store_time(log: SmallLog) -> list[Told]:
    """One time in the far future before a break does not make the rest stale."""
    log.put(6)
    log.write(log.places[1] + 56, b"\x7f")
    log.write(log.places[2], bytes(4))
    return [
        ("messages", 2 * SIZE, None),
        ("damage", SIZE, "total_size"),
        ("messages", 3 * SIZE, None),
        ("unwritten", log.size - 6 * SIZE, None),
    ]


ENDS = [
    stale_in_a_reused_file,
    stale_behind_an_overwritten_record,
    older_records_in_their_own_place,
    an_earlier_end_of_file,
    the_last_message_with_another_own_offset,
    a_torn_last_message,
    a_blank_that_does_not_end_the_file,
    fragments_behind_a_blank,
    damage_before_a_blank,
    a_pre_allocated_file,
    a_file_of_another_kind,
    a_file_of_three_bytes,
    an_empty_file,
    a_damaged_store_time,
]


@pytest.mark.parametrize("build", ENDS)
def test_the_end_of_a_log_is_told_from_damage(tmp_path: Path, build: Callable[[SmallLog], list[Told]]) -> None:
    log = SmallLog(base_offset=2**20)
    expected = build(log)
    file = log.save(tmp_path)
    assert told(file) == expected
    regions = regions_of(file)
    rows = sum(batch.num_rows for batch in read_segment(file, columns=["queue_id"]))
    assert rows == sum(region.records for region in regions if region.kind == "messages")
    assert [region.file_pos for region in regions] == [0, *(region.end for region in regions[:-1])][: len(regions)]


def test_slices_of_a_damaged_file_give_the_rows_and_regions_of_the_whole(tmp_path: Path) -> None:
    log = SmallLog(size=4096)
    log.put(8)
    for place in (2, 3, 5):
        log.write(log.places[place] + 86 + place, b"\xff\xff\xff")
    log.put(4, shift=-(2**20))
    log.write(log.at - 10, b"???")
    file = log.save(tmp_path)
    whole = [row for batch in read_segment(file) for row in batch["physical_offset"].to_pylist()]
    for step in (1, 83, 166, 1000):
        rows, regions = read_in_slices(file, step)
        assert rows == whole
        assert regions == [(region.kind, region.file_pos) for region in regions_of(file)]


def read_in_slices(file: StoreFile, step: int) -> tuple[list[int], list[tuple[str, int]]]:
    """Physical offsets and regions of all slices of `step` bytes; runs of messages that meet are one."""
    rows: list[int] = []
    regions: list[Region] = []
    for start in range(0, file.size, step):
        for batch in read_segment(file, between=(start, start + step), regions=regions.append):
            rows += batch["physical_offset"].to_pylist()
    assert [region.file_pos for region in regions] == [0, *(region.end for region in regions[:-1])]
    kinds = [(region.kind, region.file_pos) for region in regions]
    return rows, [
        kind
        for before, kind in zip([("", 0), *kinds], kinds, strict=False)
        if kind[0] != "messages" or before[0] != "messages"
    ]


def test_a_message_with_a_wrong_crc_is_a_row_with_its_verdict(tmp_path: Path) -> None:
    log = SmallLog()
    log.put(3)
    log.write(log.places[1] + 90, b"?")
    found: list[Damage] = []
    batches = list(read_segment(log.save(tmp_path), damage=found.append))
    assert [verdict for batch in batches for verdict in batch["crc_ok"].to_pylist()] == [True, False, True]
    assert [(row.file_pos, row.length, row.field) for row in found] == [(SIZE, SIZE, "body_crc")]


def test_raising_names_the_file_and_the_place(tmp_path: Path) -> None:
    log = SmallLog()
    log.put(3)
    log.write(log.places[1] + 4, bytes(4))
    file = log.save(tmp_path)
    with pytest.raises(StoreFormatError) as raised:
        list(read_segment(file, damage=None))
    assert (raised.value.path, raised.value.at, raised.value.field) == (file.path, SIZE, "magic_code")


def test_a_gap_between_files_is_a_finding(tmp_path: Path) -> None:
    files = []
    for base_offset in (0, 8192 * 2):
        log = SmallLog(base_offset=base_offset)
        log.put(2)
        log.end()
        files.append(log.save(tmp_path))
    found: list[Damage] = []
    rows = [row for batch in read_commitlog(files, damage=found.append) for row in batch["physical_offset"].to_pylist()]
    assert rows == [0, SIZE, 16384, 16384 + SIZE]
    assert [row.field for row in found] == ["file size"]
