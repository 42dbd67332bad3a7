"""IndexFiles by hand: geometry, queries with times and limits, broken chains, damage."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from parsers.damage.errors import CorruptRecord, UnreadableFile, unheard
from parsers.index.find import IndexQuery
from parsers.index.geometry import DEFAULT_GEOMETRY, Geometry, infer_geometry
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT, build_key
from parsers.index.open import open_index
from parsers.index.read import index_files, read_index
from parsers.index.schema import INDEX_ENTRY_SCHEMA
from parsers.layouts.layout import Layout
from parsers.store.store_file import StoreFile
from parsers.values.java import LONG_MAX, index_key_hash
from tests.support.files import Seen, put
from tests.support.index_slots import wrong_slots
from tests.support.peak_memory import grown_mib

GEOMETRY = Geometry(7, 40)
BEGIN_MS = 1_795_000_000_000
Put = tuple[str, int, int]


class Index:
    """One IndexFile in memory, written as IndexFile#putKey does (4.7.1 and later)."""

    def __init__(self, geometry: Geometry = GEOMETRY) -> None:
        self.geometry, self.data = geometry, bytearray(geometry.file_size)

    def put(self, key_hash: int, physical_offset: int, store_ms: int) -> None:
        header = INDEX_HEADER.unpack(self.data)
        number = max(1, header["index_count"])
        slot_at = INDEX_HEADER.size + key_hash % self.geometry.hash_slots * INDEX_SLOT.size
        older = INDEX_SLOT.unpack(self.data, slot_at)["newest_entry_no"]
        begin_ms = header["begin_timestamp_ms"]
        seconds = max(0, (store_ms - begin_ms) // 1000) if begin_ms else 0
        self.write(INDEX_ENTRY, self.entry_at(number), (key_hash, physical_offset, seconds, older))
        self.write(INDEX_SLOT, slot_at, (number,))
        begin = (begin_ms, header["begin_physical_offset"]) if number > 1 else (store_ms, physical_offset)
        used = header["hash_slot_count"] + (older == 0)
        self.write(INDEX_HEADER, 0, (begin[0], store_ms, begin[1], physical_offset, used, number + 1))

    def entry_at(self, number: int) -> int:
        return self.geometry.entries_at + number * INDEX_ENTRY.size

    def write(self, layout: Layout, at: int, row: tuple[int, ...]) -> None:
        self.data[at : at + layout.size] = layout.pack(dict(zip(layout.offsets, row, strict=True)))

    def set(self, layout: Layout, at: int, **fields: int) -> None:
        self.data[at : at + layout.size] = layout.pack({**layout.unpack(self.data, at), **fields})

    def save(self, root: Path, name: int = 20261121151356740) -> StoreFile:
        return put(root, f"index/{name}", bytes(self.data))


def index_of(*puts: Put, geometry: Geometry = GEOMETRY) -> Index:
    index = Index(geometry)
    for key, physical_offset, after_ms in puts:
        index.put(index_key_hash(build_key("T", key)), physical_offset, BEGIN_MS + after_ms)
    return index


SIX = [(key, 100 * number, 1500 * number) for number, key in enumerate("aababc", start=1)]


def places(files: list[StoreFile], key: str, **options: int) -> list[int]:
    return [hit.physical_offset for hit in IndexQuery(files, geometry=GEOMETRY).find("T", key, **options)]


def test_newest_first_over_files_and_up_to_the_number_asked_for(tmp_path: Path) -> None:
    older, newer = index_of(*SIX), index_of(("a", 900, 60_000), ("a", 950, 61_000))
    files = [older.save(tmp_path, 1), newer.save(tmp_path, 2)]
    assert places(files, "a") == [950, 900, 400, 200, 100]
    assert places(files, "a", max_num=3) == [950, 900, 400]
    assert places(files, "a", max_num=0) == []
    assert places(files, "nothing") == []
    hit = IndexQuery(files).find("T", "a")[2]
    assert (hit.file, hit.entry_no) == (files[0], 4)
    assert len(IndexQuery(files, max_msgs_num_batch=2).find("T", "a", max_num=64)) == 2


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (1500, 9000, [400, 200, 100]),
        (1500, 7499, [400, 200, 100]),
        (1500, 5499, [200, 100]),
        (2501, 9000, [400]),
        (0, 1499, []),
        (9001, LONG_MAX - BEGIN_MS, []),
        (1400, 9100, [400, 200, 100]),
    ],
)
def test_times_are_seconds_after_the_files_begin(tmp_path: Path, begin: int, end: int, expected: list[int]) -> None:
    """Entries of `a` lie at +1500, +2500 (stored at 3000) and +5500 (at 6000), the file at 1500 to 9000."""
    files = [index_of(*SIX).save(tmp_path)]
    assert places(files, "a", begin_ms=BEGIN_MS + begin, end_ms=BEGIN_MS + end) == expected


