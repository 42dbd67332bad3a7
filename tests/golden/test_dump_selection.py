"""`dump commitlog`: unread by a group, lost by a start, by body and by SQL, and in the form that can be sent again.

The judges are the messages, queue units and offsets that RocketMQ's own classes read, and what a killed broker had
after its start.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.golden.test_ledger_truth import group_state, stale, table_of, unit_places
from tests.support.cli import call, rows_of
from tests.support.incidents import Incident, incident, incident_names
from tests.support.recovery_cases import golden_cases
from tests.support.stores import store_root, truth_lines

CASES = golden_cases()


def unread_places(case: Incident, group: str) -> set[int]:
    """Where the messages of a group's queues start that lie at or after its offset, by Java's reading of the units."""
    records = {row["physicalOffset"] for row in case.lines("messages.jsonl.gz")}
    found: set[int] = set()
    for queue in case.lines("queues.jsonl.gz"):
        places, first = unit_places(queue)
        for (name, topic), stored in table_of(case).items():
            if name != group or topic != queue["topic"]:
                continue
            offset, end = stored.get(queue["queueId"]), queue["maxOffset"]
            held = {number: places[number - first] for number in range(first, end) if places[number - first] in records}
            found |= {place for number, place in held.items() if group_state(number, offset, end, True) == "waiting"}
    return found


@pytest.mark.parametrize("name", incident_names())
def test_what_a_group_has_not_read_is_what_java_has_from_its_offset_on(name: str) -> None:
    case = incident(name)
    doubtful = {queue[0] for found in case.told()["answers"].get("topics", {}).items() for queue in stale(*found)}
    judged = 0
    for group in sorted({group for group, _ in table_of(case)} - doubtful):
        called = dump(case, "--unread-by", group, "--columns", "physical_offset")
        expected = unread_places(case, group)
        assert {row["physical_offset"] for row in called.rows} == expected, (group, called.err)
        judged += 1
    assert judged > 0 or doubtful or not table_of(case)


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
def test_no_message_of_a_former_life_is_unread(name: str, tmp_path: Path) -> None:
    """What is unread has a unit in a queue, by Java's reading, though messages of the former life have the same numbers
    and are in the log; whichever life the group's offset is of."""
    case = incident(name)
    in_queues = {place for queue in case.lines("queues.jsonl.gz") for place in unit_places(queue)[0]}
    found: set[int] = set()
    for topic in case.told()["answers"]["topics"]:
        nobody = tmp_path / f"{topic}.json"
        nobody.write_text(json.dumps({"offsetTable": {f"{topic}@G": dict.fromkeys(range(8), 0)}}))
        rows = dump(case, "--unread-by", "G", "--offsets", nobody, "--columns", "physical_offset").rows
        found |= {row["physical_offset"] for row in rows}
    assert found
    assert found <= in_queues


def dump(case: Incident, *options: object) -> Any:
    return call("dump", "commitlog", case.root, "--broker-conf", case.broker_conf, *options)


def test_what_a_start_loses_lies_behind_the_end_that_the_broker_gave_the_log() -> None:
    """One case of each class of damage; those of a class `config` need settings that no option says here."""
    judged = 0
    for name in CASES.one_of_each_class():
        case = CASES.case(name)
        if case["damageClass"].startswith(("config", "store.empty")) or "quiet" not in case["truth"]:
            continue
        with CASES.built(case) as root:
            asked = ("dump", "commitlog", root, "--version", case["version"], "--columns", "physical_offset")
            places = [row["physical_offset"] for row in call(*asked).rows]
            lost = [row["physical_offset"] for row in call(*asked, "--lost-by-start").rows]
        assert lost == [place for place in places if place >= case["truth"]["quiet"]["commitLogMax"]], name
        judged += bool(lost)
    assert judged > 5


def test_a_group_that_is_not_there_names_those_that_are() -> None:
    called = call("dump", "commitlog", store_root("5.3.3-clean"), "--unread-by", "nobody")
    assert called.code == 3
    assert "CG_lagging" in called.err


def test_what_can_be_sent_again_is_what_java_read(tmp_path: Path) -> None:
    """Both forms: JSON lines and Parquet."""
    case = incident("5.3.3-retry-dlq")
    truth = [row for row in case.lines("messages.jsonl.gz") if is_to_send(row)]
    listed = dump(case, "--sendable").rows
    assert [told(row, base64.b64decode(row["body"])) for row in listed] == [java(row) for row in truth]
    assert dump(case, "--sendable", "--out", tmp_path / "all.parquet").code == 0
    stored = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert [told({**row, "properties": pairs(row)}, row["body"]) for row in stored] == [java(row) for row in truth]


def is_to_send(row: Mapping[str, Any]) -> bool:
    """Neither of the broker's own topics nor a copy for a group, no batch, and by a transaction's commit if by one."""
    own = ("%RETRY%", "%DLQ%", "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_", "rmq_sys_", "TRANS_CHECK_MAX_TIME_TOPIC")
    return not row["topic"].startswith(own) and not row["sysFlag"] & 0x84


