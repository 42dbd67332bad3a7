"""Ordered consumers before 4.9.5 that had a lock and did not know it, against the consumer's own table.

The judge is `locked` of each queue, looked at inside the recorded client every 100 ms.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from rebalance.model.timing import LOCK_STALL_MS
from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.rebalance_sessions import SESSIONS, json_lines

RECORDED = GOLDEN / "rebalance" / "late-locks"
SAMPLED_MS = 150
Place = tuple[str, str, int]


def late_locks(logs: Path) -> dict[Place, tuple[int, int]]:
    told = call("replay", logs, "--show", "anomalies", "--format", "jsonl")
    rows = [row for row in map(json.loads, told.out.splitlines()) if row["kind"] == "lock_late"]
    return {(row["topic"], row["broker"], row["queue_id"]): (_ms(row["begin_at"]), _ms(row["end_at"])) for row in rows}


def waits_in_table() -> dict[Place, tuple[int, int]]:
    """Queues that the client had and did not take for locked, for as long as makes an anomaly."""
    since: dict[Place, int] = {}
    waits: dict[Place, tuple[int, int]] = {}
    for sample in json_lines(RECORDED / "tables.jsonl.gz"):
        for topic, broker, queue_id, state in sample["table"]:
            place = (topic, broker, queue_id)
            if not state["locked"]:
                since.setdefault(place, sample["ts"])
            elif place in since and sample["ts"] - since[place] >= LOCK_STALL_MS:
                waits[place] = (since.pop(place), sample["ts"])
            else:
                since.pop(place, None)
    return waits


def test_each_wait_is_the_one_in_the_clients_table() -> None:
    told, truth = late_locks(RECORDED), waits_in_table()
    assert truth
    assert told.keys() == truth.keys()
    for place, (begin, end) in truth.items():
        assert abs(told[place][0] - begin) <= SAMPLED_MS
        assert abs(told[place][1] - end) <= SAMPLED_MS


def test_clients_since_4_9_5_wait_for_no_renewal() -> None:
    for session in SESSIONS:
        assert not late_locks(session / "logs"), session.name


def _ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
