"""Queries by key and by time, against the answers of the brokers' own classes.

Not judged, as the README of the stores says: before 5.1.1 a search by time in a queue of several files, one of which is
picked by its modification time.
"""

from __future__ import annotations

import pytest

from recovery.query.by_time.time_search import Boundary
from recovery.query.query import KeyQuestion, StoreQuery, TimeQuestion
from recovery.rules.versions import BrokerVersion
from tests.support.opened import opened_golden
from tests.support.stores import (
    CLASSIC_KINDS,
    GROUP_KINDS,
    LEFT_OUT,
    MORE_KINDS,
    store_names,
    truth,
    truth_lines,
)

KINDS = (*CLASSIC_KINDS, *MORE_KINDS, *GROUP_KINDS, "dledger", "rocksdb", "rocksdbv2")
stores = pytest.mark.parametrize("name", store_names(*KINDS, subject="log"))
UNINDEXED = LEFT_OUT["index of unique ids"]
ROLLED_BACK = 0xC
TIME_ANSWERS: tuple[tuple[str, Boundary], ...] = (
    ("offset", "lower"),
    ("offsetLOWER", "lower"),
    ("offsetUPPER", "upper"),
)


def version_of(name: str) -> BrokerVersion:
    return BrokerVersion.parse(truth(name, "store_state.json")["version"])


@stores
def test_key_queries_answer_what_the_broker_answers(name: str) -> None:
    query = StoreQuery(*opened_golden(name, version_of(name)))
    lines = list(truth_lines(name, "query_by_key.jsonl.gz"))
    assert len(lines) >= 250
    for line in lines:
        question = KeyQuestion(line["topic"], line["key"], line["maxNum"], line["begin"], line["end"])
        assert query.query_offsets(question) == line["phyOffsets"]
        found = sorted(query.find_by_key(question, hash_only=True), key=lambda hit: hit.physical_offset)
        assert [hit.message.message_id for hit in found] == line["queryMessageIds"]


@stores
def test_found_messages_have_the_key_in_the_order_of_the_index(name: str) -> None:
    query = StoreQuery(*opened_golden(name, version_of(name)))
    lines = list(truth_lines(name, "query_by_key.jsonl.gz"))
    questions = [KeyQuestion(line["topic"], line["key"], line["maxNum"], line["begin"], line["end"]) for line in lines]
    found_by = set()
    for question, line, found in zip(questions, lines, map(query.find_by_key, questions), strict=True):
        offsets = [hit.physical_offset for hit in found]
        assert [offset for offset in line["phyOffsets"] if offset in offsets] == offsets
        for hit in found:
            properties = dict(hit.message.properties())
            keys = properties.get("KEYS", "").split(" ")
            assert hit.message.topic == question.topic
            assert question.key in (*keys, properties.get("UNIQ_KEY"))
            found_by.add(hit.found_by)
    assert found_by == ({"key"} if name.startswith("3.") else {"unique_id", "key"})  # whose clients made no unique id


@pytest.mark.parametrize("name", [name for name in store_names(*KINDS, subject="log") if name not in UNINDEXED])
def test_a_message_is_found_by_its_id(name: str) -> None:
    query = StoreQuery(*opened_golden(name, version_of(name)))
    lines = [line for line in truth_lines(name, "messages.jsonl.gz") if line["type"] == "message"]
    assert len(lines) >= 40
    for line in lines[:: 1 + len(lines) // 200]:
        (found,) = query.find_by_message_id(line["msgId"])
        assert found.physical_offset == line["physicalOffset"]
        if line["uniqKey"] and line["sysFlag"] & ROLLED_BACK != ROLLED_BACK:  # what is rolled back is not indexed
            hits = query.find_by_unique_id(KeyQuestion(line["topic"], line["uniqKey"]))
            assert line["physicalOffset"] in [hit.physical_offset for hit in hits]


@pytest.mark.parametrize("name", store_names(*KINDS, "batchcq", subject="log"))
def test_searches_by_time_answer_what_the_broker_answers(name: str) -> None:
    _judge_searches(name)


@pytest.mark.parametrize("name", store_names("batchfiles", subject="log"))
def test_searches_by_time_in_batch_queues_of_several_files(name: str) -> None:
    _judge_searches(name)


def _judge_searches(name: str) -> None:
    version = version_of(name)
    store, known = opened_golden(name, version)
    query = StoreQuery(store, known)
    judged = []
    for line in truth_lines(name, "offset_by_time.jsonl.gz"):
        files = store.queues.get((line["topic"], line["queueId"]), [])
        if version.searches_time_by_boundary or len(files) == 1:
            for field, boundary in TIME_ANSWERS:
                if field in line:
                    question = TimeQuestion(line["topic"], line["queueId"], line["timestamp"], boundary)
                    judged.append((question, line[field]))
    questions, answers = zip(*judged, strict=True)
    assert len(judged) >= (900 if version.searches_time_by_boundary else 150)
    assert list(map(query.offset_at, questions)) == list(answers)
