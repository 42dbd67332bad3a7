"""`check-lake` finds what is not whole and puts it right from the stores; `vacuum` removes only what nothing needs."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from pipelines.lake.catalog import open_catalog, publish
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.lake import Lake
from pipelines.lake.lock import LOCK_NAME
from pipelines.lake.tables.raw import TABLES
from pipelines.spark import session
from tests.support.browser import CLI
from tests.support.cared_lake import (
    BY_BROKER,
    CONFIG,
    FIRST,
    GONE,
    MESSAGES,
    content,
    make,
    part_of,
    repair,
    rows,
)
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.plain_spark import plain_spark


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("care"))


@pytest.fixture
def folder(ingested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, and Spark without Java."""
    monkeypatch.setattr(session, "spark_session", plain_spark)
    return copy_tree(ingested, tmp_path / "own")


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
    """After the rows of every table, which would push them out of the window."""
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
    copy_tree(folder / "store", other)
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


def _counts(lake: Lake) -> dict[str, list[dict[str, object]]]:
    with lake.asked_often():
        return {name: lake.query(f"SELECT count(*) FROM {name}").to_pylist() for name in TABLES}


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
    before = _counts(lake)
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
    assert _counts(lake) == before
    assert rows("check-lake", folder=folder, code=0) == []


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
    "arguments",
    [("check-lake",), ("check-lake", "--repair"), ("vacuum",), ("vacuum", "--dry-run"), ("report", "--out", "r.html")],
)
def test_nothing_is_made_where_no_lake_is(
    tmp_path: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rocketlens.toml").write_text(CONFIG)
    ended = call(*arguments, "--config-file", str(tmp_path / "rocketlens.toml"))
    assert ended.code == 3
    assert f"no lake here yet: {tmp_path / 'lake'}; run `rocketlens ingest` first" in ended.err
    assert not (tmp_path / "r.html").exists()
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
