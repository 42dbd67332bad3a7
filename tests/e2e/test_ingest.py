"""Ingest: the same files give the same tables, a grown log is read on, whatever reads them sees the same rows."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parsers.commitlog.record.message import decode_message
from parsers.store.store import open_store
from pipelines.ingest.config_snapshots import snapshot_config
from pipelines.ingest.derive import derive
from pipelines.ingest.gone_files import mark_gone
from pipelines.ingest.growth import grown_from
from pipelines.ingest.ingest import IngestReport, ingest, ingest_store
from pipelines.lake.catalog import NoCatalog, open_catalog, publish
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.errors import WorkFailed
from pipelines.lake.delta.parts import SELDOM_TWICE, write_parts
from pipelines.lake.lake import Lake
from pipelines.lake.questions import asked_by, question, question_names, question_views
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES, TABLES
from pipelines.lake.tables.saved_config import OFFSET_SNAPSHOTS
from pipelines.lake.tables.table import Table
from pipelines.spark.transfer import write_table
from tests.support.cli import small_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LAST = "commitlog/00000000000003145728"
FEW_STORES_HAVE = {"ext_units", "compacted_messages", "epochs"}


def age(store: Path, *, seconds: int = 3600) -> None:
    """Make every file older than what is ingested now."""
    for path in store.rglob("*"):
        if path.is_file():
            os.utime(path, (path.stat().st_mtime - seconds,) * 2)


def rows_of(lake: Lake, table: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = lake.query(f"SELECT * FROM {table} ORDER BY ALL").to_pylist()
    return rows


def cut_last_file(store: Path, at: int) -> bytes:
    """Blank the last CommitLog file from byte `at` on, as before the broker wrote there; what was there."""
    path = store / LAST
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + bytes(len(whole) - at))
    return whole


def record_start(store: Path, after: int) -> int:
    """The first record boundary of the last file at or behind byte `after`."""
    data, at = (store / LAST).read_bytes(), 0
    while at < after:
        at += decode_message(data, at).total_size
    return at


def test_a_store_that_is_not_there_keeps_no_other_out_of_the_lake(
    spark: SparkSession, lake: Lake, broker: BrokerSource, tmp_path: Path
) -> None:
    sources = Sources(lake=lake.root, brokers=(BrokerSource("gone", tmp_path / "nowhere"), broker))
    assert ingest(spark, sources).refused == [("gone", f"{tmp_path / 'nowhere'}: no such folder")]
    derived = derive(spark, sources)
    assert derived.rows == {name: lake.rows(name) for name in derived.rows}
    assert derived.rows["lag"] == derived.rows["retention_risk"] == 46
    assert derived.rows["consistency_findings"] == 0
    assert lake.query(question("ledger_out_of_balance")).num_rows == 0 < derived.rows["loss_ledger"]
    assert lake.query("SELECT broker FROM recovery_forecast").to_pylist() == [{"broker": "broker-a"}]
    assert lake.version("ownership_intervals") is None, "nobody named logs: nothing is known, which is not no owner"


def test_twice_is_once_and_every_reader_sees_it(
    spark: SparkSession, lake: Lake, broker: BrokerSource, own_store: Path
) -> None:
    age(own_store)
    sources = Sources(lake=lake.root, brokers=(broker,))
    first = ingest(spark, sources)
    tables = [table.name for table in (*FILE_TABLES, QUEUES, OFFSET_SNAPSHOTS)]
    before = {table: rows_of(lake, table) for table in tables}
    again = ingest(spark, sources)
    assert first.rows == again.rows
    assert first.rows["broker-a", "commitlog_messages"] == first.rows["broker-a", "consumequeue_units"] == 6114
    assert again.files_read == 0
    assert again.files_unchanged == first.files_read > 0
    assert {table: rows_of(lake, table) for table in before} == before
    for table, expected in before.items():
        assert lake.frame(spark, table).count() == len(expected), table
        assert expected or table in FEW_STORES_HAVE, table
    publish(lake)
    with open_catalog(lake) as catalog:
        for table, expected in before.items():
            assert catalog.sql(f"SELECT count(*) FROM {table}").fetchall() == [(len(expected),)]


def test_a_deleted_file_keeps_its_rows_and_says_that_it_is_gone(lake: Lake, tmp_path: Path) -> None:
    root = small_store(tmp_path / "small")
    broker, kept, lost = BrokerSource("b", root), "consumequeue/Orders/0/00000000000000000000", "commitlog/0000"
    told = [{"broker": "b", "file": kept, "size": 100}, {"broker": "b", "file": lost}, {"broker": "o", "file": kept}]
    rows = pa.Table.from_pylist(told, schema=TABLES["store_files"].bare_schema)
    lake.write("store_files", rows, replaced=None)

    def gone() -> dict[tuple[object, object], bool]:
        return {(row["broker"], row["file"]): row["gone_at"] is not None for row in rows_of(lake, "store_files")}

    assert mark_gone(lake, broker, open_store(root)) == 1
    expected = {("b", kept): False, ("b", lost): True, ("o", kept): False}
    assert gone() == expected
    version = lake.version("store_files")
    assert mark_gone(lake, broker, open_store(root)) == 0
    assert lake.version("store_files") == version
    (root / lost).write_bytes(bytes(64))
    assert mark_gone(lake, broker, open_store(root)) == 1
    assert gone() == dict.fromkeys(expected, False)
    assert rows_of(lake, "store_files")[1]["size"] == 100


def test_a_lake_of_an_earlier_version_is_read_with_the_columns_it_lacks(lake: Lake) -> None:
    now = TABLES["store_files"]
    earlier = Table(now.name, now.grain, now.columns[:-1], now.partition_by)
    root, row = lake.table_root(now.name), {"broker": "b", "file": "f", "size": 7}
    batches = pa.Table.from_pylist([row], schema=earlier.bare_schema).to_batches()
    commit(earlier, root, write_parts(earlier, root, "job", batches), None)
    assert rows_of(lake, now.name) == [{**dict.fromkeys(now.schema.names), **row}]
    lake.write(now.name, pa.Table.from_pylist([{**row, "size": 8}], schema=now.bare_schema), replaced=[])
    assert [told["size"] for told in rows_of(lake, now.name)] == [7, 8]


def test_a_task_that_fails_leaves_the_table_as_it_was(spark: SparkSession, lake: Lake) -> None:
    def rows(file: str) -> partial[Iterator[pa.RecordBatch]]:
        row = {"broker": "b", "file": file, "slot": 7}
        return partial(iter, pa.Table.from_pylist([row], schema=TABLES["index_entries"].bare_schema).to_batches())

    def die() -> Iterator[pa.RecordBatch]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()

    write_table(spark, lake, "index_entries", [rows("f"), rows("g")], replaced=None)
    assert lake.partition_rows("index_entries") == {("b", "f"): 1, ("b", "g"): 1}
    before = lake.version("index_entries"), lake.files("index_entries")
    with pytest.raises(WorkFailed, match=r"^index_entries: .*no number"):
        write_table(spark, lake, "index_entries", [rows("f"), partial(int, "no number")], replaced=None)
    assert (lake.version("index_entries"), lake.files("index_entries")) == before
    with pytest.raises(WorkFailed, match=r"^index_entries: a worker process of Spark was killed"):
        write_table(spark, lake, "index_entries", [rows("f"), die], replaced=None)
    assert (lake.version("index_entries"), lake.files("index_entries")) == before
    assert sorted(map(str, lake.table_root("index_entries").rglob("part-*"))) == before[1], "and no part is left behind"
    write_table(spark, lake, "index_entries", [], replaced=[("b", "f")])
    assert lake.partition_rows("index_entries") == {("b", "g"): 1}
    assert (lake.rows("index_entries", "b"), lake.rows("index_entries", "a")) == (1, 0)


def test_a_column_is_stored_as_its_values_are(tmp_path: Path) -> None:
    """Numbers that are near those of the row before are stored as differences."""
    table = TABLES["commitlog_messages"]
    pairs = [{"name": "KEYS", "value": "k"}]
    row = {"broker": "b", "file": "f", "physical_offset": 1, "topic": "t", "keys": "k", "properties": pairs}
    (part,) = write_parts(table, tmp_path, "job", pa.Table.from_pylist([row], schema=table.bare_schema).to_batches())
    group = pq.read_metadata(tmp_path / part.path).row_group(0)
    columns = {c.path_in_schema: c for c in map(group.column, range(group.num_columns))}
    assert {path for path, c in columns.items() if c.has_dictionary_page} == {
        *(path for path in columns if path in table.schema.names and pa.types.is_string(table.schema.field(path).type)),
        "properties.list.element.name",
    } - SELDOM_TWICE
    without = {path for path, c in columns.items() if not c.is_stats_set}
    assert without == (SELDOM_TWICE & columns.keys()) | {path for path in columns if ".list." in path}
    differences = {path for path, c in columns.items() if "DELTA_BINARY_PACKED" in c.encodings}
    assert differences == {"physical_offset", "total_size", "queue_id", "queue_offset", "body_size"}


def test_a_grown_log_is_read_on_from_where_it_ended(
    spark: SparkSession, lake: Lake, broker: BrokerSource, own_store: Path
) -> None:
    middle = record_start(own_store, 400_000)
    whole = cut_last_file(own_store, middle)
    ingest_store(spark, lake, broker, IngestReport())
    assert grown_from(lake, broker, [LAST]) == {LAST: middle}
    held = lake.rows("commitlog_messages")
    parts = set(lake.files("commitlog_messages"))
    (own_store / LAST).write_bytes(whole)
    deleted = min((own_store / "index").iterdir())
    deleted.unlink()
    ingest_store(spark, lake, broker, IngestReport())
    gone = lake.query("SELECT file FROM store_files WHERE gone_at IS NOT NULL").to_pylist()
    assert gone == [{"file": f"index/{deleted.name}"}]
    assert held < lake.rows("commitlog_messages") == 6114
    assert parts < set(lake.files("commitlog_messages")), "rows that were there are not written again"
    regions = lake.query(f"SELECT sum(length) AS n FROM commitlog_regions WHERE file = '{LAST}'").to_pylist()
    assert regions == [{"n": len(whole)}]


def test_a_log_that_was_cut_and_went_on_is_read_anew(
    spark: SparkSession, lake: Lake, broker: BrokerSource, own_store: Path
) -> None:
    ingest_store(spark, lake, broker, IngestReport())
    cut_last_file(own_store, record_start(own_store, 300_000))
    assert grown_from(lake, broker, [LAST]) == {}
    ingest_store(spark, lake, broker, IngestReport())
    messages = lake.query("SELECT max(physical_offset) AS last, count(*) AS n FROM commitlog_messages").to_pylist()[0]
    assert messages["last"] < 3145728 + 300_000
    assert messages["n"] < 6114


def test_a_written_state_of_the_configuration_is_kept_once(
    spark: SparkSession, lake: Lake, broker: BrokerSource, own_store: Path
) -> None:
    snapshot_config(spark, lake, broker)
    first = {name: lake.rows(name) for name in ("topic_configs", "offset_snapshots")}
    snapshot_config(spark, lake, broker)
    assert {name: lake.rows(name) for name in first} == first
    offsets = own_store / "config" / "consumerOffset.json"
    offsets.write_text(offsets.read_text().replace("0:207", "0:208"))
    snapshot_config(spark, lake, broker)
    assert lake.rows("topic_configs") == first["topic_configs"]
    assert lake.rows("offset_snapshots") == 2 * first["offset_snapshots"]
    states = lake.query(
        "SELECT consumer_offset FROM offset_snapshots WHERE \"group\" = 'CG_lagging' AND queue_id = 0 "
        "ORDER BY written_at"
    ).to_pylist()
    assert states == [{"consumer_offset": 207}, {"consumer_offset": 208}]


def test_the_catalogue_documents_every_column_and_answers_every_question(lake: Lake) -> None:
    with pytest.raises(NoCatalog, match="no catalogue yet"):
        open_catalog(lake)
    publish(lake)
    with open_catalog(lake) as catalog:
        views = catalog.sql("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
        told = {name: f"One row: {table.grain}." for name, table in TABLES.items()}
        assert dict(views) == told | {name: asked_by(name) for name in question_views()}
        assert asked_by("files_by_kind").endswith("how much of them is used?")
        comments = catalog.sql(
            "SELECT table_name, column_name, comment FROM duckdb_columns()"
            " WHERE NOT internal AND NOT list_contains(?, table_name)",
            params=[question_views()],
        ).fetchall()
        assert {(t, c): text for t, c, text in comments} == {
            (name, column.name): column.comment for name, table in TABLES.items() for column in table.columns
        }
        for name in question_names():
            assert catalog.sql(question(name)).fetchall() == [], name
        for name in question_views():
            assert catalog.sql(f"SELECT * FROM {name}").columns == catalog.sql(question(name)).columns


def test_publishing_does_not_disturb_a_reader(lake: Lake) -> None:
    publish(lake)
    with open_catalog(lake) as reader:
        publish(lake)
        assert reader.sql("SELECT count(*) FROM lag").fetchall() == [(0,)]
    with pytest.raises(duckdb.Error), open_catalog(lake) as reader:
        reader.execute("CREATE TABLE t (i INT)")
