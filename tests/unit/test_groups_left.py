"""What keeps a group from being called one that loses nothing: every file that may hold a message for it alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.damage.errors import Damage
from pipelines.answers.derived.group_rows import group_rows, seen_of
from pipelines.answers.lag.groups_left import groups_left
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.answers.offsets.saved import offsets_in
from recovery.lives.group_life import BEHIND_PROXY, QUIET_MS, GroupLeft, Seen, judge_group
from tests.support.build_store import FIRST_MS, StoreBuilder, overwrite, write_json
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.opened import opened
from tests.support.recorded import offset_record

REVIVE, TIMER, SCHEDULE = "rmq_sys_REVIVE_LOG_C", "rmq_sys_wheel_timer", "SCHEDULE_TOPIC_XXXX"
RETRY, DEAD = "%RETRY%G", "%DLQ%G"
DAY_MS = 86_400_000
TO_THE_END = FIRST_MS + DAY_MS
Row = dict[str, Any]


def put_checkpoint(builder: StoreBuilder, topic: str, offsets: list[int]) -> None:
    """A checkpoint of group G for messages of queue 0 of T."""
    diffs = [offset - offsets[0] for offset in offsets]
    body = {"bm": 0, "bn": "b", "c": "G", "it": 3000, "n": len(offsets), "pt": FIRST_MS, "q": 0, "t": "T"}
    pairs = (("TAGS", "ck"), ("REAL_TOPIC", REVIVE), ("REAL_QID", "0"))
    builder.put(topic, properties=pairs, body=json.dumps({**body, "so": offsets[0], "d": diffs}).encode())


def put_retry(builder: StoreBuilder) -> None:
    """A message that G gave back, which waits for a delay level."""
    own = (("ORIGIN_MESSAGE_ID", "0" * 32), ("RETRY_TOPIC", "T"), ("UNIQ_KEY", f"{0:032X}"))
    builder.put(SCHEDULE, 2, properties=(("REAL_TOPIC", RETRY), ("REAL_QID", "0"), *own), reconsume_times=1)


def finish(builder: StoreBuilder, offsets: dict[str, dict[str, int]], *named: str, changed_ms: int = 0) -> Path:
    """The store with these offsets; topics.json names these topics, with one queue each."""
    root = builder.finish()
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": offsets})
    one = {"perm": 6, "readQueueNums": 1, "writeQueueNums": 1}
    topics = {name: {"topicName": name, **one} for name in named}
    version = {"counter": 9, "timestamp": changed_ms}
    write_json(root / "config" / "topics.json", {"topicConfigTable": topics, "dataVersion": version})
    return root


@pytest.fixture
def builder(tmp_path: Path) -> StoreBuilder:
    """Four messages of queue 0 of T."""
    builder = StoreBuilder(tmp_path / "store")
    for _ in range(4):
        builder.put("T")
    return builder


def told(root: Path, version: str = "4.9.7", *, until_ms: int = TO_THE_END, kept: Path | None = None) -> dict[str, Row]:
    """Rows by group; the broker's log shows that nobody was connected until then."""
    lost, problems = list[Damage](), list[str]()
    copies = [] if kept is None else offsets_in(kept, problems.append)
    left = groups_left(*opened(root, version), kept=copies, damage=lost.append)
    record = OffsetRecord(covered=[(FIRST_MS - DAY_MS, until_ms)], boots=[FIRST_MS - DAY_MS])
    return {row["group"]: row for row in group_rows(left, record)}


def test_a_group_that_read_everything_loses_nothing_on_this_broker(builder: StoreBuilder) -> None:
    row = told(finish(builder, {"T@G": {"0": 4}}, "T"))["G"]
    assert (row["loses_nothing"], row["unread"], row["dead_letters"], row["reason"]) == (True, 0, 0, None)
    assert "deleteSubGroup -b" in row["advice"]
    assert "ask every other broker before -c" in row["advice"]


def test_a_checkpoint_that_waits_in_the_timer_is_a_loss(builder: StoreBuilder) -> None:
    put_checkpoint(builder, TIMER, [1, 2, 3])
    row = told(finish(builder, {"T@G": {"0": 4}}, "T"))["G"]
    assert (row["unread"], row["loses_nothing"]) == (0, False)
    assert "3 popped messages" in row["advice"]


def test_without_offsets_what_was_popped_is_not_known(builder: StoreBuilder) -> None:
    put_checkpoint(builder, REVIVE, [3])
    root = finish(builder, {}, "T")
    (root / "config" / "consumerOffset.json").unlink()
    row = told(root)["G"]
    assert row["loses_nothing"] is None
    assert "popped messages" in row["reason"]


