"""What is told of index files whose broker was killed, or whose log is gone or refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from parsers.consumequeue.layout import CQ_UNIT
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import open_index
from parsers.store.store_file import classify
from recovery.verify.findings.finding import Place
from recovery.verify.settle.index_entries import read_places, slots_of
from tests.support.build_store import SETTINGS, VERSION, StoreBuilder, overwrite, shop
from tests.support.kind_damages import ENTRIES_AT, LONG, STORE_TIME_AT, findings_of, log_write, with_record_crc
from tests.support.opened import opened


@pytest.fixture
def built(tmp_path: Path) -> StoreBuilder:
    return with_record_crc(shop(tmp_path / "store"), ("TAGS", "A"))


@pytest.mark.parametrize("fields", [("index_count",), ("index_count", "end_physical_offset"), ("end_physical_offset",)])
def test_a_killed_broker_may_leave_the_index_with_an_entry_half_put(
    fields: tuple[str, ...], built: StoreBuilder
) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    content = path.read_bytes()
    header = INDEX_HEADER.unpack(content)
    before = ENTRIES_AT + (header["index_count"] - 2) * INDEX_ENTRY.size
    header["index_count"] -= "index_count" in fields
    if "end_physical_offset" in fields:
        header["end_physical_offset"] = INDEX_ENTRY.unpack(content, before)["physical_offset"]
        header["end_timestamp_ms"] -= 1
    overwrite(path, 0, INDEX_HEADER.pack(header))
    assert {found.kind for found in findings_of(root)} == {"index_header_wrong"}
    (root / "abort").touch()
    assert findings_of(root) == ()


@pytest.mark.parametrize("counted", [True, False])
def test_the_slot_of_a_killed_brokers_last_entry_is_missed_once_the_header_counts_the_entry(
    counted: bool, built: StoreBuilder
) -> None:
    root = built.finish()
    (root / "abort").touch()
    path = sorted((root / "index").iterdir())[-1]
    (opened_file,) = open_index([classify(root, path)])
    header, last = opened_file.header, opened_file.entries
    entry = INDEX_ENTRY.unpack(opened_file.data, opened_file.entry_at(last))
    at = INDEX_HEADER.size + INDEX_SLOT.size * (entry["key_hash"] % opened_file.slots)
    overwrite(path, at, INDEX_SLOT.pack({"newest_entry_no": entry["prev_index_no"]}))
    overwrite(path, 0, INDEX_HEADER.pack(header | {"index_count": header["index_count"] - (not counted)}))
    told = [(found.kind, found.places[0]) for found in findings_of(root)]
    assert told == [("index_chain_wrong", Place(f"index/{path.name}", at, INDEX_SLOT.size))] * counted


@pytest.mark.parametrize("end_ms", [bytes.fromhex("0000030000000000"), bytes(LONG)], ids=["later", "earlier"])
def test_the_end_time_of_an_index_file_is_told_wrong_without_the_log(end_ms: bytes, built: StoreBuilder) -> None:
    root = built.finish()
    shutil.rmtree(root / "commitlog")
    path = sorted((root / "index").iterdir())[-1]
    before = [found for found in findings_of(root) if found.kind == "index_header_wrong"]
    overwrite(path, INDEX_HEADER.offsets["end_timestamp_ms"], end_ms)
    (found,) = [found for found in findings_of(root) if found.kind == "index_header_wrong"]
    assert not before
    assert found.places[0] == Place(f"index/{path.name}", 0, 2 * LONG)


def test_the_store_time_of_a_record_that_its_crc_refuses_judges_no_index(tmp_path: Path) -> None:
    builder = with_record_crc(shop(tmp_path / "store"), ("KEYS", "last"))
    root = builder.finish()
    assert findings_of(root) == ()
    log_write(root, builder.records[-1], STORE_TIME_AT, bytes.fromhex("0000030000000000"))
    assert {found.kind for found in findings_of(root)} & {"index_header_wrong", "index_time_wrong"} == set()
    assert "record_crc_wrong" in {found.kind for found in findings_of(root)}


def test_the_end_time_of_an_index_file_is_not_blamed_where_its_last_entry_says_the_same(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    root = builder.finish()
    last = next(record for record in reversed(builder.records) if record.property_value("KEYS"))
    log_write(root, last, STORE_TIME_AT, bytes.fromhex("0000030000000000"))
    found = findings_of(root)
    (times,) = [each for each in found if each.kind == "index_time_wrong"]
    assert [place.file.partition("/")[0] for place in times.places] == ["index", "commitlog"]
    assert "index_header_wrong" not in {each.kind for each in found}


def test_no_time_of_an_entry_is_wrong_where_nothing_has_the_files_first_one(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[0]
    begin, first_hash = INDEX_HEADER.offsets["begin_timestamp_ms"], ENTRIES_AT + INDEX_ENTRY.size
    overwrite(path, begin, bytes(LONG))
    overwrite(path, first_hash, bytes([path.read_bytes()[first_hash] ^ 0x40]))
    found = findings_of(root)
    assert "index_time_wrong" not in {each.kind for each in found}
    assert Place(f"index/{path.name}", begin, LONG) in [place for each in found for place in each.places]


def test_the_slots_of_entries_are_told_in_any_order(built: StoreBuilder) -> None:
    store, _ = opened(built.finish(), VERSION, SETTINGS)
    (file, *_) = open_index(store.index)
    numbers = np.arange(1, 13)
    assert slots_of(file, numbers[::-1]).tolist() == slots_of(file, numbers).tolist()[::-1]


def test_a_header_is_right_where_the_last_entries_are_zeros(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    count = INDEX_HEADER.unpack(path.read_bytes())["index_count"]
    overwrite(path, ENTRIES_AT + (count - 4) * INDEX_ENTRY.size + 3, bytes(4 * INDEX_ENTRY.size - 3))
    kinds = {found.kind for found in findings_of(root)}
    assert kinds - {"index_entry_to_nothing", "index_entry_wrong"} == {"index_entries_lost"}


def test_a_header_that_the_log_has_is_right_where_all_slots_and_entries_are_zeros(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    end = len(path.read_bytes().rstrip(b"\0"))
    overwrite(path, INDEX_HEADER.size, bytes(end - INDEX_HEADER.size))
    (found,) = findings_of(root)
    covered = {at for place in found.places for at in range(place.file_pos, place.file_pos + place.length)}
    assert found.kind == "index_entries_lost"
    assert covered >= {*range(INDEX_HEADER.size, ENTRIES_AT), *range(ENTRIES_AT + INDEX_ENTRY.size, end)}


def test_a_header_is_right_where_every_entry_was_written_over(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    count = INDEX_HEADER.unpack(path.read_bytes())["index_count"]
    overwrite(path, ENTRIES_AT + INDEX_ENTRY.size, b"\x01" * ((count + 3) * INDEX_ENTRY.size))
    assert "index_header_wrong" not in {found.kind for found in findings_of(root)}


def test_header_and_slots_are_right_where_other_bytes_lie_behind_the_entries(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    count = INDEX_HEADER.unpack(path.read_bytes())["index_count"]
    at = ENTRIES_AT + (count + 2) * INDEX_ENTRY.size
    overwrite(path, at, b"\x0c\x09\x20\x80" + b"\x01" * 12)
    found = findings_of(root)
    assert {one.kind for one in found} <= {"index_entry_wrong", "index_entry_to_nothing"}
    assert any(place.file_pos <= at < place.file_pos + place.length for one in found for place in one.places)
    assert all(place.file_pos >= at for one in found for place in one.places)


@pytest.mark.parametrize("field", ["", "key_hash"])
def test_a_first_entry_that_is_damaged_tells_no_begin_and_no_time(field: str, built: StoreBuilder) -> None:
    """Of a later file, whose first entry is not of the log's first record."""
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    at, width = INDEX_ENTRY.offsets.get(field, 0), LONG // 2 if field else INDEX_ENTRY.size
    overwrite(path, ENTRIES_AT + INDEX_ENTRY.size + at, bytes(width))
    kinds = {found.kind for found in findings_of(root)}
    assert kinds & {"index_header_wrong", "index_time_wrong"} == set()
    assert "index_entry_wrong" in kinds


