"""Rules of popped messages that no golden store shows: late, batched and lost acknowledgements, changed invisible
times, checkpoints that the broker wrote anew, and what nobody can know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parsers.commitlog.record.message import Message
from tests.support.build_store import FIRST_MS, StoreBuilder, overwrite, write_json
from tests.support.cli import call, rows_of

REVIVE, TIMER, GROUP, TOPIC = "rmq_sys_REVIVE_LOG_C", "rmq_sys_wheel_timer", "G", "T"
RETRY = "%RETRY%G_T"
Row = dict[str, Any]


class Popped:
    """A store whose group G pops of queue 0 of T, which has four messages; every pop is invisible for 3 s."""

    def __init__(self, root: Path) -> None:
        self.builder = StoreBuilder(root)
        self.messages = [self.builder.put(TOPIC) for _ in range(4)]

    def pop(self, at: int, offsets: list[int], *, in_timer: bool = False, **more: object) -> None:
        """A checkpoint of a pop `at` ms after the first message."""
        body = {"bm": 0, "bn": "b", "c": GROUP, "it": 3000, "n": len(offsets), "pt": FIRST_MS + at, "q": 0, "t": TOPIC}
        diffs = [offset - offsets[0] for offset in offsets]
        self._write("ck", {**body, "so": offsets[0], "d": diffs, **more}, in_timer=in_timer)

    def ack(self, at: int, start: int, offset: int | list[int], *, in_timer: bool = False, **more: object) -> None:
        """An acknowledgement of a message, or of several at once."""
        body = {"bn": "b", "c": GROUP, "pt": FIRST_MS + at, "q": 0, "so": start, "t": TOPIC}
        listed = {"ao": 0, "aol": offset} if isinstance(offset, list) else {"ao": offset}
        tag = "bAck" if isinstance(offset, list) else "ack"
        self._write(tag, {**body, **listed, **more}, in_timer=in_timer)

    def revive(self, message: Message, topic: str = RETRY, *, times: int = 1) -> None:
        unique = dict(message.properties())["UNIQ_KEY"]
        self.builder.put(topic, properties=(("UNIQ_KEY", unique), ("1ST_POP_TIME", "1")), reconsume_times=times)

    def _write(self, tag: str, body: Row, *, in_timer: bool) -> None:
        self.write(tag, json.dumps(body).encode(), in_timer=in_timer)

    def write(self, tag: str, body: bytes, *, in_timer: bool = False) -> Message:
        pairs = (("TAGS", tag), ("REAL_TOPIC", REVIVE), ("REAL_QID", "0"))
        return self.builder.put(TIMER if in_timer else REVIVE, 0, properties=pairs, body=body)

    def finish(self, done: int | None) -> Path:
        """The store, with the revive service done up to this checkpoint; None: it never committed."""
        root = self.builder.finish()
        offsets: dict[str, dict[str, int]] = {f"{TOPIC}@{GROUP}": {"0": 3}}
        if done is not None:
            offsets[f"{REVIVE}@CID_RMQ_SYS_REVIVE_GROUP"] = {"0": done}
        write_json(root / "config" / "consumerOffset.json", {"offsetTable": offsets})
        topic = {"topicName": TOPIC, "perm": 6, "readQueueNums": 1, "writeQueueNums": 1}
        write_json(root / "config" / "topics.json", {"topicConfigTable": {TOPIC: topic}})
        return root


@pytest.fixture
def popped(tmp_path: Path) -> Popped:
    return Popped(tmp_path / "store")


def states(root: Path) -> dict[int, str]:
    return {row["queue_offset"]: row["state"] for row in rows(root)}


def rows(root: Path, *options: str) -> list[Row]:
    return rows_of("pop", root, "--messages", "--format", "jsonl", *options)


def test_a_batch_acknowledges_each_message_it_lists(popped: Popped) -> None:
    popped.pop(0, [0, 1, 3])
    popped.ack(0, 0, [0, 3])
    assert states(popped.finish(None)) == {0: "acked", 1: "in_flight", 3: "acked"}


@pytest.mark.parametrize("retry", [RETRY, "%RETRY%G+T"])
def test_what_is_in_a_retry_topic_is_delivered_again(popped: Popped, retry: str) -> None:
    popped.pop(0, [0, 1])
    popped.revive(popped.messages[1], retry)
    first, second = rows(popped.finish(0))
    assert (first["state"], second["state"]) == ("passed", "revived")
    assert (second["retry_topic"], second["retry_queue_offset"]) == (retry, 0)
    assert "no copy" in first["reason"]
    assert second["reason"] is None


def test_the_copy_of_another_group_or_an_earlier_pop_is_none(popped: Popped) -> None:
    popped.revive(popped.messages[0])
    popped.pop(0, [0, 1])
    popped.revive(popped.messages[1], "%RETRY%G_T2")
    popped.revive(popped.messages[1], "%RETRY%H_T")
    assert states(popped.finish(None)) == {0: "in_flight", 1: "in_flight"}


def test_an_acknowledgement_that_came_too_late_is_told(popped: Popped) -> None:
    popped.pop(0, [0])
    popped.revive(popped.messages[0])
    popped.ack(0, 0, 0)
    (row,) = rows(popped.finish(0))
    assert row["state"] == "revived"
    assert row["acked_at"] > row["revived_at"]
    assert "delivered again" in row["reason"]


def test_a_start_revives_once_more_what_the_stored_offset_is_not_past(popped: Popped) -> None:
    popped.pop(0, [0])
    popped.revive(popped.messages[0])
    (row,) = rows(popped.finish(None))
    assert (row["state"], "a start on these files" in row["reason"]) == ("revived", True)


def test_a_changed_invisible_time_is_a_new_checkpoint(popped: Popped) -> None:
    popped.pop(0, [0, 1])
    popped.pop(2000, [1], it=60_000)
    popped.ack(0, 0, 1)
    first, second = rows(popped.finish(None))
    assert (first["state"], first["checkpoints"]) == ("in_flight", 1)
    assert (second["state"], second["checkpoints"]) == ("in_flight", 2)
    assert second["invisible_until"].endswith("11:07:42.000Z")
    assert second["acked_at"] is None


@pytest.mark.parametrize(("suspend", "times"), [(False, 1), (True, 0)])
def test_a_suspended_message_comes_again_as_it_was(popped: Popped, suspend: bool, times: int) -> None:
    """Since 5.5.0, where a changed invisible time says so."""
    popped.pop(0, [0], sp=suspend)
    popped.revive(popped.messages[0], times=times)
    assert states(popped.finish(0)) == {0: "revived"}


def test_a_checkpoint_that_was_written_anew_counts_instead_of_the_first(popped: Popped) -> None:
    popped.pop(0, [0])
    popped.pop(0, [0], it=13_000, rp="1", in_timer=True)
    (row,) = rows(popped.finish(0))
    assert (row["state"], row["checkpoints"]) == ("in_flight", 2)
    assert row["invisible_until"].endswith("11:06:53.000Z")


@pytest.mark.parametrize("offsets", [[1], [0, 1]])
def test_a_checkpoint_that_was_written_anew_counts_though_it_does_not_say_so(
    popped: Popped, offsets: list[int]
) -> None:
    """PopReviveService#rePutCK @5.1.0 - 5.3.0: the pop's time, the message as start, and no number."""
    popped.pop(0, offsets, in_timer=True)
    popped.pop(0, offsets)
    popped.pop(0, [1], in_timer=True)
    told = {row["queue_offset"]: row for row in rows(popped.finish(0))}
    assert {offset: row["state"] for offset, row in told.items()} == {
        offset: "in_flight" if offset == 1 else "passed" for offset in offsets
    }
    assert (told[1]["checkpoints"], told[1]["reason"]) == (2, None)


