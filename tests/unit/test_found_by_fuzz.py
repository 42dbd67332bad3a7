"""Stores that the fuzz over commands made, and that ended a command otherwise than it may."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.layout import CQ_UNIT
from parsers.index.layout import INDEX_HEADER
from parsers.values.java import LONG_MAX
from recovery.verify.checks.log.shape import MOST_PLACES
from tests.fuzz.commands.asked import words_of_python
from tests.support.build_store import overwrite, shop
from tests.support.cli import call
from tests.support.files import packed, put

FIRST = "00000000000000000000"


def index_file_without_text_for_a_name(store: Path) -> None:
    (store / "index" / os.fsdecode(b"\xff\xfe")).write_bytes(bytes(100))


def queue_file_without_text_for_a_name(store: Path) -> None:
    (store / "consumequeue/Payments/0" / os.fsdecode(b"\xff\xfe")).write_bytes(bytes(100))


def two_log_files_of_one_place(store: Path) -> None:
    shutil.copyfile(store / "commitlog" / FIRST, store / "commitlog/0")


@pytest.mark.parametrize(
    "damage",
    [index_file_without_text_for_a_name, queue_file_without_text_for_a_name, two_log_files_of_one_place],
)
@pytest.mark.parametrize(
    "command", ["verify", "forecast", "queues", "lag", "retention", "dump commitlog", "dump regions"]
)
def test_every_command_ends_as_it_may(command: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    store = shop(tmp_path / "store", 40).finish()
    damage(store)
    called = call(*command.split(), store)
    assert called.code in (0, 1, 3, 4), called.err
    assert words_of_python(called.err) is None


def test_a_first_log_file_without_a_byte_holds_no_message(tmp_path: Path) -> None:
    store = shop(tmp_path / "store", 40).finish()
    first, second = sorted((store / "commitlog").iterdir())[:2]
    os.truncate(first, 0)
    rows = [row for row in call("dump", "consumequeue", store).rows if row["physical_offset"] >= int(second.name)]
    assert sum(row["messages"] for row in call("queues", store).rows) == len(rows) > 0
    found = call("offset-at", store, "--topic", "Orders", "--queue", "0", "--at", "0").rows
    assert found[0]["queue_offset"] == min(row["queue_offset"] for row in rows if row["queue_id"] == 0)


def test_an_index_that_begins_before_the_log_is_possible_ends_no_search_for_its_head(tmp_path: Path) -> None:
    store = shop(tmp_path / "store", 40).finish()
    first = min((store / "index").iterdir())
    header = INDEX_HEADER.unpack(first.read_bytes())
    overwrite(first, 0, INDEX_HEADER.pack({**header, "begin_physical_offset": -(1 << 60)}))
    assert {row["kind"] for row in call("verify", store).rows} == {"index_header_wrong"}


def test_a_log_that_begins_very_far_on_names_no_more_files_than_a_list_holds(tmp_path: Path) -> None:
    store = shop(tmp_path / "store", 40, base_offset=1 << 60).finish()
    queue = next((store / "consumequeue" / "Orders" / "0").iterdir())
    overwrite(queue, 0, CQ_UNIT.pack({"physical_offset": 0, "msg_size": 100, "tags_code": 0}))
    called = call("verify", store)
    assert called.code == 1
    named = [row["kind"] for row in called.rows]
    assert {"log_head_missing", "log_begins_late"} & set(named), named
    assert all(len(json.loads(row["document"])["places"]) <= MOST_PLACES for row in called.rows)


def test_numbers_at_the_end_of_64_bits_stay_numbers(tmp_path: Path) -> None:
    """Sums of them wrap as Java's do, where a column could not hold them."""
    put(tmp_path, f"commitlog/{0:020d}", bytes(4096))
    put(tmp_path, f"consumequeue/T/0/{0:020d}", packed(CQ_UNIT, [(LONG_MAX, 100, 0)]) + bytes(60))
    unit = (LONG_MAX, 100, 0, 1_795_000_000_000, LONG_MAX, 4, -1, 0)
    put(tmp_path, f"batchconsumequeue/B/0/{0:020d}", packed(BATCH_UNIT, [unit]) + bytes(46))
    put(tmp_path, "config/consumerOffset.json", b'{"offsetTable":{"T@G":{0:1},"B@G":{0:9223372036854775807}}}')
    put(tmp_path, "config/topics.json", b'{"topicConfigTable":{"T":{"readQueueNums":1},"B":{"readQueueNums":1}}}')
    for command in ("queues", "lag", "backlog", "ledger", "groups", "offsets", "retention", "verify", "forecast"):
        called = call(command, tmp_path, "--version", "5.3.3")
        assert called.code in (0, 1, 4), (command, called.err)
        assert called.out or command == "offsets"