@pytest.mark.parametrize("name", ["3.2.6-clean", "4.2.0-clean", "5.3.3-batchcq", "5.3.3-clean"])
def test_records_that_are_no_messages_to_send_are_left_out_and_named(name: str) -> None:
    truth = [row for row in truth_lines(name, "messages.jsonl.gz") if row["type"] == "message"]
    called = call("dump", "commitlog", store_root(name), "--sendable")
    expected = [(row["topic"], row["queueId"], row["queueOffset"]) for row in truth if is_to_send(row)]
    assert [(row["topic"], row["queue_id"], row["queue_offset"]) for row in called.rows] == expected != []
    named = [int(count) for count in re.findall(r"(\d+) records are no messages to send", called.err)]
    assert (called.code, sum(named)) == (0, len(truth) - len(expected))
    undecided = any(row["sysFlag"] & 0x4 for row in truth)
    assert ("prepared or rolled back" in called.err) == undecided


def test_a_message_with_a_wrong_crc_is_not_sent(tmp_path: Path) -> None:
    source = store_root("4.2.0-clean") / "commitlog" / f"{0:020d}"
    log = bytearray(source.read_bytes())
    first = next(row for row in truth_lines("4.2.0-clean", "messages.jsonl.gz") if is_to_send(row))
    log[first["physicalOffset"] + 88] ^= 1  # the first byte of its body, behind two IPv4 hosts
    damaged = tmp_path / source.name
    damaged.write_bytes(log)
    whole, left = (call("dump", "commitlog", path, "--sendable") for path in (source, damaged))
    assert (left.code, left.rows) == (4, whole.rows[1:])
    assert "1 messages are left out: their CRCs are wrong" in left.err


def pairs(row: Mapping[str, Any]) -> list[list[str]]:
    return [[pair["name"], pair["value"]] for pair in row["properties"]]


def told(row: Mapping[str, Any], body: bytes) -> tuple[object, ...]:
    digest = hashlib.sha256(body).hexdigest()
    return row["topic"], row["queue_id"], row["queue_offset"], row["flag"], row["properties"], digest


def java(row: Mapping[str, Any]) -> tuple[object, ...]:
    body = row["bodySha256"]
    return row["topic"], row["queueId"], row["queueOffset"], row["flag"], row["propertiesStored"], body


def test_sql_says_which_messages_are_wanted() -> None:
    store = store_root("5.3.3-clean")
    everything = rows_of("dump", "commitlog", store)
    asked = "tags = 'TagA' AND property(properties, 'n')::INT % 2 = 0 AND queue_id < 2"
    found = rows_of("dump", "commitlog", store, "--where", asked, "--columns", "physical_offset")
    expected = [
        row["physical_offset"]
        for row in everything
        if row["tags"] == "TagA" and row["queue_id"] < 2 and int(dict(row["properties"]).get("n", 1)) % 2 == 0
    ]
    assert [row["physical_offset"] for row in found] == expected != []


@pytest.mark.parametrize(
    "condition",
    [
        "tags =",
        "tags = 'a'; DROP TABLE x",
        "count(*) > 1",
        "row_number() OVER () < 5",
        "(SELECT count(*) FROM read_text('/etc/hostname')) = 1",
        "true) FROM read_csv('/etc/hostname') --",
        "queue_offset = CAST(topic AS INT)",
        "no_such_column = 1",
        "(SELECT count(*) FROM messages) > 1",
    ],
)
def test_sql_that_is_no_condition_over_a_message_is_refused(condition: str) -> None:
    called = call("dump", "commitlog", store_root("5.3.3-clean"), "--where", condition)
    assert (called.code, called.out) == (2, b"")
    assert "--where: " in called.err


def test_bodies_are_searched_and_shown_as_text() -> None:
    case = incident("5.3.3-retry-dlq")
    everything = dump(case, "--bodies").rows
    bodies = [base64.b64decode(row["body_decompressed"]) for row in everything]
    for row, body in zip(everything, bodies, strict=True):
        assert row["body_text"] == utf8(body)
    part = next(text for text in map(utf8, bodies) if text)[:6]
    found = dump(case, "--body-contains", part, "--columns", "physical_offset").rows
    expected = [row for row, body in zip(everything, bodies, strict=True) if part.encode() in body]
    assert [row["physical_offset"] for row in found] == [row["physical_offset"] for row in expected]


def utf8(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("option", [["--unread-by", "CG"], ["--lost-by-start"]])
def test_one_file_does_not_tell_what_is_unread_or_lost(option: list[str]) -> None:
    called = call("dump", "commitlog", store_root("5.3.3-clean") / "commitlog" / f"{0:020d}", *option)
    assert called.code == 2
    assert "need the store" in called.err
