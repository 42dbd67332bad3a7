"""Small recordings, questions and configurations: what the fuzzer starts from."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pyarrow as pa

from rebalance.readers.logs import TEMPLATES
from rebalance.readers.wire.remoting import JSON_HEADER, ROCKETMQ_HEADER
from tests.support.fixtures import GOLDEN
from tests.support.pcap import as_pcap, command_of, packets_of
from tests.support.rebalance_sessions import json_lines
from tests.support.remoting_frames import encode_frame
from tests.unit.test_log_templates import LAYOUTS, example

SESSION = GOLDEN / "rebalance" / "sessions" / "c-497-ordered-kill"
MOST_BODY = 1500
POLLS: list[dict[str, Any]] = [
    {
        "ts": 9_000,
        "kind": "consumerConnection",
        "group": "g",
        "body": {
            "connectionSet": [{"clientId": "c1", "clientAddr": "10.0.0.1:5", "version": 479, "language": "JAVA"}],
            "messageModel": "CLUSTERING",
        },
    },
    {"ts": 9_100, "kind": "consumerConnection", "group": "g", "error": "CODE: 206  DESC: not online"},
    {
        "ts": 9_200,
        "kind": "consumerRunningInfo",
        "group": "g",
        "clientId": "c1",
        "mqTable": [["T", "b", 1, "ProcessQueueInfo [droped=true]"], ["T", "b", 0, "ProcessQueueInfo [droped=false]"]],
    },
    {
        "ts": 9_300,
        "kind": "topicRoute",
        "topic": "T",
        "body": {"queueDatas": [{"brokerName": "b", "readQueueNums": 4, "writeQueueNums": 4, "perm": 6}]},
    },
    {"topicConfigTable": {"T": {"readQueueNums": 8, "perm": 6}}},
    {"subscriptionGroupTable": {"g": {"consumeEnable": True, "retryQueueNums": 1}}},
]
STRATEGIES: list[dict[str, Any]] = [
    {"strategy": "AVG"},
    {"strategy": "AVG_BY_CIRCLE", "version": "4.9.7"},
    {"strategy": "CONFIG", "params": {"messageQueueList": [["T", "b", 0]]}},
    {"strategy": "MACHINE_ROOM", "params": {"consumeridcs": ["r1"]}},
    {"strategy": "MACHINE_ROOM_NEARBY-AVG", "params": {"resolver": "text before first '-'"}},
    {"strategy": "CONSISTENT_HASH", "params": {"virtualNodeCnt": 3, "charset": "utf-8"}},
    {"strategy": "AVG", "params": {"popShareQueueNum": 1}},
]
QUESTION = {
    "group": "g",
    "current": "r1-c",
    "mq_all": [["T", "r1-b", 0], ["T", "r2-b", 1]],
    "cid_all": ["r1-c", "r2-d"],
}
CONFIGURATION = b"""[lake]
path = "../lake"
bodies = false
[[broker]]
name = "broker-a"
id = 0
store = "store"
version = "5.3.3"
[broker.settings]
maxIndexNum = 2000
timerWheelEnable = true
[[client]]
logs = "logs/*.log"
[[capture]]
files = "wire*.jsonl.gz"
"""
TEXTS = (
    "7F00000100002A9F0000000000000000",
    "00000000000000000000000000000001000028A700000000000000FF",
    "2026-11-21T13:05:00.123Z",
    "1795273632813",
    "V5_3_3_SNAPSHOT",
    "4.9.7",
    "1s 5s 10m 2h 1d",
)


def lines(objects: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)


def wire_records() -> list[dict[str, Any]]:
    """The first record of each kind that a recorded cluster has, those with short bodies."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for record in json_lines(SESSION / "wire.jsonl.gz"):
        if len(json.dumps(record)) < MOST_BODY:
            found.setdefault((record["dir"], record.get("code"), record.get("name")), record)
    return list(found.values())


def log_of(log: str) -> bytes:
    """Every text of a log, in all layouts by turns."""
    chosen = [template for template in TEMPLATES if template.log == log]
    return "".join(
        LAYOUTS[number % len(LAYOUTS)].format(example(template)[0]) for number, template in enumerate(chosen)
    ).encode()


def corpus() -> dict[str, dict[str, bytes]]:
    """By target and name."""
    records = wire_records()
    commands = [command_of(record) for record in records if record["dir"] != "lifecycle"]
    plain = b"body " * 40
    return {
        "broker-log": {"every-text": log_of("broker")},
        "client-log": {"every-text": log_of("client")},
        "wire": {"one-of-each": lines(records)},
        "frames": {
            "json": b"".join(encode_frame(command, JSON_HEADER) for command in commands),
            "rocketmq": b"".join(encode_frame(command, ROCKETMQ_HEADER) for command in commands),
        },
        "pcap": {"one-of-each": as_pcap(packets_of(r for r in records if r["dir"] != "lifecycle")).getvalue()},
        "polls": {"one-of-each": lines(POLLS)},
        "questions": {"one-of-each": lines([{**QUESTION, **strategy} for strategy in STRATEGIES])},
        "configuration": {
            "lake": CONFIGURATION,
            "broker-conf": b"brokerClusterName = c\nmaxIndexNum=1048576\n# note\nflushDiskType=SYNC_FLUSH\n",
        },
        "text": {str(number): text.encode() for number, text in enumerate(TEXTS)},
        "body": {
            "zlib": zlib.compress(plain),
            "lz4": pa.compress(plain, codec="lz4", asbytes=True),
            "zstd": pa.compress(plain, codec="zstd", asbytes=True),
        },
    }