def test_a_timer_that_rolls_is_one_checkpoint(popped: Popped) -> None:
    for _ in range(3):
        popped.pop(0, [0], in_timer=True)
        popped.ack(0, 0, 0, in_timer=True)
    popped.pop(0, [0])
    (row,) = rows(popped.finish(None))
    assert (row["state"], row["checkpoints"], row["popped_at"][-13:]) == ("acked", 1, "11:06:40.000Z")
    assert row["acked_at"] == "2026-11-18T11:06:41.250Z", "the first of the three"


def test_an_acknowledgement_without_a_checkpoint_is_told(popped: Popped) -> None:
    popped.ack(0, 0, 2)
    (row,) = rows(popped.finish(None))
    assert (row["state"], row["checkpoints"], row["invisible_until"]) == ("unmatched", 0, None)
    assert row["reason"].startswith("acknowledged, and the log has no checkpoint of it")


def test_an_acknowledgement_counts_for_its_own_pop_alone(popped: Popped) -> None:
    popped.pop(0, [0])
    popped.ack(0, 0, 0)
    popped.pop(9000, [0])
    (row,) = rows(popped.finish(0))
    assert (row["state"], row["checkpoints"]) == ("in_flight", 2)


def test_acknowledgements_without_a_brokers_name_are_this_brokers(popped: Popped) -> None:
    popped.pop(0, [0])
    popped.ack(0, 0, 0, bn="")
    assert states(popped.finish(None)) == {0: "acked"}


