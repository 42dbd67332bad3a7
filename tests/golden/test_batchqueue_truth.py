"""Every unit and offset of a real broker's batch queues, against what its own classes said."""

from __future__ import annotations

import pyarrow as pa
import pytest

from parsers.consumequeue.batch import BATCH_UNIT_SCHEMA, read_batch_queue, summarize_batch_queue
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import open_store
from pipelines.answers.lag.lag import queue_ends
from recovery.scan.log_access import LogAccess
from tests.support.stores import store_names, store_root, truth, truth_lines

TRUTH_NAMES = {
    "offset": "physical_offset",
    "size": "msg_size",
    "tagsCode": "tags_code",
    "queueOffset": "queue_offset",
    "batchNum": "message_count",
}


@pytest.mark.parametrize("name", store_names("batchcq", "batchfiles", subject="queues"))
def test_every_unit_and_offset_equals_the_brokers(name: str) -> None:
    queues = open_store(store_root(name)).batch_queues
    expected = [line for line in truth_lines(name, "queues.jsonl.gz") if line["type"] == "BatchConsumeQueue"]
    assert set(queues) == {(line["topic"], line["queueId"]) for line in expected if line["maxOffset"]}
    for line in expected:
        files = queues.get((line["topic"], line["queueId"]), [])
        table = pa.Table.from_batches(read_batch_queue(files), BATCH_UNIT_SCHEMA)
        columns = [table[TRUTH_NAMES[field]].to_pylist() for field in line["unitFields"]]
        assert [list(row) for row in zip(*columns, strict=True)] == line["units"]
        summary = summarize_batch_queue(files, commitlog_min=truth(name, "store_state.json")["minPhy"])
        assert (summary.min_queue_offset, summary.max_queue_offset) == (line["minOffset"], line["maxOffset"])


def test_a_queue_of_batches_ends_at_an_instant_where_it_ended_then() -> None:
    store = open_store(store_root("5.3.3-batchcq"))
    log = LogAccess(store.commitlog)
    with StoreQueues(store) as queues:
        units = pa.Table.from_batches(queues["Small", 0].batches()).to_pylist()
        for unit in units:
            at_ms = unit["store_timestamp_ms"]
            by_then = [other for other in units if other["store_timestamp_ms"] <= at_ms]
            end = by_then[-1]["queue_offset"] + by_then[-1]["message_count"]
            assert queue_ends(queues, log, at_ms)["Small", 0][1] == end
        assert queue_ends(queues, log, units[0]["store_timestamp_ms"] - 1)["Small", 0] == (0, 0)