def test_a_settled_checkpoint_leaves_other_groups_alone(builder: StoreBuilder) -> None:
    """The stored offset of the revive topic is the last checkpoint that is done: it is one after the end."""
    put_checkpoint(builder, REVIVE, [3])
    done = {f"{REVIVE}@CID_RMQ_SYS_REVIVE_GROUP": {"0": 0}}
    rows = told(finish(builder, {"T@G": {"0": 4}, "T@Push": {"0": 4}, **done}, "T", REVIVE))
    assert rows["Push"]["loses_nothing"] is True
    assert rows["G"]["loses_nothing"] is None
    assert "proxy" in rows["G"]["reason"]


def test_what_the_consumer_records_hold_is_a_loss(builder: StoreBuilder) -> None:
    root = finish(builder, {"T@G": {"0": 4}}, "T")
    copy_tree(unpacked(GOLDEN / "pop" / "5.5.0" / "store.tar.gz") / "store" / "kvStore", root / "kvStore")
    rows = [row for row in told(root).values() if "popped messages" in row["advice"]]
    assert rows
    assert {row["loses_nothing"] for row in rows} == {False}


def test_records_that_are_not_read_leave_every_group_open(builder: StoreBuilder) -> None:
    root = finish(builder, {"T@G": {"0": 4}}, "T")
    (root / "config" / "consumerOrderInfo.json").write_text("{")
    row = told(root)["G"]
    assert row["loses_nothing"] is None
    assert "consumerOrderInfo.json was not read in full" in row["reason"]


def test_a_retry_that_waits_is_unread(builder: StoreBuilder) -> None:
    put_retry(builder)
    row = told(finish(builder, {"T@G": {"0": 4}}, "T"))["G"]
    assert (row["unread"], row["loses_nothing"]) == (1, False)


def test_damage_behind_a_retry_leaves_it_open(builder: StoreBuilder) -> None:
    put_retry(builder)
    behind = builder.put("T")
    builder.put("T")
    root = finish(builder, {"T@G": {"0": 6}}, "T")
    overwrite(root / "commitlog" / f"{0:020d}", behind.physical_offset, b"\xff" * 40)
    row = told(root)["G"]
    assert (row["unread"], row["loses_nothing"]) == (None, None)
    assert "damaged or missing bytes" in row["reason"]


@pytest.mark.parametrize("names", [("T", DEAD), ("T",)])
def test_dead_letters_without_their_queue_are_not_known(builder: StoreBuilder, names: tuple[str, ...]) -> None:
    if DEAD not in names:
        builder.put(DEAD)
    root = finish(builder, {"T@G": {"0": 4}}, *names)
    shutil.rmtree(root / "consumequeue" / DEAD, ignore_errors=True)
    row = told(root)["G"]
    assert (row["dead_letters"], row["loses_nothing"]) == (None, None)
    assert "dead-letter topic" in row["reason"]


def test_queues_that_are_not_read_leave_dead_letters_open(builder: StoreBuilder) -> None:
    root = finish(builder, {"T@G": {"0": 4}}, "T")
    shutil.rmtree(root / "consumequeue")
    (root / "consumequeue").mkdir()
    (root / "consumequeue" / "CURRENT").write_text("MANIFEST-000001\n")
    row = told(root)["G"]
    assert (row["unread"], row["dead_letters"], row["loses_nothing"]) == (None, None, None)


def test_a_queue_shorter_than_the_log_is_not_known(builder: StoreBuilder) -> None:
    root = finish(builder, {"T@G": {"0": 0}}, "T", changed_ms=1)
    shutil.rmtree(root / "consumequeue" / "T")
    row = told(root)["G"]
    assert (row["unread"], row["loses_nothing"]) == (None, None)


def test_a_log_that_ends_before_the_store_decides_nothing(builder: StoreBuilder) -> None:
    root = finish(builder, {"T@G": {"0": 4}}, "T")
    last_ms = builder.records[-1].store_timestamp_ms
    assert told(root, until_ms=last_ms - QUIET_MS)["G"]["loses_nothing"] is True
    row = told(root, until_ms=last_ms - QUIET_MS - 1)["G"]
    assert (row["state"], row["loses_nothing"]) == ("absent", None)
    assert "ends before the store" in row["reason"]


@pytest.mark.parametrize(("hours", "loses"), [(-25, True), (-23, None)])
def test_offsets_that_moved_while_nobody_was_there_decide_nothing(
    builder: StoreBuilder, tmp_path: Path, hours: int, loses: bool | None
) -> None:
    """The broker started a day before the first message, and nobody came since."""
    kept = tmp_path / f"consumerOffset-{FIRST_MS + hours * 3_600_000}.json"
    write_json(kept, {"offsetTable": {"T@G": {"0": 2}}})
    row = told(finish(builder, {"T@G": {"0": 4}}, "T"), kept=kept)["G"]
    assert row["loses_nothing"] is loses
    assert ("saved offsets" in (row["reason"] or "")) == (loses is None)


