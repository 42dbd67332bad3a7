"""A database of queues that says something else than the log: each disagreement is found, and found alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from rocksdict import Options, Rdict

from parsers.rocksdb.layout import DATABASE_UNIT, KEY_LIMIT, KEY_QUEUE, KEY_TOPIC, KEY_UNIT, QUEUE_LIMIT
from recovery.verify.findings.kinds import KINDS
from recovery.verify.verify import Verification, verify
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import store_root

TOPIC, MESSAGES = b"Small", 68
Change = Callable[[Rdict, Rdict], None]


def unit_key(queue_offset: int, queue_id: int = 0) -> bytes:
    topic = KEY_TOPIC.pack({"topic_size": len(TOPIC), "separator": 1}) + TOPIC
    queue = KEY_QUEUE.pack({"separator": 1, "queue_id": queue_id, "separator_2": 1})
    return topic + queue + KEY_UNIT.pack({"queue_offset": queue_offset})


MAX_KEY = unit_key(0)[: KEY_TOPIC.size + len(TOPIC)] + b"\1max" + KEY_LIMIT.pack({"separator": 1, "queue_id": 0})


def changed(units: Rdict, queue_offset: int, field: str) -> None:
    row = DATABASE_UNIT.unpack(units[unit_key(queue_offset)])
    units[unit_key(queue_offset)] = DATABASE_UNIT.pack({**row, field: row[field] + 1})


def set_last(units: Rdict, limits: Rdict, queue_offset: int) -> None:
    place = DATABASE_UNIT.unpack(units[unit_key(min(queue_offset, MESSAGES - 1))])["physical_offset"]
    limits[MAX_KEY] = QUEUE_LIMIT.pack({"physical_offset": place, "queue_offset": queue_offset})


def lose_one(units: Rdict, limits: Rdict) -> None:
    del units[unit_key(10)]


def swap_two(units: Rdict, limits: Rdict) -> None:
    units[unit_key(10)], units[unit_key(11)] = units[unit_key(11)], units[unit_key(10)]


def point_into_another_queue(units: Rdict, limits: Rdict) -> None:
    units[unit_key(10)] = units[unit_key(10, queue_id=1)]


def lose_the_queue(units: Rdict, limits: Rdict) -> None:
    for number in range(MESSAGES):
        del units[unit_key(number)]
    del limits[MAX_KEY]


def change(field: str) -> Change:
    return lambda units, limits: changed(units, 10, field)


def end_at(queue_offset: int) -> Change:
    return lambda units, limits: set_last(units, limits, queue_offset)


def verified(tmp_path: Path, change: Change) -> Verification:
    """The golden store after something was written into its database."""
    root = tmp_path / "store"
    copy_tree(store_root("5.5.0-rocksdb"), root)
    folder = str(root / "consumequeue")
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(folder)}
    database = Rdict(folder, options=Options(raw_mode=True), column_families=families)
    change(database.get_column_family("default"), database.get_column_family("offset"))
    database.close()
    (root / "consumequeue" / "rocksdict-config.json").unlink()
    return verify(*opened(root))


@pytest.mark.parametrize(
    ("change", "kind", "first", "end"),
    [
        (lose_one, "not_dispatched", 10, 11),
        (swap_two, "queue_order", 10, 12),
        (point_into_another_queue, "unit_of_other_message", 10, 11),
        (lose_the_queue, "queue_missing", 0, MESSAGES),
        (change("msg_size"), "unit_wrong_size", 10, 11),
        (change("tags_code"), "unit_wrong_tags_code", 10, 11),
        (change("store_timestamp_ms"), "unit_wrong_store_time", 10, 11),
        (change("physical_offset"), "unit_points_to_nothing", 10, 11),
        (end_at(MESSAGES + 4), "queue_limit_wrong", MESSAGES + 4, MESSAGES + 5),
        (end_at(MESSAGES - 6), "not_dispatched", MESSAGES - 5, MESSAGES),
    ],
)
def test_a_disagreement_is_found_alone(tmp_path: Path, change: Change, kind: str, first: int, end: int) -> None:
    (found,) = verified(tmp_path, change).findings
    assert (found.kind, found.span.topic, found.span.queue_id) == (kind, TOPIC.decode(), 0)
    assert (found.span.queue_offset, found.span.end_queue_offset) == (first, end)
    assert found.places[0].file == "consumequeue"
    assert KINDS[found.kind].right == "commitlog"


def test_units_behind_the_end_are_normal(tmp_path: Path) -> None:
    def leave_some(units: Rdict, limits: Rdict) -> None:
        for number in range(MESSAGES, MESSAGES + 4):
            fields = {"physical_offset": 10**6 + number, "msg_size": 1, "tags_code": 0, "store_timestamp_ms": 1}
            units[unit_key(number)] = DATABASE_UNIT.pack(fields)

    verification = verified(tmp_path, leave_some)
    assert verification.findings == ()
    (stale,) = [state for state in verification.explained if state.what == "units behind the queue's end"]
    assert (stale.span.queue_offset, stale.span.end_queue_offset) == (MESSAGES, MESSAGES + 4)


@pytest.mark.parametrize("damage", ["MANIFEST", "CURRENT"])
def test_a_database_whose_list_of_tables_is_damaged_is_one_finding(tmp_path: Path, damage: str) -> None:
    """Queues whose tables are not listed are not missed."""
    root = tmp_path / "store"
    copy_tree(store_root("5.5.0-rocksdb"), root)
    (path,) = (root / "consumequeue").glob(f"{damage}*")
    if damage == "MANIFEST":
        os.truncate(path, 193)
    else:
        path.write_text("MANIFEST-200005\n", "ascii")
    verification = verify(*opened(root))
    (found,) = verification.findings
    assert (found.kind, [place.file for place in found.places]) == (
        "queue_database_damaged",
        [f"consumequeue/{path.name}"],
    )
    assert "second copy of the queues" not in {state.what for state in verification.explained}


@pytest.mark.parametrize("running", [True, False])
def test_what_a_running_broker_has_not_flushed_is_not_missing(tmp_path: Path, running: bool) -> None:
    """The first copies of brokers of 5.3.3 and 5.5.0 at work: a database without a table, while the index went on."""

    def lose_all(units: Rdict, limits: Rdict) -> None:
        for family in (units, limits):
            for key in family.keys():  # noqa: SIM118 - no mapping
                del family[key]
        if running:
            (tmp_path / "store" / "abort").touch()

    found = verified(tmp_path, lose_all)
    assert {finding.kind for finding in found.findings} == (set() if running else {"queue_missing"})
    assert ("not dispatched yet" in {explained.what for explained in found.explained}) is running
