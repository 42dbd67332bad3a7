"""A lake of one broker without Spark: the tables that the history of lag is asked from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from parsers.commitlog.batches.read import read_commitlog
from parsers.config.topics import read_topics
from parsers.consumequeue.read import read_queue
from parsers.consumequeue.summary import summarize_queue
from parsers.store.store import Store, open_store
from pipelines.answers.lives.life_rows import life_rows
from pipelines.answers.offsets.saved import OffsetsAt, offsets_in
from pipelines.lake.catalog import publish
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.notebook.bundles import bundle, bundled_store
from recovery.lives.topic_lives import StoreLives

BROKER = "broker-0"
CONFIG = '[lake]\npath = "lake"\n[[broker]]\nname = "broker-0"\nstore = {store}\n'
Rows = Iterator[dict[str, Any]]


def lake_of_cluster(folder: Path) -> Path:
    """Fill and publish a lake of the recorded cluster in `folder`; its rocketlens.toml."""
    store = open_store(bundled_store("orders-cluster"))
    lake = Lake(folder / "lake")
    fill_lake(lake, store, offsets_in(bundle("orders-cluster") / "offsets", print))
    publish(lake)
    config = folder / "rocketlens.toml"
    config.write_text(CONFIG.format(store=json.dumps(str(store.root))))
    return config


def fill_lake(lake: Lake, store: Store, copies: Iterable[OffsetsAt]) -> None:
    """The tables of one store and of the kept copies of its offsets."""
    written = {
        "commitlog_messages": _messages(store),
        "consumequeue_units": _units(store),
        "queues": _queues(store),
        "topic_configs": _topics(store),
        "offset_snapshots": _snapshots(copies),
        "topic_lives": life_rows(StoreLives(store)(), broker=BROKER),
    }
    for name, rows in written.items():
        schema = TABLES[name].bare_schema
        ordered = sorted(({"broker": BROKER, **row} for row in rows), key=lambda row: str(row.get("file")))
        lake.write(name, pa.Table.from_pylist(ordered, schema=schema))


def _messages(store: Store) -> Rows:
    for batch in read_commitlog(store, columns=("physical_offset", "store_timestamp")):
        yield from ({"file": "commitlog", **row} for row in batch.to_pylist())


def _units(store: Store) -> Rows:
    for (topic, queue_id), files in store.queues.items():
        for batch in read_queue(files):
            yield from (
                {"file": "consumequeue", "topic": topic, "queue_id": queue_id, **row} for row in batch.to_pylist()
            )


def _queues(store: Store) -> Rows:
    for (topic, queue_id), files in store.queues.items():
        summary = summarize_queue(files, commitlog_min=0)
        yield {
            "topic": topic,
            "queue_id": queue_id,
            "min_queue_offset": summary.min_queue_offset,
            "max_queue_offset": summary.max_queue_offset,
        }


def _topics(store: Store) -> Rows:
    for _, topic in read_topics(store.config):
        yield {"file": "config/topics.json", "topic": topic.topic, "read_queue_nums": topic.read_queue_nums}


def _snapshots(copies: Iterable[OffsetsAt]) -> Rows:
    for copy in copies:
        written = datetime.fromtimestamp(copy.written_ms / 1000, UTC)
        place = {"file": "config/consumerOffset.json", "written_at": written, "kind": "committed"}
        for (group, topic), queues in copy.offsets.items():
            for queue_id, consumer_offset in queues.items():
                found = {"group": group, "topic": topic, "queue_id": queue_id, "consumer_offset": consumer_offset}
                yield {**place, **found}