def test_an_old_checkpoint_without_differences_counts_from_its_start(popped: Popped) -> None:
    popped.pop(0, [1], n=3, d=None)
    assert states(popped.finish(None)) == dict.fromkeys((1, 2, 3), "in_flight")


def test_of_a_message_that_the_log_does_not_have_nobody_knows_the_copy(popped: Popped) -> None:
    popped.pop(0, [77])
    (row,) = rows(popped.finish(0))
    assert (row["state"], row["physical_offset"], row["unique_id"]) == ("passed", None, None)
    assert "the log has no record at this place" in row["reason"]


def test_without_offsets_and_behind_damage_nobody_knows_what_is_in_flight(popped: Popped) -> None:
    popped.pop(0, [0, 1])
    popped.ack(0, 0, 0)
    last = popped.builder.put(TOPIC)
    popped.builder.put(TOPIC)
    root = popped.finish(None)
    for file in (root / "config").glob("consumerOffset*"):
        file.unlink()
    assert states(root) == {0: "acked", 1: "unknown"}
    assert "no stored offsets" in rows(root)[1]["reason"]
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": {"x@y": {"0": 0}}})
    assert states(root) == {0: "acked", 1: "in_flight"}
    at = last.physical_offset
    overwrite(root / "commitlog" / f"{at - at % 4096:020d}", at % 4096, b"\xff" * 40)
    assert states(root) == {0: "acked", 1: "unknown"}
    assert "damaged or missing bytes" in rows(root)[1]["reason"]


def test_a_body_that_stops_the_revive_service_is_named(popped: Popped) -> None:
    popped.write("ck", b"0-12")
    popped.pop(0, [0])
    root = popped.finish(None)
    called = call("pop", root, "--revive", "--format", "jsonl")
    (row,) = called.rows
    assert (row["unreadable"], row["end"], row["behind"], row["messages"]) == (1, 2, None, 1)
    assert "the revive service stops at the first one" in called.err.replace("\n", " ")


@pytest.mark.parametrize(("done", "stops"), [(None, 3), (0, 2), (3, 0)])
def test_only_a_body_that_the_revive_service_will_parse_stops_it(popped: Popped, done: int | None, stops: int) -> None:
    """PopReviveService#consumeReviveMessage parses by tag, after its own offset."""
    popped.write("ck", b"0-12")
    popped.write("other", b"0-12")
    popped.pop(0, [0], q=1 << 40)
    popped.write("bAck", b"[]")
    (row,) = rows_of("pop", popped.finish(done), "--revive", "--format", "jsonl")
    assert (row["unreadable"], row["end"]) == (stops, 4)


def test_what_is_in_flight_beyond_the_stored_offset_is_counted_once(popped: Popped) -> None:
    popped.pop(0, [1, 3])
    (row,) = rows_of("pop", popped.finish(None), "--format", "jsonl")
    assert (row["in_flight"], row["unread"], row["pop_lag"]) == (2, 1, 2)


def test_an_offset_ahead_of_the_queue_says_nothing_of_the_lag(popped: Popped) -> None:
    popped.pop(0, [1, 3])
    root = popped.finish(None)
    write_json(root / "config" / "consumerOffset.json", {"offsetTable": {f"{TOPIC}@{GROUP}": {"0": 9}}})
    (row,) = rows_of("pop", root, "--format", "jsonl")
    assert (row["in_flight"], row["unread"], row["pop_lag"]) == (2, -5, None)
    assert row["reason"].startswith("the offset is ahead of the queue")


def test_overdue_is_as_of_the_instant_that_is_given(popped: Popped) -> None:
    popped.pop(0, [1])
    root = popped.finish(None)
    for now, overdue in (("2026-11-18T11:06:42Z", 0), ("2026-11-18T11:06:43Z", 1)):
        (row,) = rows_of("pop", root, "--now", now, "--format", "jsonl")
        assert (row["in_flight"], row["overdue"]) == (1, overdue)
