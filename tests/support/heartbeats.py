"""Stores with heartbeats that a proxy in cluster mode told other proxies of, as the proxy's own classes write them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.support.build_store import StoreBuilder, write_json
from tests.support.fixtures import GOLDEN

TOPIC = "DefaultHeartBeatSyncerTopic"
VECTORS = [json.loads(line) for line in (GOLDEN / "messages" / "heartbeats-5.3.3.jsonl").read_text().splitlines()]
BODIES = [base64.b64decode(vector["body"]) for vector in VECTORS]
TOLD: list[dict[str, Any]] = [vector["read"] for vector in VECTORS]
"""Three of four are heartbeats of the groups G0 and G1 in turn, every fourth is a farewell from G1."""


def proxied_store(root: Path, *bodies: bytes, later: int = 0, ordered: bool | None = False) -> Path:
    """A store with these heartbeats, then so many messages of a FIFO topic, which G0 and G1 read to its end."""
    builder = StoreBuilder(root)
    for body in bodies:
        builder.put(TOPIC, properties=(), body=body)
    for _ in range(later + 1):
        builder.put("Fifo")
    root = builder.finish()
    offsets = {f"Fifo@{group}": {"0": later + 1} for group in ("G0", "G1", "G2")}
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": offsets})
    fifo = {
        "topicName": "Fifo",
        "perm": 6,
        "readQueueNums": 1,
        "writeQueueNums": 1,
        "attributes": {"message.type": "FIFO"},
    }
    own = {"topicName": TOPIC, "perm": 6, "readQueueNums": 1, "writeQueueNums": 1}
    write_json(root / "config" / "topics.json", {"topicConfigTable": {"Fifo": fifo, TOPIC: own}})
    one = {} if ordered is None else {"consumeMessageOrderly": ordered}
    groups = {group: {"groupName": group, **one} for group in ("G0", "G1")}
    write_json(root / "config" / "subscriptionGroup.json", {"subscriptionGroupTable": groups})
    return root