def test_times_beyond_a_long_are_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        places([index_of(*SIX).save(tmp_path)], "a", end_ms=2**63)


def test_a_file_that_begins_before_the_window_is_the_last_one_asked(tmp_path: Path) -> None:
    """IndexService#queryOffset stops there, although the older file overlaps the window."""
    older, newer = index_of(("a", 1, 0), ("a", 2, 90_000)), index_of(("a", 3, 1000))
    files = [older.save(tmp_path, 1), newer.save(tmp_path, 2)]
    assert places(files, "a", begin_ms=BEGIN_MS + 2000) == []
    assert places(files, "a", begin_ms=BEGIN_MS + 1000) == [3, 2]


def test_a_chain_ends_at_the_first_entry_before_the_window(tmp_path: Path) -> None:
    """Also where an older entry, stored before the clock was put back, lies in the window again."""
    files = [index_of(("x", 1, 0), ("a", 2, 5000), ("a", 3, 1000), ("a", 4, 6000)).save(tmp_path)]
    assert places(files, "a") == [4, 3, 2]
    assert places(files, "a", begin_ms=BEGIN_MS + 2000) == [4]


def test_a_negative_time_ends_the_chain(tmp_path: Path) -> None:
    index = index_of(*SIX)
    index.set(INDEX_ENTRY, index.entry_at(2), time_diff_s=-1)
    assert places([index.save(tmp_path)], "a") == [400]


def test_an_empty_file_answers_nothing(tmp_path: Path) -> None:
    files, seen = [Index().save(tmp_path)], Seen()
    assert IndexQuery(files, damage=seen).find("T", "a") == []
    (row,) = index_files(files).to_pylist()
    assert (row["entries"], row["hash_slots"], row["geometry_known"]) == (None, None, "it holds no entries to tell by")
    assert seen.rows == []


@pytest.mark.parametrize("geometry", [Geometry(7, 40), Geometry(500, 2000), Geometry(1, 8), Geometry(12, 3)])
def test_geometry_is_proven_by_the_chains(tmp_path: Path, geometry: Geometry) -> None:
    keys = [(f"key {number}", 77 * number, 10 * number) for number in range(1, geometry.max_entries)]
    (opened,) = open_index([index_of(*keys, geometry=geometry).save(tmp_path)])
    assert (opened.geometry, opened.why) == (geometry, "by its chains")
    assert opened.entries == geometry.max_entries - 1
    assert wrong_slots(opened) == []


def test_a_slot_that_is_behind_its_chain_proves_nothing(tmp_path: Path) -> None:
    geometry = Geometry(1, 8)
    index = index_of(*SIX[:3], geometry=geometry)
    assert infer_geometry(np.frombuffer(index.data, np.uint8)).geometry == geometry
    index.write(INDEX_SLOT, INDEX_HEADER.size, (2,))
    assert infer_geometry(np.frombuffer(index.data, np.uint8)).geometry is None


def test_the_default_geometry_by_its_size_alone(tmp_path: Path) -> None:
    file = put(tmp_path, "index/1", b"")
    with file.path.open("r+b") as sparse:
        sparse.truncate(DEFAULT_GEOMETRY.file_size)
    (row,) = index_files([file]).to_pylist()
    assert (row["hash_slots"], row["max_entries"], row["geometry_known"]) == (*DEFAULT_GEOMETRY, "by its size")


