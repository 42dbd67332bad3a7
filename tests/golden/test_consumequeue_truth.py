"""Every unit and every queue's offsets of real brokers' stores, against what their own classes said."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from parsers.consumequeue.read import read_queue
from parsers.consumequeue.schema import UNIT_SCHEMA
from parsers.consumequeue.summary import summarize_queue
from parsers.store.store import open_store
from parsers.values.topics import SCHEDULE_TOPIC
from tests.support.stores import QUEUE_KINDS, store_names, store_root, truth, truth_lines

stores = pytest.mark.parametrize("name", store_names(*QUEUE_KINDS, subject="queues"))


def kind_of_tags_code(name: str, topic: str) -> str:
    if name.endswith("-cqext"):
        return "ext_address"
    return "delivery_time" if topic == SCHEDULE_TOPIC else "tag_hash"


@stores
def test_every_unit_equals_the_brokers(name: str) -> None:
    queues = open_store(store_root(name)).queues
    expected = {(line["topic"], line["queueId"]): line for line in truth_lines(name, "queues.jsonl.gz")}
    classic = {key: line for key, line in expected.items() if line["type"] == "ConsumeQueue"}
    commitlog_min = truth(name, "store_state.json")["minPhy"]
    assert set(queues) == {key for key, line in classic.items() if line["maxOffset"]}
    for key, files in queues.items():
        table = pa.Table.from_batches(read_queue(files), UNIT_SCHEMA)
        filled = table.filter(pc.field("kind") == "pre_blank")["queue_offset"].to_pylist()
        table = table.filter(pc.field("kind") == "unit")
        rows = table.select(["physical_offset", "msg_size", "tags_code"]).to_pydict().values()
        assert [list(row) for row in zip(*rows, strict=True)] == classic[key]["units"]
        assert table["queue_offset"].to_pylist() == list(range(classic[key]["minOffset"], classic[key]["maxOffset"]))
        assert not filled or (commitlog_min > 0 and max(filled) == classic[key]["minOffset"] - 1)
        assert set(table["tags_code_kind"].to_pylist()) == {kind_of_tags_code(name, key[0])}


@stores
def test_offsets_of_every_queue_equal_the_brokers(name: str) -> None:
    store = open_store(store_root(name))
    expected = {(line["topic"], line["queueId"]): line for line in truth_lines(name, "queues.jsonl.gz")}
    commitlog_min = truth(name, "store_state.json")["minPhy"]
    for key, files in store.queues.items():
        summary = summarize_queue(files, commitlog_min=commitlog_min)
        line = expected[key]
        offset, size, _ = line["units"][-1]
        assert (summary.min_queue_offset, summary.max_queue_offset) == (line["minOffset"], line["maxOffset"])
        assert summary.units == len(line["units"])
        assert not summary.pre_blanks or commitlog_min > 0
        assert summary.max_physical_offset == offset + size
