"""Trace bodies are read as the TraceDataEncoder of each release writes and reads them (tests/golden/make/trace)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from parsers.messages.trace_columns import CONSUME_RESULTS, RECORDS, decode_traces
from tests.support.fixtures import CHECKOUT
from tests.support.vectors import iter_vectors

VERSIONS = ("4.4.0", "4.7.1", "4.8.0", "4.9.0", "4.9.1", "4.9.2", "4.9.8", "5.0.0", "5.1.4", "5.3.1", "5.3.3")
JAVA_NAMES = {
    "trace_type": "traceType",
    "at_ms": "timeStamp",
    "region": "regionId",
    "group": "groupName",
    "request_id": "requestId",
    "cost_ms": "costTime",
    "success": "success",
    "result": "contextCode",
    "topic": "topic",
    "message_id": "msgId",
    "offset_message_id": "offsetMsgId",
    "tags": "tags",
    "keys": "keys",
    "store_host": "storeHost",
    "client_host": "clientHost",
    "retry_times": "retryTimes",
    "body_size": "bodyLength",
    "message_type": "msgType",
    "transaction_id": "transactionId",
    "transaction_state": "transactionState",
    "from_transaction_check": "fromTransactionCheck",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_whole_bodies_hold_what_was_encoded(version: str) -> None:
    """Those included of which Java's own decoder throws: records of AccessChannel.CLOUD that run together."""
    asked = unreadable = 0
    for vector, rows in vectors(version):
        if vector["wrote"] is None:
            continue
        assert [row["problem"] for row in rows] == [None] * len(vector["wrote"]), vector["body"]
        for row, wrote in zip(rows, vector["wrote"], strict=True):
            compare(row, wrote, version)
        asked += len(rows)
        unreadable += vector["read"] is None
    assert asked > 200
    assert (unreadable > 0) == (version in ("4.9.8", "5.1.4"))


@pytest.mark.parametrize("version", VERSIONS[2:])
def test_damaged_bodies_are_read_as_java_reads_them(version: str) -> None:
    """Where Java reads a body at all, its records are ours; before 4.8.0 its decoder knew no 15 fields."""
    read = thrown = 0
    for vector, decoded in vectors(version):
        if vector["wrote"] is not None:
            continue
        rows = [row for row in decoded if row["trace_type"] in kinds_of(version)]
        if vector["read"] is None:
            thrown += 1
            continue
        assert len(rows) == len(vector["read"]), vector["body"]
        for row, java in zip(rows, vector["read"], strict=True):
            compare(row, java, version)
        read += 1
    assert read > 30
    assert thrown > 5


def vectors(version: str) -> list[tuple[Any, list[Any]]]:
    """Each body of a release with its rows."""
    found = list(iter_vectors(CHECKOUT / "tests" / "golden" / "trace" / f"{version}.jsonl.gz"))
    rows: list[list[Any]] = [[] for _ in found]
    for row in decode_traces(pa.array([vector["body"] for vector in found])).to_pylist():
        rows[row["body_number"]].append(row)
    return list(zip(found, rows, strict=True))


def kinds_of(version: str) -> set[str]:
    later = {"Recall"} if version != "5.3.3" else set()
    return set(RECORDS) - later - ({"EndTransaction"} if version < "4.9.0" else set())


def compare(row: dict[str, Any], java: dict[str, Any], version: str) -> None:
    """Every field that the record has is Java's; Java sets what it does not have to a default."""
    for name, java_name in JAVA_NAMES.items():
        is_read = name != "client_host" or version == "4.8.0"
        if row[name] is not None and is_read:
            expected = java[java_name]
            expected = CONSUME_RESULTS[expected] if name == "result" else expected
            assert row[name] == expected, (name, row, java)
    kind = RECORDS[row["trace_type"]].fields
    missing = [name for name in kind if row[name] is None and java[JAVA_NAMES[name]] not in (None, "null", "")]
    if row["problem"] is not None:  # a word that is neither true nor false, which Java takes for false
        missing = [name for name in missing if java[JAVA_NAMES[name]] is not False]
    assert set(missing) <= {"client_host", "at_ms", "group", "result"}, (missing, row, java)
