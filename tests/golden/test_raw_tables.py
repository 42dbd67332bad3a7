"""Tables of files that few stores have, row by row against what the brokers' own classes say of these stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from parsers.values.java import LONG_MAX
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.questions import question
from pipelines.lake.tables.raw import TABLES
from pipelines.spark.transfer import slices_of
from tests.support.stores import store_names, store_root, truth, truth_lines


def table_of(name: str, table: str) -> pa.Table:
    """The rows of a table as an ingest reads them from a golden store."""
    batches = [batch for work in slices_of(BrokerSource("b", store_root(name)), table) for batch in work()]
    return pa.Table.from_batches(batches, TABLES[table].bare_schema)


def rows_of(name: str, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table_of(name, table).to_pylist()
    return rows


def lake_of(name: str, folder: Path, *tables: str) -> Lake:
    lake = Lake(folder / "lake")
    for table in tables:
        lake.write(table, table_of(name, table))
    return lake


@pytest.mark.parametrize("name", store_names("cqext"))
def test_ext_units_are_the_brokers(name: str, tmp_path: Path) -> None:
    told = [
        (line["topic"], line["queueId"], address, tags_code, at, bytes.fromhex(bit_map or ""))
        for line in truth_lines(name, "queues.jsonl.gz")
        for address, _, tags_code, at, bit_map in line.get("ext") or ()
    ]
    columns = ("topic", "queue_id", "ext_address", "tags_code", "store_timestamp_ms", "bit_map")
    rows = rows_of(name, "ext_units")
    assert sorted(tuple(row[column] for column in columns) for row in rows) == sorted(told)
    assert all(row["file"].startswith(f"consumequeue_ext/{row['topic']}/{row['queue_id']}/") for row in rows)
    lake = lake_of(name, tmp_path, "ext_units", "consumequeue_units", "commitlog_messages")
    assert lake.query(question("ext_addresses_without_unit")).num_rows == 0
    lake.write("ext_units", table_of(name, "ext_units").slice(1))
    assert lake.query(question("ext_addresses_without_unit")).num_rows == 1


@pytest.mark.parametrize("name", store_names("compaction-before", "compaction-after"))
def test_compacted_messages_are_the_brokers(name: str, tmp_path: Path) -> None:
    told = [
        (*key.rsplit("_", 1), record["position"], record["queueOffset"], record["properties"]["KEYS"])
        for key, queue in truth(name, "compaction.json").items()
        for record in queue["records"]
        if record["type"] == "message"
    ]
    rows = rows_of(name, "compacted_messages")
    columns = ("position", "queue_offset", "keys")
    found = [(row["topic"], str(row["queue_id"]), *(row[column] for column in columns)) for row in rows]
    assert sorted(found) == sorted(told)
    lake = lake_of(name, tmp_path, "compacted_messages", "commitlog_messages")
    assert lake.query(question("copies_unlike_log")).num_rows == 0


@pytest.mark.parametrize("name", store_names("autoswitch"))
def test_epochs_are_the_brokers(name: str) -> None:
    told = [
        (held["epoch"], held["startOffset"], None if held["endOffset"] == LONG_MAX else held["endOffset"])
        for held in truth(name, "store_state.json")["epochs"]
    ]
    rows = [row for row in rows_of(name, "epochs") if row["file"] == "epochFileCheckpoint"]
    assert [(row["epoch"], row["start_physical_offset"], row["end_physical_offset"]) for row in rows] == told
