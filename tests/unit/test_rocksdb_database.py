"""Databases with everything in them that a broker leaves, and everything that breaks them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from rocksdict import DBCompressionType, Options, Rdict

from parsers.config.document import read_document
from parsers.damage.errors import CorruptRecord, Damage, StoreFormatError, UnreadableFile, UnsupportedVersion
from parsers.queues.store_queues import StoreQueues, read_units, unit_files
from parsers.rocksdb.database import Database
from parsers.rocksdb.layout import DATABASE_UNIT, KEY_LIMIT, KEY_QUEUE, KEY_TOPIC, KEY_UNIT, QUEUE_LIMIT
from parsers.store.store import Store, open_store
from parsers.store.store_file import StoreFile
from recovery.verify.verify import verify
from tests.support.copies import copy_tree
from tests.support.evidence import state
from tests.support.opened import opened
from tests.support.stores import store_root

TOPIC, UNIT_BYTES = b"T", 100


def topic_key(topic: bytes = TOPIC) -> bytes:
    return KEY_TOPIC.pack({"topic_size": len(topic), "separator": 1}) + topic


def unit_key(queue_offset: int, queue_id: int = 0, topic: bytes = TOPIC) -> bytes:
    queue = KEY_QUEUE.pack({"separator": 1, "queue_id": queue_id, "separator_2": 1})
    return topic_key(topic) + queue + KEY_UNIT.pack({"queue_offset": queue_offset})


def unit(queue_offset: int) -> bytes:
    row = {"msg_size": UNIT_BYTES, "tags_code": 7, "store_timestamp_ms": 1000 + queue_offset}
    return DATABASE_UNIT.pack({"physical_offset": queue_offset * UNIT_BYTES, **row})


def limit_key(which: bytes, queue_id: int = 0) -> bytes:
    return topic_key() + b"\1" + which + KEY_LIMIT.pack({"separator": 1, "queue_id": queue_id})


def limit(queue_offset: int) -> bytes:
    return QUEUE_LIMIT.pack({"physical_offset": queue_offset * UNIT_BYTES, "queue_offset": queue_offset})


def store_with(root: Path, units: dict[bytes, bytes], limits: dict[bytes, bytes]) -> Store:
    """A store with a database of queues and nothing else."""
    opened = Rdict(str(root / "consumequeue"), options=Options(raw_mode=True))
    offsets = opened.create_column_family("offset", Options(raw_mode=True))
    for key, value in units.items():
        opened[key] = value
    for key, value in limits.items():
        offsets[key] = value
    opened.close()
    return open_store(root)


def units_of(store: Store) -> list[tuple[int, str]]:
    with StoreQueues(store) as queues:
        rows = [row for batch in queues["T", 0].batches() for row in batch.to_pylist()]
    return [(row["queue_offset"], row["kind"]) for row in rows]


def test_units_outside_the_limits_are_told_and_not_counted(tmp_path: Path) -> None:
    limits = {limit_key(b"min"): limit(2), limit_key(b"max"): limit(4)}
    store = store_with(tmp_path, {unit_key(number): unit(number) for number in range(7)}, limits)
    kinds = ["expired", "expired", "unit", "unit", "unit", "stale", "stale"]
    assert units_of(store) == list(enumerate(kinds))
    with StoreQueues(store) as queues:
        summary = queues["T", 0].summary(0)
        assert (summary.min_queue_offset, summary.max_queue_offset, summary.units) == (2, 5, 3)
        assert queues["T", 0].pointer(5) is None
        assert summary.max_physical_offset == 5 * UNIT_BYTES


@pytest.mark.parametrize(("commitlog_min", "least"), [(0, 2), (200, 2), (201, 3), (399, 4), (400, 4), (401, 5)])
def test_the_minimum_is_put_right_where_its_record_is_gone(tmp_path: Path, commitlog_min: int, least: int) -> None:
    limits = {limit_key(b"min"): limit(2), limit_key(b"max"): limit(4)}
    store = store_with(tmp_path, {unit_key(number): unit(number) for number in range(5)}, limits)
    with StoreQueues(store) as queues:
        assert queues["T", 0].ends(commitlog_min) == (least, 5)


def test_a_queue_without_a_last_message_is_empty_whatever_its_units(tmp_path: Path) -> None:
    store = store_with(tmp_path, {unit_key(0): unit(0)}, {limit_key(b"min", 5): limit(0)})
    assert units_of(store) == [(0, "stale")]
    with StoreQueues(store) as queues:
        assert set(queues) == {("T", 0)}
        assert queues["T", 0].ends(0) == (0, 0)
        assert queues["T", 0].last_pointer() is None


@pytest.mark.parametrize("compression", ["none", "snappy", "zlib", "lz4", "lz4hc", "zstd"])
def test_blocks_of_every_compression_are_read(tmp_path: Path, compression: str) -> None:
    options = Options(raw_mode=True)
    options.set_compression_type(getattr(DBCompressionType, compression)())
    opened = Rdict(str(tmp_path / "consumequeue"), options=options)
    opened.create_column_family("offset", Options(raw_mode=True))[limit_key(b"max")] = limit(999)
    for number in range(1000):
        opened[unit_key(number)] = unit(number)
    opened.flush()
    opened.close()
    assert units_of(open_store(tmp_path)) == [(number, "unit") for number in range(1000)]


def test_deleted_queues_are_gone(tmp_path: Path) -> None:
    units = {unit_key(number, queue): unit(number) for number in range(3) for queue in range(2)}
    store_with(tmp_path, units, {limit_key(b"max", 1): limit(2)})
    folder = str(tmp_path / "consumequeue")
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(folder)}
    opened = Rdict(folder, options=Options(raw_mode=True), column_families=families)
    prefix = unit_key(0)[: -KEY_UNIT.size - 1]
    opened.delete_range(prefix + b"\0", prefix + b"\2")
    opened.close()
    with StoreQueues(open_store(tmp_path)) as queues:
        assert set(queues) == {("T", 1)}


def test_holes_stay_holes(tmp_path: Path) -> None:
    units = {unit_key(number): unit(number) for number in (0, 3, 4)}
    store = store_with(tmp_path, units, {limit_key(b"max"): limit(4)})
    assert [number for number, _ in units_of(store)] == [0, 3, 4]
    with StoreQueues(store) as queues:
        assert queues["T", 0].pointer(1) is None
        assert queues["T", 0].summary(0).units == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", b"x"),
        (b"\xff\xff\xff\xff\1", b""),
        (unit_key(1)[:-1], unit(1)),
        (unit_key(1) + b"\0", unit(1)),
        (unit_key(1), unit(1)[:-1]),
        (unit_key(1), unit(1) + b"\0"),
        (unit_key(1), DATABASE_UNIT.pack(dict.fromkeys(DATABASE_UNIT.offsets, -1))),
        (unit_key(-1), unit(1)),
        (topic_key()[:3], unit(1)),
        (unit_key(1).replace(b"T", b"\xff"), b"no unit"),
    ],
)
def test_what_is_no_unit_is_damage_and_the_others_are_read(tmp_path: Path, key: bytes, value: bytes) -> None:
    units = {unit_key(number): unit(number) for number in (0, 2)}
    store = store_with(tmp_path, {**units, key: value}, {limit_key(b"max"): limit(2)})
    damage: list[Damage] = []
    with StoreQueues(store, damage=damage.append) as queues:
        for queue in queues.values():
            list(queue.batches())
            queue.summary(0)
        rows = [row for batch in queues["T", 0].batches() for row in batch.to_pylist()]
    assert [row["queue_offset"] for row in rows] == [0, 2]
    assert {found.kind for found in damage} == {"CorruptRecord"}
    with pytest.raises(CorruptRecord):
        read_strictly(store)


def read_strictly(store: Store) -> None:
    with StoreQueues(store) as queues:
        for queue in queues.values():
            list(queue.batches())


@pytest.mark.parametrize("key", [limit_key(b"mid"), limit_key(b"max")[:-1], b"\0"])
def test_what_is_no_limit_is_damage(tmp_path: Path, key: bytes) -> None:
    store = store_with(tmp_path, {unit_key(0): unit(0)}, {key: limit(0), limit_key(b"max"): limit(0)})
    damage: list[Damage] = []
    with StoreQueues(store, damage=damage.append) as queues:
        assert queues["T", 0].ends(0) == (0, 1)
    assert [found.field for found in damage] == ["limit"]


UNITS_TABLE, LIMITS_TABLE = "000011.sst", "000010.sst"
"""The tables of the golden store's database."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that stands in for the system's temporary one, once the golden store is unpacked there."""
    store_root("5.5.0-rocksdb")
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def copied(tmp_path: Path, name: str = "5.5.0-rocksdb") -> Path:
    return copy_tree(store_root(name), tmp_path / "store")


def flip(path: Path, at: int) -> None:
    stored = bytearray(path.read_bytes())
    stored[at] ^= 0x10
    path.write_bytes(stored)


def test_a_broken_block_is_not_taken_for_the_end(tmp_path: Path) -> None:
    root = copied(tmp_path)
    broken = root / "consumequeue" / UNITS_TABLE
    flip(broken, 100)
    damage: list[Damage] = []
    with StoreQueues(open_store(root), damage=damage.append) as queues:
        summaries = [queue.summary(0) for queue in queues.values()]
        units = sum(batch.num_rows for queue in queues.values() for batch in queue.batches())
    assert summaries
    assert units < 355
    assert {(found.path, found.kind) for found in damage} == {(broken, "CorruptRecord")}
    assert {found.kind for found in verify(*opened(root)).findings} >= {"queue_database_damaged"}


def test_a_broken_table_of_topics_is_a_finding_at_its_file(tmp_path: Path) -> None:
    root = copied(tmp_path)
    flip(root / "config" / "topics" / "MANIFEST-000005", 100)
    findings = {finding.kind: finding for finding in verify(*opened(root)).findings}
    assert findings["config_unreadable"].places[0].file == "config/topics/MANIFEST-000005"


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-000005"])
def test_a_database_that_cannot_be_opened_is_one_damage(tmp_path: Path, name: str, temporary: Path) -> None:
    root = copied(tmp_path)
    (root / "consumequeue" / name).unlink()
    with pytest.raises(UnreadableFile) as told:
        Database(root / "consumequeue")
    assert told.value.path == root / "consumequeue" / name
    assert list(temporary.iterdir()) == []
    damage: list[Damage] = []
    with StoreQueues(open_store(root), damage=damage.append) as queues:
        assert dict(queues) == {}
        assert queues.unread is not None
    assert len(damage) == 1
    verification = verify(*opened(root))
    assert [finding.kind for finding in verification.findings] == ["queue_database_damaged"]
    assert "not compared" in {found.what for found in verification.explained}


def test_a_lost_table_leaves_the_others(tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / "consumequeue" / UNITS_TABLE).unlink()
    damage: list[Damage] = []
    with StoreQueues(open_store(root), damage=damage.append) as queues:
        ends = {key: queue.ends(0) for key, queue in queues.items()}
        rows = [batch for queue in queues.values() for batch in queue.batches()]
    assert (ends["Small", 0], rows) == ((0, 68), [])
    assert root / "consumequeue" / UNITS_TABLE in {found.path for found in damage}


def test_lost_limits_make_every_unit_stale(tmp_path: Path) -> None:
    root = copied(tmp_path)
    flip(root / "consumequeue" / LIMITS_TABLE, 100)
    damage: list[Damage] = []
    with StoreQueues(open_store(root), damage=damage.append) as queues:
        kinds = {row["kind"] for queue in queues.values() for batch in queue.batches() for row in batch.to_pylist()}
    assert kinds == {"stale"}
    assert {found.path for found in damage} == {root / "consumequeue" / LIMITS_TABLE}


def test_a_manifest_that_lost_its_end_is_noticed(tmp_path: Path) -> None:
    root = copied(tmp_path)
    manifest = root / "consumequeue" / "MANIFEST-000005"
    manifest.write_bytes(manifest.read_bytes()[:-60])
    with Database(root / "consumequeue") as opened:
        flaws = list(opened.flaws)
    assert {flaw.field for flaw in flaws} == {"table"}


def test_a_machine_without_rocksdb_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_with(tmp_path, {unit_key(0): unit(0)}, {})
    monkeypatch.setitem(__import__("sys").modules, "rocksdict", None)
    with pytest.raises(UnsupportedVersion, match="rocksdict"):
        StoreQueues(store)


def test_a_pipe_among_the_files_holds_nobody_up(tmp_path: Path) -> None:
    root = copied(tmp_path)
    os.mkfifo(root / "consumequeue" / "000099.sst")
    with Database(root / "consumequeue") as opened:
        assert sum(len(pairs) for pairs in opened.pairs("default")) == 355


def test_reading_leaves_the_folder_and_the_temporary_folder_as_they_were(tmp_path: Path, temporary: Path) -> None:
    root = copied(tmp_path)
    before = state(root)
    store = open_store(root)
    with StoreQueues(store) as queues:
        assert sum(batch.num_rows for queue in queues.values() for batch in queue.batches()) == 355
    assert read_document(store.config, "topics.json") is not None
    (file,) = unit_files(store)
    assert sum(batch.num_rows for batch in read_units(file, topics=["Small"])) == 222
    assert state(root) == before
    assert list(temporary.iterdir()) == []


def json_file(root: Path, name: str, text: str) -> StoreFile:
    path = root / name
    path.write_text(text, "utf-8")
    return StoreFile(path, "config", len(text), 0)


@pytest.mark.parametrize(("counter", "wins"), [(3, False), (4, True)])
def test_the_table_that_changed_more_often_counts(tmp_path: Path, counter: int, wins: bool) -> None:
    config = open_store(store_root("5.5.0-rocksdb")).config
    changed = f'{{"dataVersion":{{"counter":{counter}}}'
    topics = changed + ',"topicConfigTable":{"Own":{"topicName":"Own","perm":4}}}'
    document = read_document([*config, json_file(tmp_path, "topics.json", topics)], "topics.json")
    assert document is not None
    assert ("Own" in document.table("topicConfigTable")) == wins
    assert "Small" in document.table("topicConfigTable")
    offsets = changed + ',"offsetTable":{"A@B":{0:9}}}'
    found = read_document([*config, json_file(tmp_path, "consumerOffset.json", offsets)], "consumerOffset.json")
    assert found is not None
    assert found.table("offsetTable") == {"A@B": {"0": 9}}


@pytest.mark.parametrize("folder", ["consumequeue", "config/topics", "config/subscriptionGroups"])
def test_every_flip_and_cut_gives_rows_or_typed_damage(tmp_path: Path, folder: str) -> None:
    root, whole = copied(tmp_path), store_root("5.5.0-rocksdb")
    for path in sorted((root / folder).iterdir()):
        stored = (whole / folder / path.name).read_bytes()
        for at in range(0, len(stored) if path.name not in NOT_LOOKED_AT else 0, len(stored) // 12 + 1):
            flip(path, at)
            read_all(root, folder)
            path.write_bytes(stored[:at])
            read_all(root, folder)
            path.write_bytes(stored)


NOT_LOOKED_AT = ("IDENTITY", "LOCK", "OPTIONS-000007", "OPTIONS-000009")


def read_all(root: Path, folder: str) -> None:
    damage: list[Damage] = []
    store = open_store(root)
    try:
        if folder == "consumequeue":
            with StoreQueues(store, damage=damage.append) as queues:
                for queue in queues.values():
                    queue.summary(0)
                    for batch in queue.batches():
                        batch.validate(full=True)
        for name in ("topics.json", "subscriptionGroup.json") if folder != "consumequeue" else ():
            read_document(store.config, name, damage=damage.append)
    except StoreFormatError as escaped:
        pytest.fail(f"raised although damage is collected: {escaped}")
