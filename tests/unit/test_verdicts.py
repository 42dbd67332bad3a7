"""The verdict of each broker: the worst finding, what a start would lose, lag, and the command that says more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.answers.verdicts import verdicts_of
from pipelines.lake.lake import Lake
from pipelines.lake.sources import BrokerSource, Sources
from tests.support.small_lake import put

FORECAST = {"load": {"ok": True, "error": None}, "start": {"returns": True}, "losses_are_known": True, "otherwise": []}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Two brokers that were read, the first one with two findings and two forecasts, and one that was not."""
    lake = Lake(tmp_path)
    put(lake, "store_files", *({"broker": name, "file": "commitlog/0", "size": 7} for name in ("a", "b")))
    findings = [("warning", "queue_gap", "consumequeue/T/0"), ("critical", "body_crc_wrong", "commitlog/0")]
    put(
        lake,
        "consistency_findings",
        *({"broker": "a", "severity": s, "kind": k, "place": p, "document": "{}"} for s, k, p in findings),
    )
    suggested = {**FORECAST, "lost_counts": {"message": 3, "index_entries": 1}, "otherwise": [{}]}
    other = {**FORECAST, "lost_counts": {"message": 90}}
    put(
        lake,
        "recovery_forecast",
        *({"broker": "a", "document": json.dumps(document)} for document in (other, suggested, other)),
        {"broker": "b", "document": json.dumps({**FORECAST, "lost_counts": {}})},
    )
    put(
        lake,
        "lag",
        *(
            {"broker": "b", "group": "g", "topic": "T", "queue_id": q, "messages_behind": n}
            for q, n in enumerate([5, -2, None])
        ),
    )
    return lake


def test_each_broker_has_a_verdict(lake: Lake) -> None:
    brokers = tuple(BrokerSource(name, Path(f"/data/{name} x")) for name in ("a", "b", "c"))
    first, second, unread = verdicts_of(lake, Sources(lake.root, brokers))
    assert first.sentence() == (
        "a: 2 findings, worst critical body_crc_wrong (commitlog/0); a start would lose 4 messages; lag unknown; "
        "next: `rocketlens verify '/data/a x'`"
    )
    assert second.sentence() == (
        "b: its files agree; a start loses nothing; 5 messages behind, 1 queues unknown; "
        "next: `rocketlens lag '/data/b x'`"
    )
    assert unread.sentence() == "c: its files were not compared; no forecast was made; lag unknown"
    assert (first.disk_bytes, unread.disk_bytes) == (7, None)


def test_a_start_that_does_not_come_up_is_asked_of_forecast(lake: Lake) -> None:
    put(
        lake,
        "recovery_forecast",
        {
            "broker": "b",
            "document": json.dumps({**FORECAST, "load": {"ok": False}, "losses_are_known": False, "lost_counts": {}}),
        },
    )
    (verdict,) = verdicts_of(lake, Sources(lake.root, (BrokerSource("b", Path("/b")),)))
    assert (verdict.starts, verdict.lost, verdict.next_command) == (False, None, "rocketlens forecast /b")
