"""Every asset check turns red on rows that break it, stays green on rows that do not, and none is left out here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest

from pipelines.cli.docs import leaves
from pipelines.defs.checks import STORE_CHECKS
from pipelines.defs.lakehouse import Lakehouse
from pipelines.lake.tables.raw import TABLES

Rows = Mapping[str, list[dict[str, Any]]]
FILE = {"broker": "b", "file": "commitlog/0"}
MESSAGE = {**FILE, "physical_offset": 0, "total_size": 100, "crc_ok": True}
UNIT = {
    "broker": "b",
    "file": "consumequeue/T/0/0",
    "topic": "T",
    "physical_offset": 0,
    "msg_size": 100,
    "kind": "unit",
}
TIMER = {"broker": "b", "file": "timerlog/0", "position": 0, "physical_offset": 50, "msg_size": 100}
EXT = {"broker": "b", "file": "consumequeue_ext/T/0/0", "topic": "T", "queue_id": 0, "ext_address": -(2**63) + 20}
EXT_UNIT = {**UNIT, "queue_id": 0, "tags_code": EXT["ext_address"], "tags_code_kind": "ext_address"}
COPY = {
    "broker": "b",
    "file": "compaction/compactionLog/T/0/0",
    "topic": "T",
    "queue_id": 0,
    "queue_offset": 5,
    "body_crc": 7,
    "keys": "k",
}
REGION = {**FILE, "file_size": 100, "file_pos": 0, "length": 100, "kind": "messages"}
STARTS = {"broker": "b", "load_ok": True, "starts": True, "lost": ""}

START = {"broker": "b", "earliest": 0, "latest": 3, "max_queue_offset": 9}
HEAD = {"broker": "b", "unread": 2, "matching": 1, "head_queue_offset": 7}
AT = datetime(2026, 11, 21, tzinfo=UTC)
CAUSES = ("offset_moved", "ownership_gap", "lock_wait", "dispatch_delay", "hot_queue", "slow_client", "unexplained")
EPISODE: dict[str, Any] = {"broker": "b", "message_seconds": 9.0, "burst": 1.0, **dict.fromkeys(CAUSES, 0.0)}
RANGE = {
    "broker": "b",
    "topic": "T",
    "queue_id": 0,
    "life": 1,
    "state": "stored",
    "first_queue_offset": 0,
    "end_queue_offset": 2,
    "messages": 2,
    "max_queue_offset": 5,
}
TIERED: dict[str, Any] = {"broker": "b", "topic": "T", "queue_id": 0}
CASES: dict[str, tuple[Rows, list[Rows]]] = {
    "every_byte_accounted_for": (
        {"commitlog_regions": [REGION]},
        [{"commitlog_regions": [{**REGION, "length": 99}]}, {"commitlog_regions": [{**REGION, "file_size": None}]}],
    ),
    "no_damage": ({"commitlog_regions": [REGION]}, [{"commitlog_regions": [{**REGION, "kind": "damage"}]}]),
    "every_crc_right": (
        {"commitlog_messages": [MESSAGE, {**MESSAGE, "physical_offset": 100, "crc_ok": None}]},
        [
            {"commitlog_messages": [{**MESSAGE, "crc_ok": False}]},
            {"commitlog_messages": [{**MESSAGE, "record_crc_ok": False}]},
        ],
    ),
    "offsets_unique": (
        {"commitlog_messages": [MESSAGE, {**MESSAGE, "physical_offset": 100}]},
        [{"commitlog_messages": [MESSAGE, MESSAGE]}],
    ),
    "every_unit_has_its_message": (
        {
            "commitlog_regions": [{**REGION, "physical_offset": 100}],
            "commitlog_messages": [{**MESSAGE, "physical_offset": 200}],
            "consumequeue_units": [
                {**UNIT, "physical_offset": 200},
                {**UNIT, "physical_offset": 99},  # its file was deleted when its time was over
                *({**UNIT, "kind": kind, "physical_offset": 300} for kind in ("pre_blank", "stale", "expired")),
            ],
        },
        [
            {
                "commitlog_regions": [],
                "commitlog_messages": [MESSAGE],
                "consumequeue_units": [{**UNIT, "msg_size": 101}],
            },
            {"commitlog_messages": [MESSAGE], "consumequeue_units": [{**UNIT, "physical_offset": 1}]},
            {"commitlog_messages": [{**MESSAGE, "broker": "other"}], "consumequeue_units": [UNIT]},
            {"commitlog_messages": [], "consumequeue_units": [{**UNIT, "kind": None}]},
            {
                "commitlog_regions": [{**REGION, "physical_offset": 100}],
                "commitlog_messages": [{**MESSAGE, "physical_offset": 200}],
                "consumequeue_units": [{**UNIT, "physical_offset": 100}],
            },
        ],
    ),
    "every_ext_address_leads_to_its_unit": (
        {
            "consumequeue_units": [EXT_UNIT, UNIT],
            "ext_units": [{**EXT, "store_timestamp_ms": 1_795_000_000_001}],
            "commitlog_messages": [
                {**MESSAGE, "store_timestamp": datetime.fromtimestamp(1_795_000_000.001, UTC)},
                {**MESSAGE, "physical_offset": 100},
            ],
        },
        [
            {"consumequeue_units": [EXT_UNIT], "ext_units": []},
            {"consumequeue_units": [EXT_UNIT], "ext_units": [{**EXT, "queue_id": 1}]},
            {
                "consumequeue_units": [EXT_UNIT],
                "ext_units": [{**EXT, "store_timestamp_ms": 1_795_000_000_002}],
                "commitlog_messages": [{**MESSAGE, "store_timestamp": datetime.fromtimestamp(1_795_000_000.001, UTC)}],
            },
        ],
    ),
    "copies_are_the_log": (
        {
            "compacted_messages": [COPY, {**COPY, "queue_offset": 1}],
            "commitlog_messages": [COPY, {**COPY, "physical_offset": 100, "body_crc": 8}],
        },
        [
            {"compacted_messages": [COPY], "commitlog_messages": [{**COPY, "body_crc": 8}]},
            {"compacted_messages": [COPY], "commitlog_messages": [{**COPY, "keys": None}]},
        ],
    ),
    "every_timer_has_its_message": (
        {
            "commitlog_messages": [{**MESSAGE, "physical_offset": 50}],
            "timer_records": [{**TIMER, "physical_offset": 0}, TIMER],
        },
        [
            {"commitlog_messages": [MESSAGE], "timer_records": [TIMER]},
            {"commitlog_messages": [{**MESSAGE, "physical_offset": 50, "total_size": 99}], "timer_records": [TIMER]},
            {"timer_records": [TIMER]},
        ],
    ),
    "every_file_with_messages_read": (
        {
            "store_files": [
                {**FILE, "kind": "commitlog"},
                {"broker": "b", "file": "transrocksdb/000001.log", "kind": "not_understood", "why": "w"},
            ]
        },
        [
            {"store_files": [{"broker": "b", "file": "consumequeue/CURRENT", "kind": "not_understood", "why": "w"}]},
            {"store_files": [{"broker": "b", "file": "dledger-n0/data/0", "kind": "not_understood", "why": "w"}]},
            {"store_files": [{**FILE, "kind": "commitlog", "why": "no permission"}]},
        ],
    ),
    "every_lag_known": (
        {"lag": [{"broker": "b", "status": "zero"}, {"broker": "b", "status": "number"}]},
        [{"lag": [{"broker": "b", "status": "unknown"}]}],
    ),
    "shares_are_the_whole": (
        {"lag_episodes": [EPISODE, {**EPISODE, "message_seconds": 0.0, "burst": 0.0}]},
        [{"lag_episodes": [{**EPISODE, "burst": 0.5}]}],
    ),
    "files_agree": (
        {"consistency_findings": [{"broker": "b", "severity": "warning"}]},
        [{"consistency_findings": [{"broker": "b", "severity": level}]} for level in ("error", "critical")],
    ),
    "starts_without_loss": (
        {"recovery_forecast": [STARTS]},
        [
            {"recovery_forecast": [{**STARTS, **wrong}]}
            for wrong in ({"starts": None}, {"starts": False}, {"lost": "offsets"})
        ],
    ),
    "nothing_deleted_unread": (
        {"retention_risk": [{"broker": "b", "deleted_unread": 0}]},
        [{"retention_risk": [{"broker": "b", "deleted_unread": 1}]}],
    ),
    "every_offset_in_one_state": (
        {"loss_ledger": [RANGE, {**RANGE, "first_queue_offset": 2, "end_queue_offset": 5, "messages": 3}]},
        [
            {"loss_ledger": [RANGE]},
            {"loss_ledger": [RANGE, {**RANGE, "first_queue_offset": 1, "end_queue_offset": 4, "messages": 3}]},
            {"loss_ledger": [RANGE, {**RANGE, "group": "G", "first_queue_offset": 2, "messages": 3}]},
        ],
    ),
    "nothing_lost": (
        {"loss_ledger": [{**RANGE, "state": state} for state in ("stored", "expired", "consumed", "waiting")]},
        [{"loss_ledger": [{**RANGE, "state": state}]} for state in ("expired_unread", "truncated", "damaged")],
    ),
    "matching_among_unread": (
        {"backlog": [HEAD, {**HEAD, "matching": None}, {**HEAD, "matching": 0, "head_queue_offset": None}]},
        [{"backlog": [{**HEAD, "matching": 3}]}, {"backlog": [{**HEAD, "head_queue_offset": None}]}],
    ),
    "no_message_skipped": (
        {"offset_events": [{"broker": "b", "skipped": skipped} for skipped in (None, 0)]},
        [{"offset_events": [{"broker": "b", "skipped": 1}]}],
    ),
    "starts_within_the_queue": (
        {"group_starts": [{**START, "latest": 9}, {**START, "earliest": None, "latest": None}]},
        [{"group_starts": [{**START, **wrong}]} for wrong in ({"latest": 10}, {"earliest": -1}, {"earliest": 4})],
    ),
    "none_vanished": (
        {"life_events": [{"broker": "b", "happened": kind} for kind in ("created", "deleted", "created_again")]},
        [{"life_events": [{"broker": "b", "happened": "vanished"}]}],
    ),
    "no_offset_of_a_former_life": (
        {"group_lives": [{"broker": "b", "doubtful_offsets": 0}]},
        [{"group_lives": [{"broker": "b", "doubtful_offsets": 1}]}],
    ),
    "none_passed": (
        {"delayed_messages": [{"broker": "b", "state": state} for state in ("delivered", "pending", "rolled")]},
        [{"delayed_messages": [{"broker": "b", "state": state}]} for state in ("passed", "unknown")],
    ),
    "none_expires_first": (
        {"delayed_messages": [{"broker": "b", "expires_first": first} for first in (None, False)]},
        [{"delayed_messages": [{"broker": "b", "expires_first": True}]}],
    ),
    "tiered_is_the_log": (
        {"tiered_queues": [{**TIERED, "different": 0, "wrong": 0}, {**TIERED, "different": None, "wrong": None}]},
        [{"tiered_queues": [{**TIERED, **broken}]} for broken in ({"different": 1}, {"wrong": 1})],
    ),
    "no_dead_letter": (
        {"retry_chains": [{"broker": "b", "state": "consumed"}, {"broker": "b", "state": "waiting"}]},
        [{"retry_chains": [{"broker": "b", "state": "dead_letter"}]}],
    ),
    "none_repeated": (
        {"retry_chains": [{"broker": "b", "repeated": 0}]},
        [{"retry_chains": [{"broker": "b", "repeated": 1}]}],
    ),
    "every_transaction_ends": (
        {"transactions": [{"broker": "b", "state": state} for state in ("committed", "rolled_back", "pending")]},
        [{"transactions": [{"broker": "b", "state": state}]} for state in ("given_up", "unknown")],
    ),
    "none_committed_twice": (
        {"transactions": [{"broker": "b", "commits": 1}]},
        [{"transactions": [{"broker": "b", "commits": 2}]}],
    ),
    "every_popped_message_ends": (
        {
            "popped_messages": [
                {"broker": "b", "state": state} for state in ("acked", "in_flight", "revived", "unmatched")
            ]
        },
        [{"popped_messages": [{"broker": "b", "state": state}]} for state in ("passed", "unknown")],
    ),
    "none_acked_and_revived": (
        {"popped_messages": [{"broker": "b", "state": "revived"}, {"broker": "b", "state": "acked", "acked_at": AT}]},
        [{"popped_messages": [{"broker": "b", "state": "revived", "acked_at": AT}]}],
    ),
    "nothing_traced_failed": (
        {"trace_events": [{"broker": "b", "trace_type": "Pub", "success": success} for success in (True, None)]},
        [{"trace_events": [{"broker": "b", "trace_type": kind, "success": False}]} for kind in ("Pub", "SubAfter")],
    ),
    "every_trace_is_read": (
        {"trace_events": [{"broker": "b", "trace_type": "Pub"}]},
        [{"trace_events": [{"broker": "b", "problem": "cost_ms is no number"}]}],
    ),
    "no_anomaly": ({"ownership_anomalies": []}, [{"ownership_anomalies": [{"kind": "orphan"}]}]),
}


@pytest.fixture
def lakehouse(tmp_path: Path) -> Lakehouse:
    config = tmp_path / "rocketlens.toml"
    config.write_text(f"[lake]\npath = {json.dumps(str(tmp_path / 'lake'))}\n")
    return Lakehouse(config_file=str(config))


@cache
def dagster() -> dg.DagsterInstance:
    """One for all questions: each would make its own, with the tables of Dagster's storage, in twice the time."""
    return dg.DagsterInstance.ephemeral()


