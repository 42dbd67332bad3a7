"""The verdict of each broker: the worst finding, what a start would lose, lag, and the command that says more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.answers.verdicts import verdicts_of
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from pipelines.report.sections.overview import overview_section, state_of
from tests.support.small_lake import put

FORECAST = {
    "load": {"ok": True, "error": None},
    "start": {"returns": True},
    "lost_counts": {"message": 0},
    "losses_are_known": True,
    "config": None,
    "otherwise": [],
}


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
        {"broker": "b", "document": json.dumps(FORECAST)},
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
        "a: 2 findings, worst critical body_crc_wrong (commitlog/0); a start would lose 3 messages, "
        "1 message missing in the index; lag unknown: no offsets of groups were found; "
        "next: `rocketlens verify '/data/a x'`"
    )
    assert second.sentence() == (
        "b: its files agree; a start loses nothing; 5 messages behind, 1 queue unknown; "
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
            "document": json.dumps({**FORECAST, "load": {"ok": False}, "losses_are_known": False}),
        },
    )
    (verdict,) = verdicts_of(lake, Sources(lake.root, (BrokerSource("b", Path("/b")),)))
    assert (verdict.starts, verdict.lost, verdict.next_command) == (False, None, "rocketlens forecast /b")


CONFIG_LOST = dict.fromkeys(("topics", "groups", "offsets", "groups_without_offsets", "delay_levels", "gone_back"), 0)
NO_OFFSETS = {"lost_counts": {**CONFIG_LOST, "offsets": None, "groups_without_offsets": 2}, "lost": {"offsets": None}}
OFFSETS = {"lost_counts": {**CONFIG_LOST, "offsets": 4_000, "gone_back": 1}, "lost": {"offsets": [{}]}}


@pytest.mark.parametrize(
    ("told", "words", "state"),
    [
        ({}, "a start loses nothing", "good"),
        (
            {"config": NO_OFFSETS},
            "a start would lose 2 groups without their committed offsets, of which no copy is left",
            "finding",
        ),
        (
            {"config": OFFSETS},
            "a start would lose 4,000 committed offsets; 1 offset gone back",
            "finding",
        ),
        (
            {"losses_are_known": False, "lost_counts": {"message": 0, "queue_unit": 7}},
            "a start would lose at least 7 messages missing in the queue",
            "finding",
        ),
        ({"losses_are_known": False}, "what a start would lose is not known", "unknown"),
        (
            {"commitlog": {"missing": [{"begin": 0, "end": 7}]}},
            "a start loses nothing more than what is missing already",
            "finding",
        ),
    ],
)
def test_what_a_start_loses_of_the_configuration_is_no_nothing(
    told: dict[str, object], words: str, state: str, lake: Lake
) -> None:
    """A store without consumerOffset.json loses no message, and every offset: a verdict and a page said `nothing`."""
    put(lake, "consistency_findings")
    put(lake, "recovery_forecast", {"broker": "b", "document": json.dumps({**FORECAST, **told})})
    put(lake, "lag")
    (verdict,) = verdicts_of(lake, Sources(lake.root, (BrokerSource("b", Path("/b")),)))
    assert words in verdict.sentence()
    row = overview_section([verdict]).tables[0].rows[0]
    assert (state_of(verdict), str(row["lost"]) in verdict.sentence() or state != "finding") == (state, True)
    assert verdict.next_command == ("rocketlens forecast /b" if state == "finding" else None)


@pytest.mark.parametrize(
    ("queues", "seconds", "told"),
    [
        ([(0, 0.0), (9, None)], None, 9),
        ([(0, None), (9, 4.5)], 4.5, 9),
        ([(9, 4.5), (None, None)], None, "9, 1 queue unknown"),
        ([(None, None), (None, None)], None, "2 queues unknown"),
        ([(-2, None), (0, 0.0)], 0.0, 0),
    ],
)
def test_seconds_behind_are_not_known_where_those_of_a_queue_are_not(
    queues: list[tuple[int | None, float | None]], seconds: float | None, told: int | str, tmp_path: Path
) -> None:
    """A copy without times has seconds of its empty retry queue alone: 0.0 behind, said the report."""
    lake = Lake(tmp_path)
    put(lake, "store_files", {"broker": "b", "file": "commitlog/0", "size": 7})
    rows = (
        {"broker": "b", "queue_id": q, "messages_behind": n, "seconds_behind": s} for q, (n, s) in enumerate(queues)
    )
    put(lake, "lag", *rows)
    verdicts = verdicts_of(lake, Sources(lake.root, (BrokerSource("b", Path("/b")),)))
    assert verdicts[0].seconds_behind == seconds
    assert overview_section(verdicts).tables[0].rows[0]["behind"] == told
