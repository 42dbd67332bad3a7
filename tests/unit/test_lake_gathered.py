"""Partitions that get a part with every ingest: few parts, every row once."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from pipelines.ingest.config_snapshots import known_states
from pipelines.ingest.ingest import IngestReport, ingest_store
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.errors import PartsMissing
from pipelines.lake.delta.gathered import AT_ONCE, gather
from pipelines.lake.delta.log import newest_version
from pipelines.lake.delta.parts import write_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import OFFSET_SNAPSHOTS
from pipelines.lake.tables.raw_messages import COMMITLOG_MESSAGES
from tests.support.build_store import SETTINGS, StoreBuilder, shop, write_json
from tests.support.plain_spark import plain_spark
from tests.support.small_lake import declared_without

MESSAGES = COMMITLOG_MESSAGES.name


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def grow(lake: Lake, first: int, count: int = 1, *, broker: str = "b", file: str = "commitlog/0") -> None:
    """Add messages to a file's rows, as an ingest does of a log that has grown."""
    rows = [{"broker": broker, "file": file, "physical_offset": first + number} for number in range(count)]
    table = pa.Table.from_pylist(rows, schema=COMMITLOG_MESSAGES.bare_schema)
    root = lake.table_root(MESSAGES)
    commit(COMMITLOG_MESSAGES, root, write_parts(COMMITLOG_MESSAGES, root, "new", table.to_batches()), [])


def gathered(lake: Lake, broker: str = "b") -> int:
    return gather(COMMITLOG_MESSAGES, lake.table_root(MESSAGES), broker)


def offsets(lake: Lake, broker: str = "b") -> list[int]:
    sql = f"SELECT physical_offset FROM {MESSAGES} WHERE broker = $broker ORDER BY 1"
    return [int(row["physical_offset"]) for row in lake.query_broker(sql, broker).to_pylist()]


def test_many_small_parts_become_one_with_the_same_rows_in_order(lake: Lake) -> None:
    grow(lake, 0, broker="other")
    for number in range(AT_ONCE - 1):
        grow(lake, number)
        assert gathered(lake) == 0
    others = lake.files(MESSAGES, "other")
    grow(lake, AT_ONCE - 1)
    assert gathered(lake) == AT_ONCE
    assert offsets(lake) == list(range(AT_ONCE))
    one, *rest = lake.files(MESSAGES, "b")
    assert rest == []
    assert pa.parquet.read_table(one)["physical_offset"].to_pylist() == list(range(AT_ONCE))
    assert lake.files(MESSAGES, "other") == others
    assert gathered(lake) == 0


def test_parts_of_different_size_or_of_other_files_are_left_alone(lake: Lake) -> None:
    grow(lake, 0, 1000)
    for number in range(AT_ONCE - 1):
        grow(lake, 1000 + number)
        grow(lake, number, file=f"commitlog/{number}1")
    assert gathered(lake) == 0
    assert len(lake.files(MESSAGES, "b")) == 2 * AT_ONCE - 1


def test_who_follows_the_versions_is_told_that_no_row_changed(lake: Lake) -> None:
    for number in range(AT_ONCE):
        grow(lake, number)
    gathered(lake)
    newest = newest_version(lake.table_root(MESSAGES))
    assert newest is not None
    actions = [json.loads(line) for line in newest.read_text().splitlines()]
    told = [action[kind]["dataChange"] for action in actions for kind in ("add", "remove") if kind in action]
    assert told == [False] * (AT_ONCE + 1)


def test_a_part_that_is_gone_leaves_the_table_as_it_was(lake: Lake) -> None:
    for number in range(AT_ONCE):
        grow(lake, number)
    before = lake.version(MESSAGES)
    gone, *others = map(Path, lake.files(MESSAGES, "b"))
    gone.unlink()
    with pytest.raises(PartsMissing, match="check-lake --repair"):
        gathered(lake)
    assert lake.version(MESSAGES) == before
    assert sorted(lake.table_root(MESSAGES).rglob("part-*")) == sorted(others)


def config_us(path: Path) -> int:
    return path.stat().st_mtime_ns // 1000


def test_a_state_that_a_file_still_holds_gets_a_new_column(lake: Lake, tmp_path: Path) -> None:
    """A configuration that is seldom written had it null for as long; states that were written over keep it so."""
    broker, table = BrokerSource("b", shop(tmp_path / "store").finish()), OFFSET_SNAPSHOTS
    config = broker.store / "config" / "consumerOffset.json"

    def written(offset: int) -> None:
        write_json(config, {"offsetTable": {"Orders@g": {"0": offset}}})
        os.utime(config, (1_700_000_000 + offset, 1_700_000_000 + offset))
        ingest_store(plain_spark(), lake, broker, IngestReport())

    with declared_without(table, "topic"):
        written(1)
        written(2)
    asked = f"SELECT consumer_offset, topic FROM {table.name} ORDER BY 1"
    assert lake.query(asked)["topic"].to_pylist() == [None, None]
    for _ in range(2):
        ingest_store(plain_spark(), lake, broker, IngestReport())
        assert [tuple(row.values()) for row in lake.query(asked).to_pylist()] == [(1, None), (2, "Orders")]


def test_a_log_and_offsets_that_are_ingested_as_they_grow_stay_in_few_parts(lake: Lake, tmp_path: Path) -> None:
    one_file = replace(SETTINGS, mapped_file_size_commit_log=1 << 16)
    builder, times = StoreBuilder(tmp_path / "store", one_file), AT_ONCE + 2
    builder.put("Orders", 0)
    broker = BrokerSource("b", builder.finish(), version="5.3.3")
    for number in range(times):
        builder.put("Orders", 0)
        for folder in ("consumequeue", "index"):
            shutil.rmtree(broker.store / folder)
        builder.finish()
        config = broker.store / "config" / "consumerOffset.json"
        write_json(config, {"offsetTable": {"Orders@g": {"0": number}}})
        os.utime(config, (1_700_000_000 + number, 1_700_000_000 + number))
        ingest_store(plain_spark(), lake, broker, IngestReport())
    whole = Lake(tmp_path / "whole")
    ingest_store(plain_spark(), whole, broker, IngestReport())
    assert offsets(lake) == offsets(whole)
    files = store_of(broker).config
    assert known_states(lake, broker, "offset_snapshots", files) == {(f"config/{config.name}", config_us(config))}
    states = lake.query("SELECT consumer_offset FROM offset_snapshots ORDER BY 1")["consumer_offset"].to_pylist()
    assert states == list(range(times))
    assert {name: len(lake.files(name)) < AT_ONCE for name in (MESSAGES, "offset_snapshots")} == {
        MESSAGES: True,
        "offset_snapshots": True,
    }