def passes(lakehouse: Lakehouse, name: str, rows: Rows) -> bool:
    return asked(lakehouse, name, rows).passed


def asked(lakehouse: Lakehouse, name: str, rows: Rows) -> dg.AssetCheckResult:
    for table, records in rows.items():
        lakehouse.lake().write(table, pa.Table.from_pylist(records, schema=TABLES[table].bare_schema))
    (check,) = [check for check in STORE_CHECKS if next(iter(check.check_keys)).name == name]
    result = check(dg.build_asset_check_context({"lakehouse": lakehouse}, instance=dagster()))
    assert isinstance(result, dg.AssetCheckResult)
    return result


@pytest.mark.parametrize("name", CASES)
def test_it_turns_red_on_what_breaks_it_and_on_nothing_else(lakehouse: Lakehouse, name: str) -> None:
    good, bad = CASES[name]
    with lakehouse.lake().asked_often():
        assert passes(lakehouse, name, good)
        for rows in bad:
            assert not passes(lakehouse, name, rows), rows
        assert passes(lakehouse, name, good)


def test_a_red_check_says_where_what_and_how_to_go_on(lakehouse: Lakehouse, tmp_path: Path) -> None:
    config = Path(lakehouse.config_file)
    config.write_text(config.read_text() + '[[broker]]\nname = "b"\nstore = "a store"\n')
    finding = {"broker": "b", "severity": "error", "kind": "k", "place": "commitlog/0", "begin": 8, "end": 16}
    red = asked(lakehouse, "files_agree", {"consistency_findings": [{**finding, "repair": "copy it"}]})
    assert red.description == (
        "1 row breaks it. First: broker b, severity error, kind k, place commitlog/0, begin 8, end 16"
    )
    told = {name: getattr(red.metadata[name], "value", None) for name in ("bytes", "repair", "next_command")}
    assert told == {
        "bytes": "commitlog/0: bytes 8 to 16",
        "repair": "copy it",
        "next_command": f"rocketlens verify '{tmp_path / 'a store'}'",
    }
    green = asked(lakehouse, "files_agree", {"consistency_findings": []})
    assert green.description == "No finding of severity error or critical."
    assert "next_command" not in green.metadata


def test_what_a_red_check_asks_for_is_a_command() -> None:
    source = (Path(__file__).parents[2] / "pipelines/defs/checks.py").read_text()
    asked_for = re.findall(r'command="rocketlens ([\w-]+)', source)
    assert len(asked_for) == len(STORE_CHECKS)
    assert set(asked_for) <= set(leaves())


def test_no_check_is_taken_on_faith() -> None:
    assert {next(iter(check.check_keys)).name for check in STORE_CHECKS} == set(CASES)
