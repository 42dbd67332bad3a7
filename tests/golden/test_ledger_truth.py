"""The loss ledger: every queue offset of every store in one state, judged offset by offset.

The judges are the messages and queue limits that RocketMQ's own classes read out of the stores, the offset tables in
the brokers' memory, and, for damaged stores, a plain look at each unit and the record that it leads to.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.commitlog.record.message import Message, decode_message
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import StoreFormatError
from parsers.store.store import Store
from parsers.values.topics import is_lmq
from recovery.query.ledger import State
from recovery.rules.dispatch import COMMIT
from recovery.verify.store_ledger import QueueLedger, StoreLedger, store_ledger
from tests.support.broker_conf import settings_of_conf
from tests.support.cli import call
from tests.support.incidents import Incident, incident, incident_names
from tests.support.opened import opened, opened_golden
from tests.support.recovery_cases import golden_cases
from tests.support.stores import store_names, truth_lines

CASES = golden_cases()
NOT_IN_QUEUE = (State.NEVER_DISPATCHED, State.NOT_DISPATCHED_YET)


def is_empty(name: str) -> bool:
    """Whether nothing of a store is left."""
    return str(CASES.case(name)["damageClass"]).startswith("store.empty")


def states(queue: QueueLedger) -> dict[int, State]:
    """The state of each queue offset; the ranges follow one another from 0."""
    found: dict[int, State] = {}
    for each in queue.ranges:
        assert each.first == len(found) < each.end
        found.update(dict.fromkeys(range(each.first, each.end), each.state))
    assert len(found) == queue.max_queue_offset == sum(each.messages for each in queue.ranges)
    return found


def by_queue(queues: Iterable[QueueLedger]) -> dict[tuple[str, int], dict[int, State]]:
    """The last life of each queue, its former ones checked for their sum alone."""
    return {(queue.topic, queue.queue_id): states(queue) for queue in queues if queue.ranges[-1].state != "former_life"}


def unit_places(queue: Mapping[str, Any]) -> tuple[list[int], int]:
    """Where the message of each queue offset starts, as Java read the units; and the first such queue offset."""
    places = [unit[0] for unit in queue["units"] for _ in range(unit[4] if len(unit) == 5 else 1)]
    return places, queue["maxOffset"] - len(places)


def judge_queues(ledger: StoreLedger, queues: Iterable[Mapping[str, Any]], records: set[int]) -> int:
    """Every queue offset against the units and records that Java read; how many there were."""
    found, judged = by_queue(ledger.queues), 0
    for queue in queues:
        key, (places, first) = (queue["topic"], queue["queueId"]), unit_places(queue)
        told = {offset: state for offset, state in found.get(key, {}).items() if state not in NOT_IN_QUEUE}
        assert sorted(told) == list(range(queue["maxOffset"])), key
        for offset, state in told.items():
            is_stored = offset >= first and places[offset - first] in records
            assert state == (State.STORED if is_stored else State.EXPIRED), (key, offset)
        judged += queue["maxOffset"]
    return judged


@pytest.mark.parametrize("name", store_names(subject="queues"))
def test_every_queue_offset_of_a_sound_store_is_stored_or_expired(name: str) -> None:
    store, known = opened_golden(name)
    records = {row["physicalOffset"] for row in truth_lines(name, "messages.jsonl.gz")}
    assert judge_queues(store_ledger(store, known), truth_lines(name, "queues.jsonl.gz"), records) > 0


@pytest.mark.parametrize("name", incident_names())
def test_every_queue_offset_after_an_incident_is_stored_or_expired(name: str) -> None:
    case = incident(name)
    records = {row["physicalOffset"] for row in case.lines("messages.jsonl.gz")}
    ledger = ledger_of(case, case.root)
    assert judge_queues(ledger, case.lines("queues.jsonl.gz"), records) > 0


@pytest.mark.parametrize("name", incident_names())
def test_what_a_group_had_of_each_queue_offset(name: str) -> None:
    """By the offsets in the broker's memory, for groups whose offsets are of the life that is."""
    case = incident(name)
    records = {row["physicalOffset"] for row in case.lines("messages.jsonl.gz")}
    ledger, offsets = ledger_of(case, case.root), table_of(case)
    doubtful = {queue for found in case.told()["answers"].get("topics", {}).items() for queue in stale(*found)}
    views = {(queue.group, queue.topic, queue.queue_id): states(queue) for queue in ledger.of_groups(offsets)}
    judged = 0
    for queue in case.lines("queues.jsonl.gz"):
        places, first = unit_places(queue)
        for (group, topic), stored in offsets.items():
            key, offset = (group, topic, queue["queueId"]), stored.get(queue["queueId"])
            if topic != queue["topic"] or key in doubtful or not queue["maxOffset"]:
                continue
            expected = [
                group_state(number, offset, queue["maxOffset"], number >= first and places[number - first] in records)
                for number in range(queue["maxOffset"])
            ]
            assert list(views[key].values()) == expected, key
            judged += len(expected)
    assert judged > 0 or not any(max(stored.values()) for stored in offsets.values())


def group_state(number: int, offset: int | None, end: int, is_stored: bool) -> State:
    if offset is None or (number < offset and offset > end):
        return State.UNKNOWN
    if number < offset:
        return State.CONSUMED
    return State.WAITING if is_stored else State.EXPIRED_UNREAD