def test_an_unknown_geometry_is_told_and_can_be_given(tmp_path: Path) -> None:
    index = index_of(*SIX)
    index.set(INDEX_ENTRY, index.entry_at(6), key_hash=-3)
    file, seen = index.save(tmp_path), Seen()
    assert list(read_index([file], damage=seen)) == []
    assert [row.field for row in seen.rows] == ["geometry"]
    seen = Seen()
    (batch,) = read_index([file], geometry=GEOMETRY, damage=seen)
    assert batch["entry_no"].to_pylist() == [1, 2, 3, 4, 5]
    assert seen.places == [(index.entry_at(6), INDEX_ENTRY.size, None)]
    with pytest.raises(ValueError, match="0 slots"):
        open_index([file], geometry=Geometry(0, 5))


def test_the_other_files_geometry_stands_in(tmp_path: Path) -> None:
    broken = index_of(*SIX)
    broken.set(INDEX_ENTRY, broken.entry_at(6), key_hash=-3)
    files, seen = [index_of(*SIX).save(tmp_path, 1), broken.save(tmp_path, 2), Index().save(tmp_path, 3)], Seen()
    rows = pa.Table.from_batches(read_index(files, damage=seen), INDEX_ENTRY_SCHEMA)
    assert len(rows) == 6 + 5
    assert [(row.path, row.field) for row in seen.rows] == [(files[1].path, "geometry"), (files[1].path, None)]


def test_a_neighbour_in_the_folder_tells_the_geometry(tmp_path: Path) -> None:
    broken, seen = index_of(*SIX), Seen()
    broken.set(INDEX_ENTRY, broken.entry_at(6), key_hash=-3)
    index_of(*SIX).save(tmp_path, 1)
    put(tmp_path, "index/3", b"no index")
    (batch,) = read_index([broken.save(tmp_path, 2)], damage=seen)
    assert batch.num_rows == 5
    assert [row.field for row in seen.rows] == ["geometry", None]


@pytest.mark.parametrize("links", [{4: 4}, {4: 5, 5: 4}, {6: 5, 5: 6}, {2: 6}])
def test_a_chain_that_loops_ends(tmp_path: Path, links: dict[int, int]) -> None:
    index = index_of(*[(f"{number}", number, 0) for number in range(1, 7)], geometry=Geometry(1, 40))
    for number, older in links.items():
        index.set(INDEX_ENTRY, index.entry_at(number), prev_index_no=older)
    seen = Seen()
    query = IndexQuery([index.save(tmp_path)], geometry=Geometry(1, 40), damage=seen)
    query.find("T", "no such key")
    itself = links == {4: 4}
    assert [row.field for row in seen.rows] == ([] if itself else ["prev_index_no"])


def test_a_chain_that_leaves_the_file_ends(tmp_path: Path) -> None:
    index = index_of(*SIX)
    index.set(INDEX_HEADER, 0, index_count=2**31 - 1)
    index.set(INDEX_ENTRY, index.entry_at(6), prev_index_no=2**31 - 2)
    seen = Seen()
    query = IndexQuery([index.save(tmp_path)], geometry=GEOMETRY, damage=seen)
    found = query.find("T", "c")
    assert [hit.physical_offset for hit in found] == [600]
    assert [row.field for row in seen.rows] == ["index_count", "newest_entry_no"]


TEXTS = st.text(st.sampled_from("ab\u00e9\U0001f600\ud800"), max_size=6)


