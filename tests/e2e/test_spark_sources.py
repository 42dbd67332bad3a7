"""The data sources: every row once however a file is cut, only what was asked for, and no pushdown."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from parsers.store.store import open_store
from parsers.store.store_file import StoreFile
from parsers.timer.log import read_timerlog
from pipelines.demo import BUNDLE
from pipelines.spark.sources.registry import SOURCES
from pipelines.spark.sources.slices import MOST_PIECES, cut
from tests.support.small_log import SmallLog
from tests.support.stores import store_root, truth_lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
TRUTH = BUNDLE.parent / "truth"


def truth_rows(name: str) -> list[dict[str, Any]]:
    with gzip.open(TRUTH / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def commitlog(spark: SparkSession, store: Path, schema: str | None = None, **options: object) -> DataFrame:
    reader = spark.read.format("rocketmq_commitlog").option("store", str(store))
    reader = reader if schema is None else reader.schema(schema)
    return reader.options(**{name: str(value) for name, value in options.items()}).load()


def test_rows_are_the_same_however_a_file_is_cut(spark: SparkSession, demo_store: Path) -> None:
    expected = [row["physicalOffset"] for row in truth_rows("messages.jsonl.gz") if row["type"] == "message"]
    size = (demo_store / "commitlog" / "00000000000000000000").stat().st_size
    for pieces in (1, 2, 7):
        frame = commitlog(spark, demo_store, "physical_offset BIGINT", split_bytes=-(-size // pieces))
        assert frame.rdd.getNumPartitions() >= 4 * (pieces > 1), pieces
        assert sorted(row.physical_offset for row in frame.collect()) == expected, pieces


def test_fields_equal_the_truth(spark: SparkSession, demo_store: Path) -> None:
    truth = {row["physicalOffset"]: row for row in truth_rows("messages.jsonl.gz") if row["type"] == "message"}
    rows = commitlog(spark, demo_store, broker="b").collect()
    assert len(rows) == len(truth) == 6114
    for row in rows:
        true = truth[row.physical_offset]
        assert (row.broker, row.topic, row.queue_id, row.queue_offset) == (
            "b",
            true["topic"],
            true["queueId"],
            true["queueOffset"],
        )
        assert [[pair.name, pair.value] for pair in row.properties] == true["propertiesStored"]
        assert round(row.store_timestamp.timestamp() * 1000) == true["storeTimestamp"]
        assert (row.total_size, row.message_id, row.unique_id) == (true["size"], true["msgId"], true["uniqKey"])
        assert row.body is None


def test_options_narrow_what_is_read(spark: SparkSession, demo_store: Path) -> None:
    low, high = 1_500_000, 2_500_000
    rows = commitlog(
        spark, demo_store, "physical_offset BIGINT", min_physical_offset=low, max_physical_offset=high
    ).collect()
    truth = [row for row in truth_rows("messages.jsonl.gz") if row["type"] == "message"]
    assert sorted(row.physical_offset for row in rows) == [
        row["physicalOffset"] for row in truth if low <= row["physicalOffset"] < high
    ]
    named = commitlog(spark, demo_store, "topic STRING", topics="OrderTopic3,%DLQ%CG_failing").collect()
    assert {row.topic for row in named} == {"OrderTopic3", "%DLQ%CG_failing"}
    assert len(named) == 530 + 11


def test_bodies_come_when_asked_for(spark: SparkSession, demo_store: Path) -> None:
    schema = "physical_offset BIGINT, body BINARY, body_size INT"
    rows = commitlog(spark, demo_store, schema, bodies="true", max_physical_offset=20_000).collect()
    assert rows
    assert all(len(row.body) == row.body_size for row in rows)


def test_units_equal_the_truth(spark: SparkSession, demo_store: Path) -> None:
    frame = spark.read.format("rocketmq_consumequeue").option("store", str(demo_store)).load()
    found = {(row.topic, row.queue_id, row.queue_offset): row for row in frame.collect()}
    queues = [queue for queue in truth_rows("queues.jsonl.gz") if queue["maxOffset"]]
    assert len(found) == sum(len(queue["units"]) for queue in queues)
    for queue in queues:
        for place, (physical_offset, msg_size, tags_code) in enumerate(queue["units"], queue["minOffset"]):
            row = found[queue["topic"], queue["queueId"], place]
            assert (row.physical_offset, row.msg_size, row.tags_code) == (physical_offset, msg_size, tags_code)


def test_queues_of_files_equal_the_truth(spark: SparkSession, demo_store: Path) -> None:
    lines = [row for row in truth_rows("queues.jsonl.gz") if row["maxOffset"]]
    rows = spark.read.format("rocketmq_queues").option("store", str(demo_store)).load().collect()
    found = {(row.topic, row.queue_id): (row.min_queue_offset, row.max_queue_offset, row.messages) for row in rows}
    for line in lines:
        first, end = line["minOffset"], line["maxOffset"]
        assert found[line["topic"], line["queueId"]] == (first, end, end - first)


def test_queues_and_tables_of_databases_are_rows(spark: SparkSession) -> None:
    name = "5.5.0-rocksdb"
    store = store_root(name)

    def read(source: str, **options: str) -> list[Any]:
        return spark.read.format(source).option("store", str(store)).options(**options).load().collect()

    lines = {(line["topic"], line["queueId"]): line for line in truth_lines(name, "queues.jsonl.gz")}
    filled = {key: line for key, line in lines.items() if line["maxOffset"]}
    units = [(row.topic, row.queue_id, row.physical_offset, row.file) for row in read("rocketmq_consumequeue")]
    assert units == [(*key, unit[0], "consumequeue") for key in sorted(filled) for unit in filled[key]["units"]]
    small = read("rocketmq_consumequeue", topics="Small")
    assert {row.topic for row in small} == {"Small"}
    assert all(row.store_timestamp_ms for row in small)
    ends = {(row.topic, row.queue_id): (row.min_queue_offset, row.max_queue_offset) for row in read("rocketmq_queues")}
    assert ends == {key: (line["minOffset"], line["maxOffset"]) for key, line in filled.items()}
    assert {row.file for row in read("rocketmq_config", table="topic_configs")} == {"config/topics"}
    databases = {row.file for row in read("rocketmq_files") if row.kind == "rocksdb"}
    tables = {f"config/{name}" for name in ("topics", "subscriptionGroups", "consumerOffsets")}
    assert databases == {"consumequeue", "rocksdbstore", *tables}


def test_an_empty_store_of_a_kind_gives_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_bytes(bytes(4096))
    for name in ("rocketmq_commitlog", "rocketmq_consumequeue", "rocketmq_index", "rocketmq_config"):
        assert spark.read.format(name).option("store", str(tmp_path)).load().collect() == [], name
    assert commitlog(spark, tmp_path, "physical_offset BIGINT", topics="none").count() == 0


def test_a_missing_option_and_a_wrong_number_are_told(spark: SparkSession, demo_store: Path) -> None:
    with pytest.raises(Exception, match='option "store" is missing'):
        spark.read.format("rocketmq_commitlog").load().count()
    with pytest.raises(Exception, match="option split_bytes: a whole number"):
        commitlog(spark, demo_store, split_bytes="many").count()
    with pytest.raises(Exception, match="split_bytes must be positive, not 0"):
        commitlog(spark, demo_store, split_bytes=0).count()


def test_no_source_takes_pushed_filters() -> None:
    for source in SOURCES:
        assert "pushFilters" not in vars(source.reader_class), source
        assert source.reader_class.pushFilters is DataSourceReader.pushFilters, source


def test_empty_files_are_cut_like_any_other() -> None:
    files = [StoreFile(Path(str(n)), "commitlog", size, 0) for n, size in enumerate([0, 5, 0, 12])]
    for step in (1, 3, 5, 100):
        pieces = [piece for slice_ in cut(files, step, within_files=True) for piece in slice_.pieces]
        covered = {file.path: sum(p.end - p.start for p in pieces if p.file == file) for file in files}
        assert covered == {file.path: file.size for file in files}
        assert {piece.file for piece in pieces} == set(files)
    with pytest.raises(ValueError, match="split_bytes must be positive"):
        cut(files, 0, within_files=True)


def test_many_small_files_are_shared_among_slices() -> None:
    files = [StoreFile(Path(str(n)), "consumequeue", 20, 0) for n in range(2 * MOST_PIECES + 1)]
    slices = cut(files, 1 << 30, within_files=False)
    assert [len(slice_.pieces) for slice_ in slices] == [MOST_PIECES, MOST_PIECES, 1]
    assert [piece.file for slice_ in slices for piece in slice_.pieces] == files


class _Pushing(DataSource):
    """A hundred numbers, with a reader that takes `i > n` from Spark."""

    @classmethod
    def name(cls) -> str:
        return "pushing"

    def schema(self) -> str:
        return "i INT"

    def reader(self, schema: object) -> DataSourceReader:
        return _PushingReader()


class _PushingReader(DataSourceReader):
    def __init__(self) -> None:
        self.above = -1

    def pushFilters(self, filters: list[Any]) -> Iterator[Any]:
        for pushed in filters:
            if type(pushed).__name__ == "GreaterThan":
                self.above = pushed.value
            else:
                yield pushed

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(self.above)]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        yield from ((i,) for i in range(100) if i > partition.value)


def test_pushdown_is_still_unsafe(spark: SparkSession) -> None:
    """The day this fails, Spark no longer mixes the filters of two scans (SPARK-58551) and pushdown may be used."""
    import pyspark.cloudpickle as cloudpickle

    import tests.e2e.test_spark_sources as here

    cloudpickle.register_pickle_by_value(here)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        spark.dataSource.register(_Pushing)
        frame = spark.read.format("pushing").load()
        assert frame.where("i > 89").union(frame).count() == 20, "110 rows: pushdown is safe now"
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
        cloudpickle.unregister_pickle_by_value(here)


def flipped_log(root: Path) -> tuple[Path, list[int]]:
    """A log of two files whose fifth message has a flipped body; where the messages of the first file start."""
    first = SmallLog()
    first.put(8)
    first.write(first.places[4] + 90, b"?")
    first.end()
    second = SmallLog(base_offset=first.size)
    second.put(2)
    for log in (first, second):
        log.save(root)
    return root, first.places


def test_a_range_takes_in_a_message_with_a_wrong_crc_at_its_start(spark: SparkSession, tmp_path: Path) -> None:
    root, places = flipped_log(tmp_path)
    for split_bytes in (100_000, places[4], 100):
        for low in (places[4], places[4] - 1, places[4] + 1):
            frame = commitlog(
                spark, root, "physical_offset BIGINT", split_bytes=split_bytes, min_physical_offset=low,
                max_physical_offset=places[6] + 1,
            )  # fmt: skip
            expected = [place for place in places[:7] if place >= low]
            assert sorted(row.physical_offset for row in frame.collect()) == expected, (split_bytes, low)


def test_a_flipped_body_is_damage_among_the_regions(spark: SparkSession, tmp_path: Path) -> None:
    root, places = flipped_log(tmp_path)
    rows = spark.read.format("rocketmq_regions").option("store", str(root)).load().collect()
    damage = [row for row in rows if row.kind == "damage"]
    assert [(row.file_pos, row.length, row.records) for row in damage] == [(places[4], places[5] - places[4], 1)]
    assert "CRC" in damage[0].reason


def test_timers_are_those_that_the_reader_finds(spark: SparkSession, demo_store: Path) -> None:
    logs = [file for file in open_store(demo_store).timer if file.kind == "timerlog"]
    expected = [row for batch in read_timerlog(logs) for row in batch.to_pylist()]
    rows = spark.read.format("rocketmq_timer").option("store", str(demo_store)).load().orderBy("position").collect()
    assert len(rows) == len(expected) > 0
    for row, told in zip(rows, expected, strict=True):
        assert row.file == f"timerlog/{told['file']}" or row.file == told["file"]
        assert (row.position, row.physical_offset, row.msg_size) == tuple(
            told[name] for name in ("position", "physical_offset", "msg_size")
        )
        assert row.due_time.timestamp() == told["due_time"].timestamp()
