"""Ingests that files change under: nothing is lost in silence, nothing doubled, and the next ingest puts it right."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from parsers.commitlog.record.message import decode_message
from parsers.consumequeue import summary
from parsers.damage.errors import UnreadableFile
from parsers.evidence.mapped import map_file
from pipelines.demo import BUNDLE
from pipelines.ingest import ingest as ingesting
from pipelines.ingest.ingest import IngestReport, ingest_store
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.reading import Amount, Reading
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.errors import LakeMoved, WorkFailed
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import CONSUMEQUEUE_UNITS, FILE_TABLES
from pipelines.lake.tables.raw_messages import COMMITLOG_MESSAGES
from pipelines.lake.tables.raw_table import FileTable
from pipelines.spark import transfer
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark
from tests.support.small_lake import declared_without

FILES = [table.name for table in FILE_TABLES]
FIRST, LAST = "commitlog/00000000000000000000", "commitlog/00000000000003145728"
MESSAGES = 6114


@pytest.fixture(scope="module")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_store(BUNDLE, tmp_path_factory.mktemp("demo"))


@pytest.fixture
def broker(demo_store: Path, tmp_path: Path) -> BrokerSource:
    return part_of(demo_store, tmp_path)


def part_of(demo_store: Path, folder: Path) -> BrokerSource:
    """The log, one queue, the index and the checkpoint of the demo's store."""
    store = folder / "store"
    for name in ("commitlog", "index", "consumequeue/OrderTopic0"):
        copy_tree(demo_store / name, store / name)
    shutil.copy2(demo_store / "checkpoint", store / "checkpoint")
    return BrokerSource("b", store, version="5.3.3")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def ingested(lake: Lake, broker: BrokerSource) -> IngestReport:
    report = IngestReport()
    ingest_store(plain_spark(), lake, broker, report)
    report.rows = {(broker.name, name): lake.rows(name, broker.name) for name in FILES}
    return report


def test_how_far_it_is_is_told_before_each_table(lake: Lake, broker: BrokerSource) -> None:
    told: list[Reading] = []
    ingest_store(plain_spark(), lake, broker, IngestReport(), progress=told.append)
    assert [reading.done for reading in told] == [
        sum((reading.here for reading in told[:n]), Amount(0, 0)) for n in range(len(told))
    ]
    assert told[-1].done + told[-1].here == told[0].of_all
    log = next(reading for reading in told if reading.table == "commitlog_messages")
    assert log.here == Amount(4, sum(path.stat().st_size for path in (broker.store / "commitlog").iterdir()))
    again: list[Reading] = []
    ingest_store(plain_spark(), lake, broker, IngestReport(), progress=again.append)
    assert again == []


def test_a_broker_is_noted_once_however_many_tables_are_read(lake: Lake, broker: BrokerSource) -> None:
    ingested(lake, broker)
    before = lake.version("ingested_files")
    for path in broker.store.rglob("*"):
        if path.is_file():
            os.utime(path)
    assert ingested(lake, broker).files_read > len(FILES)
    assert before is not None
    assert lake.version("ingested_files") == before + 1