@settings(max_examples=40)
@given(
    files=st.lists(st.lists(st.tuples(TEXTS, st.integers(0, 9000)), min_size=1, max_size=12), min_size=1, max_size=3),
    links=st.lists(st.tuples(st.integers(1, 12), st.integers(-1, 50)), max_size=3),
    most=st.integers(-1, 5),
    begin=st.integers(0, 12_000),
    others=st.lists(TEXTS, max_size=5),
)
@example(files=[[("a", 0), ("b", 0), ("a", 1), ("b", 1)]] * 2, links=[(1, 3), (2, 4)], most=5, begin=0, others=[])
def test_many_keys_lead_to_what_each_leads_to_by_itself(
    files: list[list[tuple[str, int]]], links: list[tuple[int, int]], most: int, begin: int, others: list[str]
) -> None:
    """With broken chains too, which are reported in the same order."""
    keys = [*{key for puts in files for key, _ in puts}, *others]
    with TemporaryDirectory() as folder:
        stored = []
        for number, puts in enumerate(files):
            index = index_of(*[(key, at, 10_000 * number + after) for at, (key, after) in enumerate(puts)])
            for entry, older in links:
                index.set(INDEX_ENTRY, index.entry_at(entry), prev_index_no=older)
            stored.append(index.save(Path(folder), 20261121151356740 + number))
        alone, together = Seen(), Seen()
        one = IndexQuery(stored, geometry=GEOMETRY, damage=alone)
        all_ = IndexQuery(stored, geometry=GEOMETRY, damage=together)
        expected = [
            (row, hit.physical_offset, hit.file, hit.entry_no)
            for row, key in enumerate(keys)
            for hit in one.find("T", key, max_num=most, begin_ms=BEGIN_MS + begin)
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("parsers.index.find.KEYS_AT_ONCE", 3)
            told = list(all_.find_all("T", keys, max_num=most, begin_ms=BEGIN_MS + begin))
    rows = [row for each in told for row in zip(*(column.tolist() for column in each), strict=True)]
    assert [(key, at, all_.newest_first[file], entry) for key, at, file, entry in rows] == expected
    assert together.rows == alone.rows


def test_impossible_entries_are_damage_and_the_others_rows(tmp_path: Path) -> None:
    index = index_of(*SIX)
    index.set(INDEX_ENTRY, index.entry_at(2), prev_index_no=2)
    index.set(INDEX_ENTRY, index.entry_at(3), time_diff_s=-1)
    index.set(INDEX_ENTRY, index.entry_at(5), physical_offset=-1)
    seen, file = Seen(), index.save(tmp_path)
    (batch,) = read_index([file], geometry=GEOMETRY, damage=seen)
    assert batch["entry_no"].to_pylist() == [1, 4, 6]
    assert seen.places == [(index.entry_at(2), 40, None), (index.entry_at(5), 20, None)]
    with pytest.raises(CorruptRecord, match="no broker writes"):
        list(read_index([file], geometry=GEOMETRY))


@pytest.mark.parametrize("size", [0, 12, 39, 40, 50, 100, 300])
def test_a_file_cut_short(tmp_path: Path, size: int) -> None:
    seen = Seen()
    whole, cut = index_of(*SIX).save(tmp_path, 1), put(tmp_path, "index/2", bytes(index_of(*SIX).data[:size]))
    rows = sum(batch.num_rows for batch in read_index([whole, cut], damage=seen))
    room = max(0, (size - GEOMETRY.entries_at) // INDEX_ENTRY.size - 1)
    assert rows == 6 + min(room, 6)
    assert {row.path for row in seen.rows} == {cut.path}
    assert IndexQuery([whole, cut], damage=seen).find("T", "a")[-1].physical_offset == 100


def test_wrong_slots_are_named(tmp_path: Path) -> None:
    index = index_of(*SIX)
    newest = [INDEX_SLOT.unpack(index.data, 40 + 4 * slot)["newest_entry_no"] for slot in range(7)]
    wrong_at = 40 + 4 * newest.index(0)
    index.write(INDEX_SLOT, wrong_at, (max(newest),))
    (opened,) = open_index([index.save(tmp_path)], geometry=GEOMETRY)
    assert wrong_slots(opened) == [wrong_at]


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    file, seen = index_of(*SIX).save(tmp_path), Seen()
    file.path.unlink()
    assert list(read_index([file], damage=seen)) == []
    assert [row.kind for row in seen.rows] == [UnreadableFile.__name__]


def test_a_geometry_is_looked_for_only_where_bytes_are(tmp_path: Path) -> None:
    file, size = index_of(*SIX).save(tmp_path), 3 << 30
    with file.path.open("r+b") as sparse:
        sparse.truncate(size)
    assert grown_mib(_look_for_no_geometry, file) < 256


def _look_for_no_geometry(file: StoreFile) -> None:
    (row,) = index_files([file], damage=unheard).to_pylist()
    assert row["geometry_known"] == "no number of slots fits its size and its chains"