def test_consumers_behind_a_proxy_leave_no_line(builder: StoreBuilder) -> None:
    root = finish(builder, {"T@G": {"0": 4}}, "T")
    row = told(root, "5.0.0")["G"]
    assert (row["state"], row["unread"], row["loses_nothing"]) == ("absent", 0, None)
    assert "proxy" in row["reason"]


def test_a_retry_queue_that_is_not_known_counts_though_all_topics_are_deleted(builder: StoreBuilder) -> None:
    builder.put("Living")
    offsets = {"T@G": {"0": 4}, f"{RETRY}@G": {"0": 0}}
    root = finish(builder, offsets, "Living", changed_ms=FIRST_MS + 60_000)
    shutil.rmtree(root / "consumequeue" / "T")
    row = told(root)["G"]
    assert row["former_topics"] == row["topics"] == 1
    assert (row["unread"], row["loses_nothing"]) == (None, None)
    assert "not in topics.json" in row["reason"]
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": {"T@G": {"0": 4}}})
    assert told(root)["G"]["loses_nothing"] is True


def test_every_doubt_keeps_a_group() -> None:
    clear = GroupLeft("G", True, False, 1, 0, 0, None, 0, 0, None, saved_ms=9)
    gone = Seen(False, 5, 9, 9)
    assert judge_group(clear, gone).loses_nothing is True
    for doubted in (
        replace(clear, dead_letters=None, why_dead_letters="w"),
        replace(clear, unread=None, why_unread="w"),
        replace(clear, doubtful_offsets=1),
        replace(clear, changed_after_ms=5),
        replace(clear, saved_ms=10 + QUIET_MS),
        replace(clear, may_use_proxy=True),
    ):
        assert judge_group(doubted, gone).loses_nothing is None
        assert judge_group(doubted, gone).reason
    said = judge_group(replace(clear, may_use_proxy=True, no_proxy=True), gone)
    assert (said.loses_nothing, "rests on your word" in said.advice) == (True, True)
    assert "rests on your word" not in judge_group(replace(clear, no_proxy=True), gone).advice
    for lost in (replace(clear, in_flight=1), replace(clear, unread=None, why_unread="w", at_least=1)):
        assert judge_group(lost, gone).loses_nothing is False
    behind = judge_group(replace(clear, unread=7, may_use_proxy=True), gone)
    assert (behind.state, behind.loses_nothing, behind.reason) == ("absent", False, BEHIND_PROXY)


def test_a_broker_that_no_line_calls_booted_is_seen_to_start_again(tmp_path: Path) -> None:
    """BrokerStartup prints the line of the boot; what runs in a container or a test does without it."""
    line = "2026-11-21 03:12:{:02d} INFO x - {}\n"
    said = ["PullRequestHoldService service started", "unregisterBroker OK, NamesrvAddr: 127.0.0.1:9876"]
    log = tmp_path / "broker.log"
    log.write_text("".join(line.format(second, said[second % 2]) for second in (0, 1, 2)))
    seen = seen_of(offset_record(log), "g")
    assert seen.connected is False
    assert seen.until_ms == seen.logged_until_ms
    log.write_text("".join(line.format(second, said[second % 2]) for second in (0, 1)))
    seen = seen_of(offset_record(log), "g")
    assert (seen.until_ms or 0) < (seen.logged_until_ms or 0)


def test_who_registered_is_connected_until_nobody_is_left(tmp_path: Path) -> None:
    """Of a broker that logs apart what ConsumerGroupInfo says, who came is told by its registration alone."""
    log = tmp_path / "broker.log"
    came = (
        "registerConsumer info changed ConsumerData [groupName=g, consumeType=CONSUME_PASSIVELY, "
        "messageModel=CLUSTERING, consumeFromWhere=CONSUME_FROM_LAST_OFFSET, unitMode=false, "
        "subscriptionDataSet=[]] 10.0.0.7:40001"
    )
    lines = [
        "PullRequestHoldService service started",
        came,
        "unregister consumer ok, no any connection, and remove consumer group, g",
        "PullRequestHoldService service started",
    ]
    for told, connected in ((1, False), (2, True), (3, False)):
        said = [*lines[:told], "anything else"]
        log.write_text("".join(f"2026-11-21 03:1{minute}:00 INFO x - {text}\n" for minute, text in enumerate(said)))
        assert seen_of(offset_record(log), "g").connected is connected