def test_what_was_read_before_an_error_is_noted(
    lake: Lake, broker: BrokerSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(ingesting, "ingest_queues", fails)
        with pytest.raises(WorkFailed):
            ingested(lake, broker)
    assert ingested(lake, broker).files_read == 0
    shutil.rmtree(lake.root)
    read = ingesting.ingest_files
    with monkeypatch.context() as broken:
        broken.setattr(
            ingesting, "ingest_files", lambda *a, **k: fails() if a[3].name == "index_entries" else read(*a, **k)
        )
        with pytest.raises(WorkFailed):
            ingested(lake, broker)
    noted = IngestedFiles.load(lake, "b").known
    assert noted[FIRST].tables >= {"store_files", "commitlog_messages"}
    ingested(lake, broker)
    assert lake.rows("commitlog_messages") == MESSAGES


@pytest.mark.parametrize("before", [True, False])
def test_a_queue_that_is_gone_while_queues_are_summed_up_is_said_and_comes_back(
    lake: Lake, broker: BrokerSource, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    """Its files are the same afterwards: nothing else tells the next ingest that a queue lacks."""
    topic, slices, aside = broker.store / "consumequeue/OrderTopic0", ingesting.slices_of, broker.store.parent / "aside"

    def without(source: BrokerSource, table: str, *given: Any) -> list[transfer.SliceWork]:
        work = slices(source, table, *given) if table != "queues" or not before else []
        if table == "queues":
            topic.rename(aside)
        return work or slices(source, table, *given)

    with monkeypatch.context() as broken:
        broken.setattr(ingesting, "slices_of", without)
        report = ingested(lake, broker)
    assert [told for told in report.unread if "OrderTopic0" in told[1]] == report.unread != []
    aside.rename(topic)
    ingested(lake, broker)
    assert lake.rows("queues") == sum(path.is_dir() for path in topic.iterdir())


@pytest.mark.parametrize("table", [COMMITLOG_MESSAGES, CONSUMEQUEUE_UNITS], ids=lambda table: table.name)
def test_rows_that_were_made_before_a_column_was_added_are_made_again(
    lake: Lake, broker: BrokerSource, table: FileTable
) -> None:
    """They stayed null until their file changed, and beyond: a log that grew was read on after them."""
    last, added = broker.store / LAST, "topic"
    with declared_without(table, added):
        whole, half = half_of(last)
        last.write_bytes(half)
        ingested(lake, broker)
    assert lake.query(f"SELECT count({added}) AS n FROM {table.name}").to_pylist() == [{"n": 0}]
    last.write_bytes(whole)
    ingested(lake, broker)
    counted = lake.query(f"SELECT count(*) AS rows, count({added}) AS n FROM {table.name}").to_pylist()[0]
    assert counted["rows"] == counted["n"] == lake.rows(table.name) > 0
    assert ingested(lake, broker).files_read == 0


def fails(*given: object, **named: object) -> list[str]:
    raise WorkFailed("a worker died")


def test_what_is_asked_of_a_broker_opens_no_part_of_another(lake: Lake, broker: BrokerSource) -> None:
    for name in ("a", "b"):
        ingested(lake, BrokerSource(name, broker.store, version="5.3.3"))
    for table in ("ingested_files", "commitlog_messages", "store_files"):
        of_b = set(lake.files(table, "b"))
        assert set() < of_b < set(lake.files(table))
        for path in set(lake.files(table)) - of_b:
            Path(path).unlink()
        asked = f"SELECT count(*) AS n FROM {table} WHERE broker = $broker"
        assert lake.query_broker(asked, "b").to_pylist() == [{"n": lake.rows(table, "b")}]
    ingested(lake, broker)


def content(lake: Lake) -> dict[str, pa.Table]:
    with lake.asked_often():
        return {name: lake.query(f"SELECT * FROM {name} ORDER BY ALL") for name in (*FILES, "queues")}


def half_of(path: Path) -> tuple[bytes, bytes]:
    """A log file's bytes, and the same up to the first record after its middle, blank from there on."""
    whole, at = path.read_bytes(), 0
    while at < 400_000:
        at += decode_message(whole, at).total_size
    return whole, whole[:at] + bytes(len(whole) - at)


def write_over(path: Path, content: bytes, *, times_of: os.stat_result) -> None:
    """As `cp -p` does: into the same file, which gets its times from elsewhere."""
    with path.open("r+b") as file:
        file.write(content)
    os.utime(path, ns=(times_of.st_atime_ns, times_of.st_mtime_ns))


def test_a_copy_that_kept_size_times_and_inode_is_read_by_its_last_record(lake: Lake, broker: BrokerSource) -> None:
    last = broker.store / LAST
    whole, half = half_of(last)
    seen = last.stat()
    write_over(last, half, times_of=seen)
    assert ingested(lake, broker).rows["b", "commitlog_messages"] < MESSAGES
    assert ingested(lake, broker).files_read == 0
    write_over(last, whole, times_of=seen)
    assert last.stat().st_mtime_ns == seen.st_mtime_ns
    assert ingested(lake, broker).files_read == 3, "its messages, its ranges and its hash"
    assert lake.rows("commitlog_messages") == MESSAGES
    assert lake.query("SELECT count(DISTINCT physical_offset) AS n FROM commitlog_messages").to_pylist() == [
        {"n": MESSAGES}
    ]


def test_a_copy_of_another_inode_is_read(lake: Lake, broker: BrokerSource, tmp_path: Path) -> None:
    ingested(lake, broker)
    shutil.copy2(broker.store / LAST, tmp_path / "copy")
    os.replace(tmp_path / "copy", broker.store / LAST)
    assert ingested(lake, broker).files_read == 3


def test_files_as_they_were_are_not_read_again(lake: Lake, broker: BrokerSource) -> None:
    ingested(lake, broker)
    versions = {name: lake.version(name) for name in FILES}
    again = ingested(lake, broker)
    assert again.files_read == 0 < again.files_unchanged
    assert {name: lake.version(name) for name in FILES} == versions


def _delete(path: Path) -> None:
    path.unlink()


def _halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _refuse(path: Path) -> None:
    path.unlink()
    path.mkdir()


def write_again(path: Path, content: bytes) -> None:
    """At a time that no other copy of the file has."""
    path.write_bytes(content)
    os.utime(path, (1_790_000_000, 1_790_000_000))


@pytest.fixture(scope="module")
def of_one_ingest(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pa.Table]:
    """What the tables hold when the store is read undisturbed, its first log file written again."""
    folder = tmp_path_factory.mktemp("undisturbed")
    broker, lake = part_of(demo_store, folder), Lake(folder / "lake")
    write_again(broker.store / FIRST, (broker.store / FIRST).read_bytes())
    ingested(lake, broker)
    return content(lake)


@pytest.mark.parametrize("before", ["plan", "read"])
@pytest.mark.parametrize("change", [_delete, _halve, _empty, _refuse])
@pytest.mark.parametrize("known", [False, True])
def test_a_file_that_goes_while_it_is_ingested_is_named_and_loses_no_row(
    lake: Lake,
    broker: BrokerSource,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    change: Callable[[Path], None],
    known: bool,
    of_one_ingest: dict[str, pa.Table],
) -> None:
    path = broker.store / FIRST
    kept = path.read_bytes()
    if known:
        ingested(lake, broker)
        rows = lake.partition_rows("commitlog_messages")
        os.utime(path)

    def strike() -> None:
        if path.is_file() and path.stat().st_size == len(kept):
            change(path)

    with monkeypatch.context() as patched:
        if before == "plan":
            look = IngestedFiles.stale
            patched.setattr(IngestedFiles, "stale", lambda *given: (look(*given), strike())[0])
        else:
            work = transfer._written
            patched.setattr(transfer, "_written", lambda *given: (strike(), work(*given))[1])
        report = ingested(lake, broker)
    named = [told for told in report.unread if told[0] == "b" and told[1].startswith(f"{FIRST}: ")]
    assert named, report.unread
    assert report.unread == named
    if known:
        assert lake.partition_rows("commitlog_messages") == rows
    else:
        assert lake.partition_rows("commitlog_messages")["b", FIRST] == 0
    if path.is_dir():
        path.rmdir()
    write_again(path, kept)
    after = ingested(lake, broker)
    assert not after.unread
    assert lake.rows("commitlog_messages") == MESSAGES
    assert content(lake) == of_one_ingest


def test_rows_are_appended_only_to_the_version_their_start_was_computed_from(
    lake: Lake, broker: BrokerSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, half = half_of(broker.store / LAST)
    (broker.store / LAST).write_bytes(half)
    ingested(lake, broker)
    (broker.store / LAST).write_bytes(whole)
    work = transfer._written

    def another_ingest_first(*given: object) -> object:
        monkeypatch.setattr(transfer, "_written", work)
        ingested(lake, broker)
        return work(*given)

    monkeypatch.setattr(transfer, "_written", another_ingest_first)
    with pytest.raises(LakeMoved):
        ingested(lake, broker)
    assert lake.rows("commitlog_messages") == MESSAGES
    root = lake.table_root("commitlog_messages")
    assert sorted(map(str, root.rglob("part-*"))) == lake.files("commitlog_messages"), "its own parts are gone"


def test_a_queue_whose_file_cannot_be_read_is_said_and_has_no_figures(
    lake: Lake, broker: BrokerSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table said that it begins and ends at 0."""
    files = sorted((broker.store / "consumequeue/OrderTopic0/0").iterdir())

    def closed(path: Path) -> memoryview:
        if path in files:
            raise UnreadableFile("cannot be read: Permission denied", path=path)
        return map_file(path)

    with monkeypatch.context() as broken:
        broken.setattr(summary, "map_file", closed)
        report = ingested(lake, broker)
    assert [told for _, told in report.unread if "Permission denied" in told]
    queues = lake.query("SELECT queue_id FROM queues").num_rows
    ingested(lake, broker)
    assert lake.rows("queues") == queues + 1
