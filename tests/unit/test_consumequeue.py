"""ConsumeQueue files by hand: what is a row, what is unwritten, what is damage, and where the queue ends."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from parsers.consumequeue.ext import CQ_EXT_UNIT, read_ext
from parsers.consumequeue.layout import CQ_UNIT, ext_offset, tags_code_kind
from parsers.consumequeue.read import read_queue, units
from parsers.consumequeue.schema import UNIT_SCHEMA
from parsers.consumequeue.summary import summarize_queue
from parsers.damage.errors import CorruptRecord, StoreFormatError, TruncatedRecord, UnreadableFile
from parsers.explain.explain import explain
from parsers.store.store_file import StoreFile
from parsers.values.java import INT_MAX, INT_MIN, LONG_MIN
from tests.support.files import Seen, packed, put

BLANK, EMPTY = (0, INT_MAX, 0), (0, 0, 0)
PER_FILE = 4


def queue(root: Path, *rows: tuple[int, int, int], first_file: int = 0, topic: str = "T") -> list[StoreFile]:
    """Files of four units each; the last one filled up with unwritten units."""
    padded = [*rows, *[EMPTY] * (-len(rows) % PER_FILE)]
    files = []
    for start in range(0, len(padded), PER_FILE):
        number = (first_file * PER_FILE + start) * CQ_UNIT.size
        files.append(
            put(root, f"consumequeue/{topic}/3/{number:020d}", packed(CQ_UNIT, padded[start : start + PER_FILE]))
        )
    return files


def rows_of(files: list[StoreFile], seen: Seen, **options: bool) -> list[tuple[int, int, str]]:
    table = pa.Table.from_batches(read_queue(files, damage=seen, **options), UNIT_SCHEMA)
    columns = (table[name].to_pylist() for name in ("queue_offset", "physical_offset", "kind"))
    return list(zip(*columns, strict=True))


def test_units_pre_blanks_and_the_unwritten_rest(tmp_path: Path) -> None:
    files, seen = queue(tmp_path, BLANK, BLANK, (700, 90, 5), (790, 91, 6), (900, 92, 7), first_file=2), Seen()
    assert rows_of(files, seen) == [
        (8, 0, "pre_blank"),
        (9, 0, "pre_blank"),
        (10, 700, "unit"),
        (11, 790, "unit"),
        (12, 900, "unit"),
    ]
    assert seen.rows == []
    assert units(files[1])["physical_offset"].tolist() == [900, 0, 0, 0]


def test_a_hole_is_damage_and_what_follows_is_read(tmp_path: Path) -> None:
    files, seen = queue(tmp_path, (1, 9, 0), EMPTY, EMPTY, (2, 9, 0), (3, 9, 0), EMPTY, (4, 9, 0)), Seen()
    assert [place for _, place, _ in rows_of(files, seen)] == [1, 2, 3, 4]
    assert seen.places == [(20, 40, "msg_size"), (20, 20, "msg_size")]
    with pytest.raises(CorruptRecord, match="recovery refuses"):
        next(read_queue(files))


def test_an_unwritten_rest_is_damage_where_the_queue_goes_on(tmp_path: Path) -> None:
    files = queue(tmp_path, (1, 9, 0), EMPTY, EMPTY, EMPTY)
    seen = Seen()
    assert len(rows_of(files, seen, ends_queue=False)) == 1
    assert seen.places == [(20, 60, "msg_size")]


@pytest.mark.parametrize("unit", [(-1, 9, 0), (5, 0, 1), (5, -2, 0), (LONG_MIN, INT_MIN, LONG_MIN)])
def test_a_unit_that_recovery_refuses(tmp_path: Path, unit: tuple[int, int, int]) -> None:
    files, seen = queue(tmp_path, (1, 9, 0), unit, (2, 9, 0)), Seen()
    assert [queue_offset for queue_offset, _, _ in rows_of(files, seen)] == [0, 2]
    assert seen.places == [(20, 20, "physical_offset" if unit[0] < 0 else "msg_size")]


def test_a_torn_unit_a_wrong_name_and_files_that_do_not_join(tmp_path: Path) -> None:
    whole = packed(CQ_UNIT, [(1, 9, 0), (2, 9, 0)])
    files = [put(tmp_path, f"consumequeue/T/0/{number:020d}", whole[:size]) for number, size in ((3, 40), (60, 25))]
    seen = Seen()
    assert [place for _, place, _ in rows_of(files, seen)] == [1, 2, 1]
    assert [(row.kind, row.field, row.file_pos) for row in seen.rows] == [
        ("CorruptRecord", "file size", 40),
        ("CorruptRecord", "file size", 25),
        ("CorruptRecord", "file name", 0),
        ("TruncatedRecord", None, 20),
    ]


def test_an_empty_file_and_one_that_is_gone(tmp_path: Path) -> None:
    empty, gone, good = (
        put(tmp_path, f"consumequeue/T/0/{20 * number:020d}", content)
        for number, content in enumerate((b"", packed(CQ_UNIT, [(1, 9, 0)]), packed(CQ_UNIT, [(2, 9, 0)])))
    )
    gone.path.unlink()
    seen = Seen()
    assert rows_of([empty, gone, good], seen) == [(2, 2, "unit")]
    assert [row.kind for row in seen.rows] == [TruncatedRecord.__name__, UnreadableFile.__name__]
    with pytest.raises(UnreadableFile, match="No such file"):
        summarize_queue([gone])


@pytest.mark.parametrize(
    ("topic", "tags_code", "kind"),
    [
        ("T", 0, "tag_hash"),
        ("T", INT_MIN, "tag_hash"),
        ("T", INT_MIN - 1, "ext_address"),
        ("T", 1_795_000_000_000, "tag_hash"),
        ("SCHEDULE_TOPIC_XXXX", 1_795_000_000_000, "delivery_time"),
        ("SCHEDULE_TOPIC_XXXX", 12, "tag_hash"),
        ("SCHEDULE_TOPIC_XXXX", LONG_MIN, "ext_address"),
    ],
)
def test_what_a_tags_code_is(tmp_path: Path, topic: str, tags_code: int, kind: str) -> None:
    (batch,) = read_queue(queue(tmp_path, (1, 9, tags_code), topic=topic))
    assert tags_code_kind(topic, tags_code) == kind
    assert batch["tags_code_kind"].to_pylist() == [kind]


def test_ext_addresses_are_counted_from_the_smallest_long() -> None:
    assert ext_offset(LONG_MIN + 4096) == 4096


A, B, C, D, E = ((1000 * number, 100, 0) for number in range(1, 6))


@pytest.mark.parametrize(
    ("rows", "first_file", "commitlog_min", "expected"),
    [
        ((A, B, C), 0, 0, (0, 3, 3100, 3, 0)),
        ((A, B, C, D, E), 0, 2500, (2, 5, 5100, 5, 0)),
        ((A, B, C, D, E), 7, 4500, (32, 33, 5100, 5, 0)),
        ((A, B, C), 1, 9999, (7, 7, 3100, 3, 0)),
        ((D, A), 0, 2500, (2, 2, 1100, 2, 0)),
        ((BLANK, BLANK, A, B), 0, 0, (2, 4, 2100, 2, 2)),
        ((BLANK, BLANK, A, B, C), 3, 1500, (15, 17, 3100, 3, 2)),
        ((A, EMPTY, C), 0, 0, (0, 1, 1100, 1, 0)),
        ((EMPTY, A), 2, 0, (8, 8, None, 0, 0)),
        ((A, EMPTY, B, C, *[D] * 12), 0, 0, (0, 16, 4100, 15, 0)),
        ((A, B, C, D, A, EMPTY, *[D] * 10), 0, 0, (0, 5, 1100, 5, 0)),
    ],
    ids=[
        "plain",
        "minimum",
        "minimum in file 2",
        "expired",
        "last expired",
        "blanks",
        "blanks expired",
        "hole",
        "none",
        "old",
        "cut",
    ],
)
def test_offsets_of_a_queue(
    tmp_path: Path,
    rows: tuple[tuple[int, int, int], ...],
    first_file: int,
    commitlog_min: int,
    expected: tuple[int, int, int | None, int, int],
) -> None:
    """A hole ends the queue in its last three files, and nowhere else."""
    found = summarize_queue(queue(tmp_path, *rows, first_file=first_file), commitlog_min=commitlog_min)
    offsets = (found.min_queue_offset, found.max_queue_offset, found.max_physical_offset)
    assert (*offsets, found.units, found.pre_blanks) == expected


def test_no_file_is_an_empty_queue() -> None:
    assert summarize_queue([]).max_queue_offset == 0


def test_damage_says_which_file(tmp_path: Path) -> None:
    files = queue(tmp_path, (-5, 9, 0), A)
    with pytest.raises(StoreFormatError) as caught:
        list(read_queue(files))
    assert caught.value.path == files[0].path
    assert str(files[0].path) in str(caught.value)


EXT_ROWS = [(28, 77, 1_795_000_000_000, 8), (20, -5, 1_795_000_000_001, 0)]
EXT_BYTES = packed(CQ_EXT_UNIT, EXT_ROWS[:1]) + b"bitmap!!" + packed(CQ_EXT_UNIT, EXT_ROWS[1:])


@pytest.mark.parametrize("rest", [b"", b"\0" * 30, b"\xff\xff" + b"old" * 9, b"\1"])
def test_ext_units_up_to_the_unused_rest(tmp_path: Path, rest: bytes) -> None:
    file = put(tmp_path, "consumequeue_ext/T/0/00000000000000000000", EXT_BYTES + rest)
    found = [(unit.file_pos, unit.tags_code, unit.bitmap, unit.size) for unit in read_ext(file)]
    assert found == [(0, 77, b"bitmap!!", 28), (28, -5, b"", 20)]
    assert sum(line.length for line in explain(file.path)) == file.size


@pytest.mark.parametrize("row", [(29, 1, 1, 8), (10, 1, 1, -10), (32767, 1, 1, 32747), (28, 1, 1, 8)])
def test_a_broken_ext_unit_ends_its_file(tmp_path: Path, row: tuple[int, ...]) -> None:
    file, seen = put(tmp_path, "consumequeue_ext/T/0/0", EXT_BYTES + packed(CQ_EXT_UNIT, [row])), Seen()
    assert len(list(read_ext(file, damage=seen))) == 2
    assert seen.places == [(48, 20, "unit_size")]
    assert sum(line.length for line in explain(file.path)) == file.size