def test_entries_that_lead_to_nothing_break_no_other_chain(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    at = ENTRIES_AT + 2 * INDEX_ENTRY.size
    overwrite(path, at, bytes(range(1, 1 + 2 * INDEX_ENTRY.size)))
    kinds = {found.kind for found in findings_of(root)}
    assert kinds <= {"index_entry_to_nothing", "index_entry_wrong", "index_keys_missing"}


def test_slots_are_right_where_whole_entries_were_written_over_others(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[0]
    first, length = ENTRIES_AT + 1 * INDEX_ENTRY.size, 9 * INDEX_ENTRY.size
    overwrite(path, first + 20 * INDEX_ENTRY.size, path.read_bytes()[first : first + length])
    (entries,) = [found for found in findings_of(root) if found.kind != "index_keys_missing"]
    assert (entries.kind, entries.places[0]) == (
        "index_entry_wrong",
        Place(f"index/{path.name}", first + 20 * INDEX_ENTRY.size, length),
    )


def test_a_header_that_begins_with_a_message_of_the_log_is_right_whatever_the_first_entries_are(
    built: StoreBuilder,
) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[0]
    first, end = ENTRIES_AT + INDEX_ENTRY.size, INDEX_HEADER.unpack(path.read_bytes())["index_count"]
    moved = path.read_bytes()[first + 9 * INDEX_ENTRY.size : ENTRIES_AT + end * INDEX_ENTRY.size]
    overwrite(path, first, moved)
    begins = {INDEX_HEADER.offsets[name] for name in ("begin_timestamp_ms", "begin_physical_offset")}
    found = [place for each in findings_of(root) if each.kind == "index_header_wrong" for place in each.places]
    assert begins.isdisjoint(at for place in found for at in range(place.file_pos, place.file_pos + place.length))


def test_an_entry_of_an_expired_message_among_those_of_living_ones_is_named(tmp_path: Path) -> None:
    root = shop(tmp_path / "store", base_offset=8192).finish()
    path = sorted((root / "index").iterdir())[0]
    at = ENTRIES_AT + 5 * INDEX_ENTRY.size
    overwrite(path, at + INDEX_ENTRY.offsets["physical_offset"], (100).to_bytes(LONG, "big"))
    (found,) = [each for each in findings_of(root) if each.kind != "index_keys_missing"]
    assert (found.kind, found.places[0]) == ("index_entry_wrong", Place(f"index/{path.name}", at, INDEX_ENTRY.size))


@pytest.mark.parametrize("end", [0, -1], ids=["expired", "lost"])
def test_an_entry_whose_keys_nobody_has_is_alone_to_blame_for_its_slots(end: int, tmp_path: Path) -> None:
    root = shop(tmp_path / "store", 90).finish()
    log = sorted((root / "commitlog").iterdir())[end]
    start, size = int(log.name), log.stat().st_size
    log.unlink()
    file = list(open_index(opened(root, VERSION, SETTINGS)[0].index))[end]
    numbers = np.arange(1, file.entries + 1)
    of_entry, places = slots_of(file, numbers).tolist(), read_places(file, numbers)
    gone = ((start <= places) & (places < start + size)).tolist()
    alone = next(at for at, slot in enumerate(of_entry) if gone[at] and of_entry.count(slot) == 1)
    shared = next(slot for at, slot in enumerate(of_entry) if at != alone and of_entry.count(slot) > 1)
    at = ENTRIES_AT + (1 + alone) * INDEX_ENTRY.size
    overwrite(file.file.path, at, shared.to_bytes(4, "big"))
    (found,) = [each for each in findings_of(root) if each.kind.startswith("index")]
    assert found.kind == "index_chain_wrong"
    assert found.places == (Place(f"index/{file.file.path.name}", at, INDEX_ENTRY.size),)


def test_slots_of_entries_that_were_lost_are_right(tmp_path: Path) -> None:
    builder = shop(tmp_path / "store")
    for _ in range(8):
        builder.put("Orders", properties=(("KEYS", "again"),))
    root = builder.finish()
    path = sorted((root / "index").iterdir())[-1]
    count = INDEX_HEADER.unpack(path.read_bytes())["index_count"]
    overwrite(path, ENTRIES_AT + (count - 3) * INDEX_ENTRY.size, bytes(3 * INDEX_ENTRY.size))
    assert {found.kind for found in findings_of(root)} == {"index_entries_lost"}


def test_bytes_before_the_first_entry_are_named(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[0]
    overwrite(path, ENTRIES_AT + 1, b"\x40")
    (found,) = findings_of(root)
    assert (found.kind, found.places[0]) == (
        "index_entry_to_nothing",
        Place(f"index/{path.name}", ENTRIES_AT, INDEX_ENTRY.size),
    )


def test_two_entries_of_which_one_is_out_of_order_are_both_named_without_the_log(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "store")
    for number in range(12):
        builder.put(properties=(("KEYS", str(number)),))
    root = builder.finish()
    shutil.rmtree(root / "commitlog")
    path = sorted((root / "index").iterdir())[0]
    content = path.read_bytes()
    at = ENTRIES_AT + 6 * INDEX_ENTRY.size
    before = INDEX_ENTRY.unpack(content, at - INDEX_ENTRY.size)["physical_offset"]
    overwrite(path, at + INDEX_ENTRY.offsets["physical_offset"], (before - 1).to_bytes(LONG, "big"))
    (found,) = [each for each in findings_of(root) if each.kind == "index_entry_wrong"]
    assert found.places[0] == Place(f"index/{path.name}", at - INDEX_ENTRY.size, 2 * INDEX_ENTRY.size)


def test_an_entry_that_leads_before_every_log_is_not_expired(built: StoreBuilder) -> None:
    root = built.finish()
    path = sorted((root / "index").iterdir())[-1]
    at = ENTRIES_AT + 2 * INDEX_ENTRY.size + INDEX_ENTRY.offsets["physical_offset"]
    overwrite(path, at, (-(1 << 40)).to_bytes(LONG, "big", signed=True))
    (found,) = findings_of(root)
    assert found.kind == "index_entry_to_nothing"
    assert found.places[0].file_pos == at - INDEX_ENTRY.offsets["physical_offset"]


def test_keys_are_missed_up_to_the_last_message_that_the_index_has(tmp_path: Path) -> None:
    """A killed broker's database of queues may lack what the index has; an index file in between is missed all the
    same."""
    builder = shop(tmp_path / "store")
    root = builder.finish()
    (root / "abort").touch()
    for path in (root / "consumequeue").glob("*/*/*"):
        overwrite(path, 2 * CQ_UNIT.size, bytes(path.stat().st_size - 2 * CQ_UNIT.size))
    assert [found for found in findings_of(root) if found.kind == "index_keys_missing"] == []
    files = sorted((root / "index").iterdir())
    assert len(files) > 2
    files[1].unlink()
    assert "index_keys_missing" in {found.kind for found in findings_of(root)}
