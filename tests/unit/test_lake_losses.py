"""`check-lake --repair` and an ingest lose no row that no store gives again, and name what is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from parsers.evidence import mapped
from parsers.store.store_file import StoreFile
from pipelines.cli.commands.lake import care as lake_care
from pipelines.cli.frame.call.run import Run
from pipelines.ingest.repair import NOT_AGAIN, _can_be_read
from pipelines.lake.catalog import open_catalog
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.spark import session, shared_folders
from pipelines.spark.shared_folders import NotShared
from tests.support.cared_lake import (
    FIRST,
    GONE,
    MESSAGES,
    make,
    part_of,
    repair,
    rows,
)
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
