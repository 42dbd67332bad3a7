"""Bytes made to hurt: lengths that lie, candidates that cost, bodies that explode, files that are huge and empty."""

from __future__ import annotations

import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from parsers.commitlog.batches.read import MessageFilter, read_commitlog
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.compiled.resync import PROOF_BYTES_A_BYTE, PROOF_BYTES_FREE
from parsers.commitlog.files.logfile import open_log
from parsers.commitlog.record import body as body_module
from parsers.commitlog.record.body import MOST_BODY_BYTES, decompress
from parsers.commitlog.record.layout import MAGIC_V1, SMALLEST_MESSAGE, SYS_FLAG_COMPRESSED, parts
from parsers.commitlog.record.message import encode_message
from parsers.damage.errors import CorruptRecord, Damage, StoreFormatError, UnsupportedVersion
from parsers.store.store_file import StoreFile, classify
from tests.support.cli import call
from tests.support.new_message import new_message
from tests.support.peak_memory import grown_mib
from tests.support.small_log import SmallLog

MIB = 1 << 20
LENGTHS = (-(2**31), -1, 0, 1, 90, 91, 2**31 - 1)


def saved(folder: Path, content: bytes) -> StoreFile:
    path = folder / "commitlog" / f"{0:020d}"
    path.parent.mkdir()
    path.write_bytes(content)
    return classify(folder, path)


def lying_record(total_size: int, body_size: int) -> bytes:
    form = parts(MAGIC_V1, 0)
    row = dict.fromkeys((*form.head.offsets, *form.store_time.offsets, *form.tail.offsets), 0)
    row |= {"total_size": total_size, "magic_code": MAGIC_V1, "body_size": body_size}
    hosts = bytes(form.born_host.size), bytes(form.store_host.size)
    return form.head.pack(row) + hosts[0] + form.store_time.pack(row) + hosts[1] + form.tail.pack(row)


@pytest.mark.parametrize("total_size", LENGTHS)
@pytest.mark.parametrize("body_size", LENGTHS)
def test_lengths_that_lie_are_damage(tmp_path: Path, total_size: int, body_size: int) -> None:
    log = SmallLog()
    log.put(2)
    log.write(log.at, lying_record(total_size, body_size))
    regions = regions_of(log.save(tmp_path))
    is_whole = total_size == SMALLEST_MESSAGE and body_size <= 0  # a record without anything in it, of offset 0
    assert [region.kind for region in regions] == ["messages", "stale" if is_whole else "damage", "unwritten"]
    assert sum(region.length for region in regions) == log.size


def test_candidates_that_fail_their_proof_cost_a_bounded_number_of_bytes(tmp_path: Path) -> None:
    size = MIB
    content = bytearray(size)
    content[4] = 1
    for at in range(8, size - 1000, 96):
        total_size = size - 500 - at
        content[at : at + 88] = lying_record(total_size, total_size - 91)
    file = saved(tmp_path, bytes(content))
    log = open_log(file)
    before = int(log.budget[0])
    assert before == PROOF_BYTES_FREE + PROOF_BYTES_A_BYTE * size
    place, _ = log.find(0)
    assert place >= size - 2000  # nothing among ten thousand overlapping candidates
    assert 0 <= log.budget[0] < before
    assert sum(region.length for region in regions_of(file)) == size


def test_a_body_that_explodes_is_cut_off_at_the_cap(tmp_path: Path) -> None:
    bomb, plain = zlib.compress(bytes(MOST_BODY_BYTES + 1)), b"fine" * 100
    log = SmallLog(size=MIB)
    for body in (zlib.compress(plain), bomb, b"no stream"):
        record = encode_message(new_message("T", body, physical_offset=log.at, sys_flag=SYS_FLAG_COMPRESSED))
        log.write(log.at, record)
        log.at += len(record)
    found: list[Damage] = []
    columns = ["body_decompressed", "crc_ok"]
    table = pa.Table.from_batches(read_segment(log.save(tmp_path), columns=columns, damage=found.append))
    assert table["body_decompressed"].to_pylist() == [plain, None, None]
    assert [row.expected for row in found] == [f"≤ {MOST_BODY_BYTES}", None]


def test_many_bodies_that_explode_are_dumped_one_after_the_other(tmp_path: Path) -> None:
    bomb, log = zlib.compress(bytes(MOST_BODY_BYTES)), SmallLog(size=MIB)
    for _ in range(6):
        record = encode_message(new_message("T", bomb, physical_offset=log.at, sys_flag=SYS_FLAG_COMPRESSED))
        log.write(log.at, record)
        log.at += len(record)
    assert grown_mib(_dump_bodies, log.save(tmp_path / "store").path, tmp_path / "rows.jsonl", 6) < 550


