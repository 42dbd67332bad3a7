"""`check-lake` finds what is not whole and puts it right from the stores; `vacuum` removes only what nothing needs."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parsers.evidence import mapped
from parsers.store.store_file import StoreFile
from pipelines.cli.commands import lake_care
from pipelines.cli.frame.call.run import Run
from pipelines.demo import BUNDLE
from pipelines.ingest.repair import NOT_AGAIN, _can_be_read
from pipelines.lake.catalog import open_catalog, publish
from pipelines.lake.delta import files_in, partition_parts
from pipelines.lake.lake import Lake
from pipelines.lake.lock import LOCK_NAME
from pipelines.lake.tables.raw import FILE_TABLES, TABLES
from pipelines.spark import session, shared_folders
from pipelines.spark.shared_folders import NotShared
from tests.support.browser import CLI
from tests.support.cli import Called, call
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark

FILES = [table.name for table in FILE_TABLES]
MESSAGES = 6114
FIRST = "commitlog/00000000000000000000"
GONE = "were taken out, and no store holds them any more or lets them be read"
BY_BROKER = ("consumequeue_units", "store_files", "queues", "consistency_findings", "recovery_forecast")
CONFIG = """
[lake]
path = "lake"
[[broker]]
name = "b"
store = "store"
version = "5.3.3"
"""


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a configuration, a store without config/, and the lake made from it."""
    folder = tmp_path_factory.mktemp("care")
    store = unpack_store(BUNDLE, folder / "demo")
    for name in ("commitlog", "index", "consumequeue/OrderTopic0"):
        shutil.copytree(store / name, folder / "store" / name)
    shutil.rmtree(folder / "demo")
    (folder / "rocketlens.toml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "spark_session", plain_spark)
        assert call("ingest", "--config-file", str(folder / "rocketlens.toml")).code == 1, (
            "a store cut down to some of its files"
        )
    return folder


@pytest.fixture
def folder(ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, and Spark without Java."""
    monkeypatch.setattr(session, "spark_session", plain_spark)
    return Path(shutil.copytree(ingested, tmp_path / "own"))


def rows(*arguments: str, folder: Path, code: int) -> list[dict[str, object]]:
    ended = call(*arguments, "--config-file", str(folder / "rocketlens.toml"), "--format", "jsonl")
    assert ended.code == code, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


def content(lake: Lake) -> dict[str, list[dict[str, object]]]:
    return {name: lake.query(f"SELECT * FROM {name} ORDER BY ALL").to_pylist() for name in FILES}


def part_of(lake: Lake, table: str, file: str) -> Path:
    root = lake.table_root(table)
    parts = [(part, root / part.path) for part in partition_parts(TABLES[table], root)]
    return next(path for part, path in parts if file in (part.partition[1:] or files_in(path)))


def test_spark_without_java_is_called_as_spark_is() -> None:
    assert inspect.signature(plain_spark) == inspect.signature(session.spark_session)


def test_a_whole_lake_has_no_fault_and_nothing_to_remove(folder: Path) -> None:
    assert rows("check-lake", folder=folder, code=0) == []
    assert rows("vacuum", "--dry-run", folder=folder, code=0) == []


def test_what_is_not_whole_is_found_and_read_again(folder: Path) -> None:
    lake = Lake(folder / "lake")
    before = content(lake)
    part_of(lake, "commitlog_messages", "commitlog/00000000000000000000").unlink()
    cut = part_of(lake, "index_entries", min(f"index/{path.name}" for path in (folder / "store/index").iterdir()))
    os.truncate(cut, 100)
    spoilt = part_of(lake, "store_files", "commitlog/00000000000001048576")
    spoilt.write_bytes(bytes(spoilt.stat().st_size))
    found = rows("check-lake", folder=folder, code=1)
    assert [(row["table"], str(row["what"])[:16]) for row in found] == [
        ("store_files", "cannot be read: "),
        ("commitlog_messages", "is not there"),
        ("index_entries", "100 bytes where "),
    ]
    assert rows("check-lake", "--repair", folder=folder, code=0) == []
    assert content(lake) == before
    assert rows("check-lake", folder=folder, code=0) == []


def test_doubled_messages_are_found_and_put_right(folder: Path) -> None:
    lake = Lake(folder / "lake")
    before = content(lake)
    twice = lake.query("SELECT * FROM commitlog_messages WHERE file = 'commitlog/00000000000003145728' LIMIT 5")
    lake.write("commitlog_messages", twice, replaced=[])
    (found,) = rows("check-lake", folder=folder, code=1)
    assert found["what"] == "10 rows of messages that are there more than once"
    assert rows("check-lake", "--repair", folder=folder, code=0) == []
    assert content(lake) == before


def test_what_the_store_no_longer_holds_is_named(folder: Path) -> None:
    lake = Lake(folder / "lake")
    part_of(lake, "commitlog_messages", "commitlog/00000000000000000000").unlink()
    (folder / "store/commitlog/00000000000000000000").unlink()
    ended = call("check-lake", "--repair", "--config-file", str(folder / "rocketlens.toml"))
    assert ended.code == 4
    lost = MESSAGES - lake.rows("commitlog_messages")
    assert f"commitlog_messages of b commitlog/00000000000000000000: {lost} rows {GONE}" in ended.err


def test_of_a_file_that_the_store_no_longer_holds_every_readable_row_stays(folder: Path) -> None:
    lake, file = Lake(folder / "lake"), "commitlog/00000000000000000000"
    of_file = f"SELECT * FROM commitlog_messages WHERE file = '{file}' ORDER BY ALL"
    rows_before = lake.query(of_file)
    later = rows_before.slice(100, 7)
    lake.write("commitlog_messages", later, replaced=[])
    broken = part_of(lake, "commitlog_messages", file)
    (folder / "store" / file).unlink()
    ended = call("check-lake", "--repair", "--config-file", str(folder / "rocketlens.toml"), "--format", "jsonl")
    assert ended.code == 1, "doubles of a file that is gone are named and left"
    assert [(row["partition"], row["what"]) for row in ended.rows] == [
        (f"b/{file}", "14 rows of messages that are there more than once")
    ]
    assert f"commitlog_messages of b {file}: 14 rows of messages that are there more than once, left" in ended.err
    assert lake.query(of_file).num_rows == rows_before.num_rows + 7
    gone = pq.read_metadata(broken).num_rows
    broken.unlink()
    ended = call("check-lake", "--repair", "--config-file", str(folder / "rocketlens.toml"))
    assert ended.code == 4
    rest = rows_before.num_rows + 7 - gone
    assert f"commitlog_messages of b {file}: {gone} rows {GONE}" in ended.err
    assert lake.query(of_file).num_rows == rest > 0


def test_snapshots_of_earlier_instants_outlive_a_repair(folder: Path) -> None:
    lake, configured = Lake(folder / "lake"), folder / "store/config/consumerOffset.json"
    configured.parent.mkdir()
    for offset in (5, 6, 7):
        configured.write_text(json.dumps({"offsetTable": {"OrderTopic0@group": {0: offset}}}))
        os.utime(configured, (1_795_000_000 + offset, 1_795_000_000 + offset))
        assert rows("ingest", folder=folder, code=1)
    asked = "SELECT consumer_offset, part FROM (SELECT consumer_offset, filename AS part FROM read_parquet($files))"
    by_offset = dict(lake_rows(asked, lake.files("offset_snapshots")))
    assert sorted(by_offset) == [5, 6, 7]
    Path(by_offset[6]).unlink()
    ended = call("check-lake", "--repair", "--config-file", str(folder / "rocketlens.toml"))
    assert ended.code == 4, ended.err
    assert "offset_snapshots of b config/consumerOffset.json: 1 rows were taken out, 0 were read again" in ended.err
    left = lake.query("SELECT consumer_offset FROM offset_snapshots ORDER BY ALL")["consumer_offset"].to_pylist()
    assert left == [5, 7]


def lake_rows(sql: str, files: list[str]) -> list[tuple[int, str]]:
    with duckdb.connect() as connection:
        return connection.execute(sql, {"files": files}).fetchall()


def test_an_ingest_that_finds_nothing_new_starts_no_spark_and_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(folder / "lake")
    assert rows("ingest", folder=folder, code=1), "the copied store's files have other inodes"
    monkeypatch.delattr(session, "spark_session")
    before = {name: lake.version(name) for name in TABLES}, lake.catalog.stat().st_ino
    assert rows("ingest", folder=folder, code=1)
    assert ({name: lake.version(name) for name in TABLES}, lake.catalog.stat().st_ino) == before


def test_an_ingest_ends_with_its_verdicts(folder: Path) -> None:
    """Behind the rows of every table, which would push them out of the window."""
    for n in range(3):
        (folder / "store" / f"stranger{n}").touch()
    assert rows("ingest", folder=folder, code=1)
    arguments = ["ingest", "--config-file", str(folder / "rocketlens.toml"), "--format", "table"]
    ended = subprocess.run([*CLI, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 1, ended.stdout
    assert "next: `rocketlens verify" in lines[-1], "not the table, which would push it out of the window"
    assert any(line.startswith("broker") and line.endswith("rows") for line in lines[:-1])
    assert ended.stdout.count("not understood") == 1


@pytest.mark.parametrize(
    "table", ["commitlog_messages", "queues", "consistency_findings", "ingested_files", "made_from"]
)
def test_a_table_whose_folder_was_removed_is_made_again(folder: Path, table: str) -> None:
    lake = Lake(folder / "lake")
    before, findings = content(lake), lake.query("SELECT * FROM consistency_findings ORDER BY ALL")
    shutil.rmtree(lake.table_root(table))
    assert rows("ingest", folder=folder, code=1)
    assert content(lake) == before
    assert lake.rows("queues") > 0
    assert lake.query("SELECT * FROM consistency_findings ORDER BY ALL").equals(findings)


def test_only_the_broker_that_changed_is_made_again(folder: Path) -> None:
    lake, other = Lake(folder / "lake"), folder / "store2"
    shutil.copytree(folder / "store", other)
    with (folder / "rocketlens.toml").open("a") as config:
        config.write('[[broker]]\nname = "c"\nstore = "store2"\nversion = "5.3.3"\n')
    assert rows("ingest", folder=folder, code=1)
    before = {name: _parts_by_broker(lake, name) for name in BY_BROKER}
    grown = sorted((other / "consumequeue/OrderTopic0/0").iterdir())[-1]
    os.utime(grown)
    assert rows("ingest", folder=folder, code=1)
    after = {name: _parts_by_broker(lake, name) for name in BY_BROKER}
    assert {name: parts["b"] for name, parts in after.items()} == {name: parts["b"] for name, parts in before.items()}
    for name, parts in after.items():
        assert parts["c"] != before[name]["c"], name


def _parts_by_broker(lake: Lake, name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"b": set(), "c": set()}
    for part in partition_parts(TABLES[name], lake.table_root(name)):
        found[part.partition[0]].add(part.path)
    return found


def test_a_vacuum_removes_only_what_no_kept_version_and_no_catalogue_names(folder: Path) -> None:
    lake = Lake(folder / "lake")
    publish(lake)
    old = lake.files("queues")
    orphan = Path(lake.files("store_files")[0]).with_name("part-none-none.zstd.parquet")
    orphan.write_bytes(b"PAR1")
    (lake.root / ".facts-left").mkdir()
    (lake.root / ".facts-left" / "0.arrows").write_bytes(bytes(7))
    (lake.root / "catalog.1.new").write_bytes(bytes(3))
    staged = lake.table_root("queues") / "_delta_log" / "00000000000000000099.json#1"
    staged.write_bytes(b"{")
    before = {name: lake.query(f"SELECT count(*) FROM {name}").to_pylist() for name in TABLES}
    lake.write("queues", lake.query("SELECT * FROM queues"))
    ours = {str(path.relative_to(lake.root)) for path in (orphan, staged)} | {".facts-left", "catalog.1.new"}
    replaced = {str(Path(path).relative_to(lake.root)) for path in old}
    assert {row["path"] for row in rows("vacuum", "--dry-run", folder=folder, code=0)} == ours
    assert {row["path"] for row in rows("vacuum", folder=folder, code=0)} == ours
    assert not orphan.exists()
    assert not (lake.root / ".facts-left").exists()
    assert not {row["path"] for row in rows("vacuum", "--keep-days", "0", folder=folder, code=0)} & replaced
    with open_catalog(lake) as published:
        assert published.sql("SELECT count(*) AS n FROM queues").fetchall(), "the catalogue reads the replaced parts"
    assert rows("ingest", folder=folder, code=1)
    assert {row["path"] for row in rows("vacuum", "--keep-days", "0", folder=folder, code=0)} >= replaced
    assert {name: lake.query(f"SELECT count(*) FROM {name}").to_pylist() for name in TABLES} == before
    assert rows("check-lake", folder=folder, code=0) == []


def repair(folder: Path) -> Called:
    return call("check-lake", "--repair", "--config-file", str(folder / "rocketlens.toml"), "--format", "jsonl")


def refuse_to_share(*arguments: object) -> None:
    raise NotShared("a worker does not see the lake")


def test_nothing_is_taken_out_before_spark_can_read_it_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(folder / "lake")
    part_of(lake, "commitlog_messages", FIRST).unlink()
    before = {name: lake.version(name) for name in TABLES}
    monkeypatch.setattr(shared_folders, "require_shared", refuse_to_share)
    assert repair(folder).code == 3
    assert {name: lake.version(name) for name in TABLES} == before


def test_rows_of_a_file_that_cannot_be_read_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, opened = Lake(folder / "lake"), mapped.open_descriptor
    broken = part_of(lake, "commitlog_messages", FIRST)
    lake.write("commitlog_messages", lake.query(f"SELECT * FROM commitlog_messages WHERE file = '{FIRST}'"), [])
    broken.unlink()

    def refusing(path: Path) -> int:
        if str(path).endswith(f"store/{FIRST}"):
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path)

    monkeypatch.setattr(mapped, "open_descriptor", refusing)
    monkeypatch.setattr(lake_care, "ingested", lambda *arguments: None)
    ended = repair(folder)
    assert ended.code == 4, ended.err
    assert lake.partition_rows("commitlog_messages")["b", FIRST] > 0
    assert GONE in ended.err


def zeroed_half(content: bytes) -> bytes:
    return bytes(len(content) // 2) + content[len(content) // 2 :]


def zeroed_middle(content: bytes) -> bytes:
    third = len(content) // 3
    return content[:third] + bytes(third) + content[2 * third :]


@pytest.mark.parametrize("damage", [zeroed_half, zeroed_middle, lambda content: content[:10]])
@pytest.mark.parametrize("keeps_times", [False, True])
def test_rows_stay_that_a_damaged_file_does_not_give_again(
    folder: Path, damage: Callable[[bytes], bytes], keeps_times: bool
) -> None:
    lake, file = Lake(folder / "lake"), folder / "store" / FIRST
    of_file = f"SELECT * FROM commitlog_messages WHERE file = '{FIRST}' ORDER BY ALL"
    good, before = lake.query(of_file), file.stat()
    _missing_part(lake, good.slice(100, 7))
    file.write_bytes(damage(file.read_bytes()))
    if keeps_times:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    ended = repair(folder)
    assert lake.query(of_file).equals(good)
    assert ended.code == 4
    assert f"{FIRST}: 7 rows were taken out, and {NOT_AGAIN}" in ended.err


def test_a_file_that_grew_is_read_again_whole(folder: Path) -> None:
    lake, file = Lake(folder / "lake"), folder / "store" / FIRST
    of_file = f"SELECT * FROM commitlog_messages WHERE file = '{FIRST}' ORDER BY ALL"
    whole = lake.query(of_file)
    _missing_part(lake, whole.slice(0, 9))
    lake.write("commitlog_messages", whole.slice(0, 1000), replaced=[("b", FIRST)])
    _missing_part(lake, whole.slice(0, 9))
    os.utime(file)
    assert repair(folder).code == 0
    assert lake.query(of_file).equals(whole)


def _missing_part(lake: Lake, rows: pa.Table) -> None:
    """Add rows to a table's file, and take the part away that they are in."""
    root = lake.table_root("commitlog_messages")
    before = {part.path for part in partition_parts(TABLES["commitlog_messages"], root)}
    lake.write("commitlog_messages", rows, replaced=[])
    (added,) = {part.path for part in partition_parts(TABLES["commitlog_messages"], root)} - before
    (root / added).unlink()


def test_a_loss_is_named_before_the_ingest_that_follows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, ended = list[str](), list[list[str]]()
    not_read = Run.not_read

    def keeping(run: Run, sentence: str) -> None:
        told.append(sentence)
        not_read(run, sentence)

    part_of(Lake(folder / "lake"), "commitlog_messages", FIRST).unlink()
    (folder / "store" / FIRST).unlink()
    monkeypatch.setattr(Run, "not_read", keeping)
    monkeypatch.setattr(lake_care, "ingested", lambda *arguments: ended.append(list(told)))
    assert repair(folder).code == 4
    assert len(ended[0]) == 1, "who is killed in the ingest has named it"
    assert GONE in ended[0][0]


def test_lost_files_do_not_hide_behind_new_ones(folder: Path) -> None:
    lake, queue = Lake(folder / "lake"), folder / "store/consumequeue"
    next(path for path in sorted(queue.rglob("*")) if path.is_file()).unlink()
    assert rows("ingest", folder=folder, code=1)
    for table in ("store_files", "ingested_files"):
        for part in lake.files(table):
            Path(part).unlink()
    for number in range(3):
        new = queue / f"New{number}/0" / ("0" * 20)
        new.parent.mkdir(parents=True)
        new.write_bytes(bytes(6_000_000))
    ended = repair(folder)
    assert ended.code == 4, ended.err
    assert "store_files of b" in ended.err
    assert "whether rows of files that the store no longer holds are lost is not known" in ended.err


def test_a_database_that_can_be_listed_is_held(tmp_path: Path) -> None:
    (tmp_path / "rocks").mkdir()
    assert _can_be_read(StoreFile(tmp_path / "rocks", "rocksdb", 0, 0))
    assert not _can_be_read(StoreFile(tmp_path / "away", "rocksdb", 0, 0))


def test_a_pipe_in_a_files_place_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not _can_be_read(StoreFile(tmp_path / "pipe", "commitlog", 0, 0))


def test_what_an_ingest_that_fails_does_not_bring_back_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(folder / "lake")
    part_of(lake, "commitlog_messages", FIRST).unlink()
    rows_there = lake.partition_rows("commitlog_messages")["b", FIRST]

    def fails(*arguments: object) -> None:
        raise OSError(28, "No space left on device", "lake")

    monkeypatch.setattr(lake_care, "ingested", fails)
    ended = repair(folder)
    assert ended.code == 3
    assert f"commitlog_messages of b {FIRST}: {rows_there} rows were taken out, 0 were read again" in ended.err
    with open_catalog(lake) as published:
        left = published.sql("SELECT count(*) FROM commitlog_messages").fetchall()
    assert left == [(MESSAGES - rows_there,)], "the catalogue names no part that was taken out"


def test_a_loss_is_named_though_the_ingest_adds_rows_and_faults_are_left(folder: Path) -> None:
    lake, config = Lake(folder / "lake"), folder / "store/config/consumerOffset.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"offsetTable": {"OrderTopic0@group": {0: 5}}}))
    assert rows("ingest", folder=folder, code=1)
    Path(lake.files("offset_snapshots")[0]).unlink()
    config.write_text(json.dumps({"offsetTable": {"OrderTopic0@group": {0: 6, 1: 7}}}))
    os.utime(config, (4_000_000_000, 4_000_000_000))
    lake.write("commitlog_messages", lake.query("SELECT * FROM commitlog_messages WHERE queue_id = 0"), replaced=[])
    (folder / "store" / FIRST).unlink()
    ended = repair(folder)
    assert f"offset_snapshots of b config/consumerOffset.json: 1 rows {GONE}" in ended.err
    assert ended.rows, "doubles of a file that is gone are left"
    assert ended.code == 4


def test_a_loss_does_not_hide_behind_what_other_files_have_gained(folder: Path) -> None:
    lake, queues = Lake(folder / "lake"), folder / "store/consumequeue"
    grown, gone = sorted((path for path in queues.rglob("*") if path.is_file()), key=units_in)[-2:]
    lost, held = units_in(gone), lake.rows("consumequeue_units")
    part_of(lake, "consumequeue_units", str(gone.relative_to(folder / "store"))).unlink()
    gone.unlink()
    with grown.open("r+b") as file:
        units = file.read(20 * units_in(grown))
        file.write((units * (1 + 20 * lost // len(units)))[: 20 * lost])
    ended = repair(folder)
    assert ended.code == 4, ended.err
    assert lake.rows("consumequeue_units") >= held, "as many as before, and yet not those"
    assert "whether rows of files that the store no longer holds are lost is not known" in ended.err


def units_in(path: Path) -> int:
    units = path.read_bytes()
    return sum(any(units[at : at + 20]) for at in range(0, len(units), 20))


@pytest.mark.parametrize("spoil", [b"", b"{", b"[]", None])
def test_a_table_without_a_log_is_refused_before_anything_is_taken_out(folder: Path, spoil: bytes | None) -> None:
    lake = Lake(folder / "lake")
    for version in sorted((lake.table_root("queues") / "_delta_log").iterdir()):
        version.unlink()
        if spoil is not None:
            version.write_bytes(spoil)
    part_of(lake, "commitlog_messages", FIRST).unlink()
    assert ("queues", None) in {(row["table"], row["partition"]) for row in rows("check-lake", folder=folder, code=1)}
    before = lake.version("commitlog_messages")
    ended = repair(folder)
    assert ended.code == 3
    assert "tables/queues: its log cannot be read" in ended.err
    assert "move each such folder to another place and keep it" in ended.err
    assert lake.version("commitlog_messages") == before
    for arguments in (("vacuum",), ("vacuum", "--dry-run"), *([("tables",)] if spoil is not None else [])):
        ended = call(*arguments, "--config-file", str(folder / "rocketlens.toml"))
        assert (ended.code, len(ended.err.splitlines())) == (3, 1), ended.err
        assert "fault of rocketlens" not in ended.err


def test_a_vacuum_leaves_folders_alone_that_are_no_table_of_the_lake(folder: Path) -> None:
    strange = folder / "lake/tables/kept-by-hand"
    (strange / "_delta_log").mkdir(parents=True)
    (strange / "part-1.parquet").touch()
    assert rows("vacuum", folder=folder, code=0) == []
    assert (strange / "part-1.parquet").exists()


@pytest.mark.parametrize(
    "arguments", [("check-lake",), ("check-lake", "--repair"), ("vacuum",), ("vacuum", "--dry-run")]
)
def test_nothing_is_made_where_no_lake_is(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "rocketlens.toml").write_text(CONFIG)
    ended = call(*arguments, "--config-file", str(tmp_path / "rocketlens.toml"))
    assert ended.code == 3
    assert f"no lake here yet: {tmp_path / 'lake'}" in ended.err
    assert not (tmp_path / "lake").exists()


def test_who_only_looks_takes_no_lock(folder: Path) -> None:
    (folder / "lake" / LOCK_NAME).unlink()
    assert rows("check-lake", folder=folder, code=0) == []
    assert rows("vacuum", "--dry-run", folder=folder, code=0) == []
    assert not (folder / "lake" / LOCK_NAME).exists()


def test_a_table_that_nothing_was_ever_committed_to_is_no_fault(folder: Path) -> None:
    """A disk that is full at the first commit leaves the folder of the log, and no part."""
    table = folder / "lake/tables/delayed_messages"
    shutil.rmtree(table, ignore_errors=True)
    (table / "_delta_log").mkdir(parents=True)
    assert rows("check-lake", folder=folder, code=0) == []
    assert call("vacuum", "--dry-run", "--config-file", str(folder / "rocketlens.toml")).code == 0
    (table / "part-0.parquet").write_bytes(b"PAR1")
    (fault,) = rows("check-lake", folder=folder, code=1)
    assert "no version" in str(fault["what"])