def stale(topic: str, told: Mapping[str, Any]) -> Iterable[tuple[str, str, int]]:
    """Queues whose group offsets may be of a former life, by the steps of the incident."""
    for group in told.get("groups", ()):
        yield from ((group, topic, queue_id) for queue_id in range(8))


@pytest.mark.parametrize("name", incident_names("topic-deleted", "topic-recreated"))
def test_former_lives_have_the_messages_that_the_steps_say(name: str) -> None:
    case = incident(name)
    found = {
        (queue.topic, queue.life, queue.queue_id): [queue.ranges[-1].first, queue.ranges[-1].end - 1]
        for queue in ledger_of(case, case.root).queues
        if queue.ranges[-1].state is State.FORMER_LIFE
    }
    topics = case.told()["answers"]["topics"]
    assert found == {
        (topic, life["life"], int(queue_id)): limits
        for topic, told in topics.items()
        for life in told["lives"]
        if not life["live"]
        for queue_id, limits in life["queueOffsets"].items()
    }


@pytest.mark.parametrize("name", incident_names("kill9", "kill9-pool"))
def test_a_killed_store_adds_up_and_what_is_not_dispatched_comes_back(name: str) -> None:
    """What the real broker served after its start: stored ones, and those that its recovery dispatched."""
    case = incident(name)
    killed, after = (by_queue(ledger_of(case, root).queues) for root in (case.killed_root, case.root))
    for key, found in killed.items():
        kept = [state for state in found.values() if state in (State.STORED, State.NOT_DISPATCHED_YET)]
        assert len(kept) == len([state for state in found.values() if state is not State.TRUNCATED])
        assert set(after[key]) >= set(range(len(kept)))


@pytest.mark.parametrize("name", [name for name in CASES.one_of_each_class() if not is_empty(name)])
def test_a_damaged_store_adds_up_and_stored_means_a_unit_with_its_record(name: str) -> None:
    case = CASES.case(name)
    with CASES.built(case) as root:
        store, known = opened(root, case["version"])
        for queue in store_ledger(store, known).queues:
            found = states(queue)
            if queue.ranges[-1].state is not State.FORMER_LIFE and (queue.topic, queue.queue_id) in store.queues:
                judge_units(store, queue, found)


def judge_units(store: Store, queue: QueueLedger, found: Mapping[int, State]) -> None:
    """Each unit by itself: stored are those, and only those, that lead to a sound record of their queue offset."""
    for file in store.queues[queue.topic, queue.queue_id]:
        data, first = file.path.read_bytes(), (file.base_offset or 0) // CQ_UNIT.size
        for number in range(len(data) // CQ_UNIT.size):
            unit = CQ_UNIT.unpack(data, number * CQ_UNIT.size)
            if first + number in found:
                own = (queue.topic, queue.queue_id, first + number)
                message = sound_record_at(store, unit["physical_offset"], unit["msg_size"])
                is_sound = message is not None and is_of(message, *own)
                assert (found[first + number] is State.STORED) == is_sound, own


def is_of(message: Message, topic: str, queue_id: int, queue_offset: int) -> bool:
    """The message is of this place; of a light queue anywhere, if it lists the queue."""
    if is_lmq(topic):
        return topic in (message.property_value("INNER_MULTI_DISPATCH") or "").split(",")
    return (message.topic, message.queue_id, message.queue_offset) == (topic, queue_id, queue_offset)


def sound_record_at(store: Store, physical_offset: int, msg_size: int) -> Message | None:
    """The message of the record there; None without one that a queue can serve."""
    for file in store.commitlog:
        at = physical_offset - (file.base_offset or 0)
        if 0 <= at < file.size:
            try:
                message = decode_message(file.path.read_bytes(), at)
            except StoreFormatError:
                return None
            placed = (message.physical_offset, message.total_size) == (physical_offset, msg_size)
            served = message.sys_flag & SYS_FLAG_TRANSACTION in (0, COMMIT)
            is_sound = placed and served and message.body_crc_ok
            return message if is_sound else None
    return None


def test_the_command_tells_what_groups_miss() -> None:
    root = incident("4.9.7-offsets-reset").root
    rows = call("ledger", root).rows
    per_queue = Counter[tuple[object, ...]]()
    for row in rows:
        key = (row["group"], row["topic"], row["queue_id"], row["life"], row["max_queue_offset"])
        per_queue[key] += int(row["messages"])
    assert all(key[-1] == added_up for key, added_up in per_queue.items())
    lost = [row for row in rows if row["state"] in ("expired_unread", "truncated", "never_dispatched", "damaged")]
    assert call("ledger", root, "--lost").rows == lost
    own = [row for row in rows if row["group"] == "CG_hand" and row["topic"] == "THand"]
    assert call("ledger", root, "--group", "CG_hand", "--topic", "THand").rows == own != []


def ledger_of(case: Incident, root: Path) -> StoreLedger:
    return store_ledger(*opened(root, case.version, settings_of_conf(case.broker_conf)))


def table_of(case: Incident) -> dict[tuple[str, str], dict[int, int]]:
    """The offset table in the broker's memory."""
    told = json.loads((case.truth / "broker_tables.json").read_text("utf-8"))["consumerOffsets"]
    found = {}
    for name, queues in told.items():
        topic, _, group = name.partition("@")
        found[group, topic] = {int(queue_id): offset for queue_id, offset in queues.items()}
    return found