def _dump_bodies(file: Path, out: Path, rows: int) -> None:
    called = call("dump", "commitlog", file, "--bodies", "--columns", "body_decompressed", "--out", out)
    assert (called.code, called.err) == (0, "")
    assert out.stat().st_size > rows * MOST_BODY_BYTES


@pytest.mark.parametrize("kind", [0x000, 0x100, 0x200, 0x300])
def test_streams_that_are_cut_or_random_raise_the_typed_error(kind: int) -> None:
    for content in (b"\x78\x9c", b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd", bytes(range(256)), b"\xff" * 40):
        with pytest.raises(StoreFormatError):
            decompress(content, SYS_FLAG_COMPRESSED | kind)
    assert set(body_module._DECOMPRESSORS) == {"zlib", "lz4", "zstd"}


@pytest.mark.parametrize(("kind", "codec"), [(0x100, "lz4"), (0x200, "zstd")])
def test_frames_are_joined_and_nothing_else_may_follow_them(kind: int, codec: str) -> None:
    frames = [pa.compress(plain, codec=codec, asbytes=True) for plain in (b"one, ", b"two")]
    flag = SYS_FLAG_COMPRESSED | kind
    assert decompress(b"".join(frames), flag) == b"one, two"
    with pytest.raises(CorruptRecord, match=f"no whole {codec} stream"):
        decompress(frames[0] + b"and more", flag)
    with pytest.raises(CorruptRecord, match="beyond the cap"):
        decompress(b"".join(frames), flag, cap=7)


def test_an_unknown_compression_is_another_version() -> None:
    with pytest.raises(UnsupportedVersion):
        decompress(b"x", SYS_FLAG_COMPRESSED | 0x700)


def test_a_sparse_file_of_many_gibibytes_is_read_without_reading_it(tmp_path: Path) -> None:
    log = SmallLog()
    log.put(5)
    file = log.save(tmp_path)
    size = 6 << 30
    with file.path.open("r+b") as handle:
        handle.truncate(size)
    file = classify(tmp_path, file.path)
    assert grown_mib(_have_regions, file, [("messages", log.at), ("unwritten", size - log.at)]) < 256
    assert next(iter(read_segment(file, between=(3 << 30, None))), None) is None


def _have_regions(file: StoreFile, kinds: list[tuple[str, int]]) -> None:
    assert [(region.kind, region.length) for region in regions_of(file)] == kinds


def test_a_message_behind_a_hole_is_found(tmp_path: Path) -> None:
    log = SmallLog(size=64 * MIB)
    log.at = 40 * MIB - 2  # its first two bytes are zeros of the hole
    log.put(1)
    path = tmp_path / "commitlog" / f"{0:020d}"
    path.parent.mkdir()
    with path.open("wb") as handle:
        handle.truncate(log.size)
        handle.seek(40 * MIB)
        handle.write(log.content[40 * MIB : log.at])
    regions = regions_of(classify(tmp_path, path))
    assert [(region.kind, region.file_pos) for region in regions] == [
        ("damage", 0),
        ("messages", 40 * MIB - 2),
        ("unwritten", log.at),
    ]


def test_an_unreadable_file_is_a_finding_and_the_others_are_read(tmp_path: Path) -> None:
    log = SmallLog()
    log.put(1)
    gone = SmallLog(base_offset=log.size).save(tmp_path)
    gone.path.unlink()
    found: list[Damage] = []
    assert sum(batch.num_rows for batch in read_commitlog([log.save(tmp_path), gone], damage=found.append)) == 1
    assert [row.kind for row in found] == ["UnreadableFile"]


def test_the_largest_offset_a_name_can_hold_does_not_wrap(tmp_path: Path) -> None:
    log = SmallLog(base_offset=2**63 - 1)
    log.put(1, shift=-(2**62))
    assert [region.kind for region in regions_of(log.save(tmp_path))] == ["stale", "unwritten"]


def test_a_wrong_call_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such column: size"):
        list(read_segment(SmallLog().save(tmp_path), columns=["size"]))


def test_a_filter_takes_its_first_value_and_leaves_out_its_last(tmp_path: Path) -> None:
    log = SmallLog()
    log.put(5)
    where = MessageFilter(min_physical_offset=log.places[1], max_physical_offset=log.places[3], key="k2")
    rows = [row for batch in read_commitlog([log.save(tmp_path)], where=where) for row in batch["keys"].to_pylist()]
    assert rows == ["k2"]
    assert CorruptRecord.__mro__[1] is StoreFormatError


def test_a_sparse_file_of_another_name_is_looked_into_only_where_bytes_are(tmp_path: Path) -> None:
    path, size = tmp_path / "copy", 3 << 30
    with path.open("wb") as handle:
        handle.write(b"no message")
        handle.truncate(size)
    assert grown_mib(_add_up_to, StoreFile(path, "commitlog", size, 0), size) < 256


def _add_up_to(file: StoreFile, size: int) -> None:
    assert sum(region.length for region in regions_of(file)) == size
