"""DLedger logs: what is read of a whole one, and every break named, by field, at its place."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import read_segment, regions_of
from parsers.commitlog.dledger_headers.entry import decode_header
from parsers.commitlog.dledger_headers.layout import ENTRY_HEADER, ENTRY_INDEX_UNIT, HEADER_SIZE
from parsers.commitlog.record.message import Message, decode_message
from parsers.damage.errors import Damage, StoreFormatError
from parsers.dledger.entries import STORED, read_entries
from parsers.dledger.index import read_entry_index
from parsers.dledger.state import DLedgerState, read_state
from parsers.explain.explain import explain, explain_file
from parsers.store.store import open_store
from parsers.store.store_file import StoreFile, locate
from tests.support.build_store import overwrite
from tests.support.cli import call
from tests.support.dledger_log import NODE, DLedgerLog, dledger_log
from tests.support.new_message import new_message
from tests.support.small_log import SmallLog

FIRST_MS = 1_795_000_000_000
COUNT = 40


def some_messages(count: int = COUNT) -> list[Message]:
    return [
        new_message("Orders", b"body of message %d" % number, queue_offset=number, store_timestamp_ms=FIRST_MS + number)
        for number in range(count)
    ]


@pytest.fixture
def log(tmp_path: Path) -> DLedgerLog:
    return dledger_log(tmp_path, some_messages())


def told(file: StoreFile) -> list[tuple[str, int, int, str | None]]:
    """Each region: kind, where, messages in it, and the field that disagrees."""
    return [(r.kind, r.file_pos, r.records, r.error.field if r.error else None) for r in regions_of(file)]


def queue_offsets(files: list[StoreFile]) -> list[int]:
    return [value for batch in read_commitlog(files) for value in batch["queue_offset"].to_pylist()]


def header_write(log: DLedgerLog, number: int, field: str, value: int) -> int:
    """Another value in the header of an entry of the first file; where the entry stands."""
    at, width = log.headers[number].position, {"q": 8, "i": 4}
    code = next(known.code for known in ENTRY_HEADER.fields if known.name == field)
    path = log.files()[0].path
    overwrite(path, at + ENTRY_HEADER.offsets[field], value.to_bytes(width[code], "big", signed=True))
    return at


def test_entries_are_messages_behind_headers(log: DLedgerLog) -> None:
    files = log.files()
    assert len(files) >= 2
    damage: list[Damage] = []
    table = pa.Table.from_batches(read_commitlog(files, damage=damage.append))
    assert table["queue_offset"].to_pylist() == list(range(COUNT))
    assert table["physical_offset"].to_pylist() == [header.position + HEADER_SIZE for header in log.headers]
    assert damage == []
    for file in files:
        regions = regions_of(file)
        assert [region.kind for region in regions][:1] == ["messages"]
        assert sum(region.length for region in regions) == file.size
    assert [region.kind for region in regions_of(files[0])] == ["messages", "blank"]


def test_entries_index_and_state_say_the_same(log: DLedgerLog) -> None:
    store = open_store(log.root)
    assert store.log_is_dledgers
    assert store.not_understood == []
    entries = pa.Table.from_batches(read_entries(store.commitlog)).select(STORED)
    units = pa.Table.from_batches(read_entry_index(store.dledger)).select(STORED)
    assert entries.to_pylist() == units.to_pylist()
    assert entries.to_pylist() == [{name: getattr(header, name) for name in STORED} for header in log.headers]
    assert read_state(store.dledger) == DLedgerState(0, "n0", COUNT - 1, COUNT - 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("magic", 7),
        ("entry_size", 50),
        ("entry_index", 99),
        ("term", 3),
        ("term", -1),
        ("position", 5),
        ("channel", 1),
        ("chain_crc", 1),
        ("entry_body_crc", 1),
        ("entry_body_size", 8),
    ],
)
def test_a_wrong_header_is_damage_and_its_message_a_row(log: DLedgerLog, field: str, value: int) -> None:
    at = header_write(log, 4, field, value)
    file = log.files()[0]
    expected = "entry_size" if field == "entry_body_size" else field
    assert ("damage", at, 1, expected) in told(file)
    assert len([region for region in told(file) if region[0] == "damage"]) == 1
    assert queue_offsets(log.files()) == list(range(COUNT))
    assert sum(region.length for region in regions_of(file)) == file.size


def test_every_bit_of_a_header_matters(log: DLedgerLog) -> None:
    file, at = log.files()[0], log.headers[4].position
    clean = file.path.read_bytes()
    for place in range(at, at + HEADER_SIZE):
        for bit in range(8):
            overwrite(file.path, place, bytes([clean[place] ^ 1 << bit]))
            damaged = [region[1:3] for region in told(file) if region[0] == "damage"]
            assert damaged == [(at, 1)], (place - at, bit)
        overwrite(file.path, place, clean[place : place + 1])
    assert queue_offsets(log.files()) == list(range(COUNT))


def test_a_known_entry_without_a_message_is_named_so(log: DLedgerLog) -> None:
    header_write(log, 4, "magic", 2)
    damage: list[Damage] = []
    list(read_commitlog(log.files(), damage=damage.append))
    assert [found.kind for found in damage] == ["UnsupportedVersion"]


def test_a_gap_in_the_numbers_is_named_once(tmp_path: Path) -> None:
    log = DLedgerLog(tmp_path)
    for number, message in enumerate(some_messages(12)):
        log.first_index = 0 if number < 5 else 3
        log.put(message)
    assert [(kind, field) for kind, _, _, field in told(log.files()[0]) if kind == "damage"] == [
        ("damage", "entry_index")
    ]


def test_a_term_that_falls_is_named_where_it_falls(tmp_path: Path) -> None:
    log = DLedgerLog(tmp_path)
    for number, message in enumerate(some_messages(12)):
        log.put(message, term=2 if number < 5 else 1)
    damaged = [(at, field) for kind, at, _, field in told(log.files()[0]) if kind == "damage"]
    assert damaged == [(log.headers[5].position, "term")]


def test_a_term_that_rises_is_no_damage(tmp_path: Path) -> None:
    log = DLedgerLog(tmp_path)
    for number, message in enumerate(some_messages(12)):
        log.put(message, term=number // 3)
    assert [kind for kind, *_ in told(log.files()[0])] == ["messages", "unwritten"]


def test_a_broken_message_is_damage_up_to_the_next_entry(log: DLedgerLog) -> None:
    header = log.headers[4]
    overwrite(log.files()[0].path, header.position + HEADER_SIZE + 4, b"\x0b\xad\xca\xfe")
    file = log.files()[0]
    assert ("damage", header.position, 0, "magic_code") in told(file)
    assert ("messages", log.headers[5].position) in [region[:2] for region in told(file)]
    assert queue_offsets(log.files()) == [number for number in range(COUNT) if number != 4]


def test_zeros_instead_of_a_header_lose_no_message(log: DLedgerLog) -> None:
    at = log.headers[4].position
    overwrite(log.files()[0].path, at, bytes(HEADER_SIZE))
    assert ("damage", at, 1, "magic") in told(log.files()[0])
    assert queue_offsets(log.files()) == list(range(COUNT))


def test_a_blank_that_does_not_reach_the_end_is_damage(log: DLedgerLog) -> None:
    file = log.files()[0]
    blank_at = regions_of(file)[-1].file_pos
    overwrite(file.path, blank_at + 4, (9).to_bytes(4, "big"))
    assert told(file)[-1] == ("damage", blank_at, 0, "entry_size")


def test_damage_before_a_blank_ends_at_the_blank(log: DLedgerLog) -> None:
    file = log.files()[0]
    blank_at = regions_of(file)[-1].file_pos
    last = max(h.position for h in log.headers if h.position < blank_at)
    overwrite(file.path, last, b"\xff" * (blank_at - last))
    assert [region[:2] for region in told(file)][-2:] == [("damage", last), ("blank", blank_at)]


def test_a_file_cut_anywhere_gives_what_is_left(log: DLedgerLog, tmp_path: Path) -> None:
    content = log.files()[0].path.read_bytes()
    ends = [header.position + header.entry_size for header in log.headers if header.position < len(content)]
    path = tmp_path / "cut" / NODE / "data" / f"{0:020d}"
    path.parent.mkdir(parents=True)
    for cut in range(0, len(content), 37):
        path.write_bytes(content[:cut])
        (file,) = open_store(tmp_path / "cut").commitlog
        rows = sum(batch.num_rows for batch in read_segment(file))
        assert rows == len([end for end in ends if end <= cut])
        assert sum(region.length for region in regions_of(file)) == cut


@pytest.mark.parametrize("pieces", [2, 5, 13])
def test_slices_give_each_entry_once(log: DLedgerLog, pieces: int) -> None:
    found: list[int] = []
    for file in log.files():
        cuts = [file.size * piece // pieces for piece in range(pieces + 1)]
        for start, end in pairwise(cuts):
            for batch in read_segment(file, between=(start, end)):
                found += batch["queue_offset"].to_pylist()
    assert found == list(range(COUNT))


def test_every_byte_is_explained(log: DLedgerLog) -> None:
    for path in sorted((log.root / NODE).rglob("*")):
        if path.is_file():
            lines = list(explain(path))
            assert [line.file_pos for line in lines] == [0, *(line.end for line in lines[:-1])]
            assert lines[-1].end == path.stat().st_size
    first = next(iter(explain_file(log.files()[0])))
    assert (first.field, first.value) == ("magic", "0x1")
    unit = list(explain(log.root / NODE / "index" / f"{0:020d}", at=3 * ENTRY_INDEX_UNIT.size, count=1))
    assert unit[0].group == "unit 3: entry 3"


def test_files_from_before_the_switch_are_the_head_of_the_log(tmp_path: Path) -> None:
    old = SmallLog(size=4096)
    old.put(3)
    old.end()
    old.save(tmp_path)
    log = DLedgerLog(tmp_path, base_offset=4096)
    for message in some_messages(5):
        log.put(message)
    store = open_store(log.finish())
    assert [file.kind for file in store.commitlog] == ["commitlog", "dledger"]
    damage: list[Damage] = []
    batches = read_commitlog(store, damage=damage.append)
    assert [value for batch in batches for value in batch["queue_offset"].to_pylist()] == [0, 1, 2, 0, 1, 2, 3, 4]
    assert damage == []
    assert len(pa.Table.from_batches(read_entries(store.commitlog))) == 5


def test_a_log_by_itself_is_a_store(log: DLedgerLog, tmp_path: Path) -> None:
    alone = open_store(log.root / NODE)
    assert [file.path for file in alone.commitlog] == [file.path for file in log.files()]
    elsewhere = tmp_path / "disk2"
    os.rename(log.root / NODE / "data", elsewhere)
    store = open_store(log.root, dledger_folders=[elsewhere])
    assert queue_offsets(store.commitlog) == list(range(COUNT))


def test_of_two_nodes_the_one_written_last_is_read(log: DLedgerLog, tmp_path: Path) -> None:
    other = dledger_log(tmp_path / "other", some_messages(3))
    os.rename(other.root / NODE, log.root / "dledger-n1")
    for path in (log.root / "dledger-n1").rglob("*"):
        os.utime(path, (1, 1))
    store = open_store(log.root)
    assert queue_offsets(store.commitlog) == list(range(COUNT))
    assert {found.why for found in store.not_understood} == {
        "the DLedger log of another node: dledger-n0 was written later"
    }


def test_a_copy_under_another_name_is_placed_by_its_records(log: DLedgerLog, tmp_path: Path) -> None:
    second = log.files()[1]
    path = tmp_path / "copy.bin"
    path.write_bytes(second.path.read_bytes())
    copy = StoreFile(path, "dledger", second.size, 0)
    rows = pa.Table.from_batches(read_segment(copy))
    assert rows["physical_offset"][0].as_py() == 4096 + HEADER_SIZE
    assert len(rows) == len(pa.Table.from_batches(read_segment(second)))
    assert pa.Table.from_batches(read_entries([copy]))["position"][0].as_py() == 4096


def test_a_wrong_unit_of_the_index_is_damage(log: DLedgerLog) -> None:
    path = log.root / NODE / "index" / f"{0:020d}"
    overwrite(path, 6 * ENTRY_INDEX_UNIT.size + ENTRY_INDEX_UNIT.offsets["entry_index"], b"\xff")
    damage: list[Damage] = []
    batches = read_entry_index(open_store(log.root).dledger, damage=damage.append)
    numbers = [value for batch in batches for value in batch["entry_index"].to_pylist()]
    assert numbers == [number for number in range(COUNT) if number != 6]
    assert [(found.file_pos, found.length) for found in damage] == [(6 * 32, 32)]
    with pytest.raises(StoreFormatError):
        list(read_entry_index(open_store(log.root).dledger))


@pytest.mark.parametrize(
    "text", [b"currTerm=abc\n", b"no value\n", b"endIndex=99999999999999999999\n", b"\xff\xfe=1\n"]
)
def test_a_state_that_is_none(log: DLedgerLog, text: bytes) -> None:
    (log.root / NODE / "currterm").write_bytes(text)
    damage: list[Damage] = []
    state = read_state(open_store(log.root).dledger, damage=damage.append)
    assert state.current_term is None
    assert len(damage) == (0 if b"=1" in text else 1)


def test_the_places_of_its_files(log: DLedgerLog) -> None:
    kinds = {path.name: locate(path).kind for path in (log.root / NODE).iterdir() if path.is_file()}
    assert kinds == {"currterm": "dledger_state", "checkpoint": "dledger_state"}
    assert locate(log.root / NODE / "index" / f"{0:020d}").kind == "dledger_index"
    assert locate(log.files()[1].path).kind == "dledger"


def test_dump_dledger(log: DLedgerLog) -> None:
    rows = call("dump", "dledger", log.root).rows
    assert [row["entry_index"] for row in rows] == list(range(COUNT))
    assert rows[0]["file"] == f"{NODE}/data/{0:020d}"
    assert call("dump", "dledger", log.files()[0].path, "--limit", "1").rows[0]["msg_size"] == rows[0]["msg_size"]
    units = call("dump", "dledger", log.root, "--index").rows
    assert [unit["position"] for unit in units] == [row["position"] for row in rows]
    (state,) = call("dump", "dledger", log.root, "--state").rows
    assert state["end_index"] == COUNT - 1
    assert call("dump", "dledger", log.root, "--state", "--index").code == 2
    messages = call("dump", "commitlog", log.root).rows
    assert {row["file"] for row in messages} == {row["file"] for row in rows}


def test_a_copy_is_told_from_a_commitlog_by_its_first_bytes(log: DLedgerLog, tmp_path: Path) -> None:
    copy = tmp_path / f"{0:020d}"
    copy.write_bytes(log.files()[0].path.read_bytes())
    places = [header.position + HEADER_SIZE for header in log.headers if header.position < copy.stat().st_size]
    assert [row["physical_offset"] for row in call("dump", "commitlog", copy).rows] == places
    assert {row["kind"] for row in call("dump", "regions", copy).rows} == {"messages", "blank"}


def test_headers_are_read_as_written(log: DLedgerLog) -> None:
    content = log.files()[0].path.read_bytes()
    for header in log.headers:
        if header.position < len(content):
            assert decode_header(content, header.position) == header
            message = decode_message(content, header.position + HEADER_SIZE)
            assert message.total_size == header.entry_body_size
