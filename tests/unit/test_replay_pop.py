"""Assignments made by brokers: results in PULL mode, shared queues in POP mode."""

from __future__ import annotations

import io
from typing import Any

import dpkt
import pytest

from pipelines.recordings.pcap import records_from_pcap
from rebalance.facts import AssignmentAnswered, Evidence, Fact, RebalanceResultChanged, RequestModeSet, UnreadRecord
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.logs import facts_from_log
from rebalance.readers.wire.facts import facts_from_wire
from rebalance.replay import Replay, replay
from tests.support.pcap import Wire, command_of
from tests.support.rebalance_facts import BROKER, GROUP, TOPIC, Client, Record, queue
from tests.support.remoting_frames import encode_frame

C1, C2 = "c1@1", "c2@2"
REMOTE = "10.0.0.1:50001"
ASKED = {"clientId": C1, "consumerGroup": GROUP, "messageModel": "CLUSTERING", "strategyName": "AVG", "topic": TOPIC}


def entry(queue_id: int, mode: str) -> dict[str, Any]:
    return {"messageQueue": {"brokerName": BROKER, "queueId": queue_id, "topic": TOPIC}, "mode": mode}


def exchange(code: int, asked: dict[str, Any], answer: dict[str, Any] | None, result: int = 0) -> list[dict[str, Any]]:
    common = {"code": code, "remote": REMOTE, "opaque": 9}
    told = {"oneway": False, "clientVersion": 479, "language": "JAVA", "header": {}, "body": asked}
    return [
        {"ts": 1_795_273_700_000, "dir": "request", **common, **told},
        {"ts": 1_795_273_700_004, "dir": "response", **common, "result": result, "remark": None, "header": {},
         "body": answer},
    ]  # fmt: skip


def fact_of(records: list[dict[str, Any]]) -> Fact:
    """By way of frames in a pcap, as a broker and its clients write them."""
    wire = Wire()
    for record in records:
        wire.send(record["ts"], record["remote"], record["dir"] == "request", encode_frame(command_of(record)))
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file)
    for packet in wire.packets:
        writer.writepkt(packet.data, ts=packet.at_ms / 1_000)
    file.seek(0)
    (fact,) = facts_from_wire(records_from_pcap(file, broker_ports=[10911]), broker=BROKER)
    return fact


@pytest.mark.parametrize(
    ("answer", "target", "pop"),
    [
        ({"messageQueueAssignments": [entry(1, "PULL"), entry(0, "PULL")]}, (queue(0), queue(1)), False),
        ({"messageQueueAssignments": [entry(-1, "POP")]}, (queue(-1),), True),
        ({"messageQueueAssignments": []}, (), False),
        ({}, None, False),
        (None, None, False),
    ],
)
def test_an_assignment_is_read_from_frames(answer: Any, target: tuple[MessageQueue, ...] | None, pop: bool) -> None:
    fact = fact_of(exchange(400, ASKED, answer))
    assert isinstance(fact, AssignmentAnswered)
    assert (fact.group, fact.client_id, fact.topic, fact.strategy) == (GROUP, C1, TOPIC, "AVG")
    assert (fact.target, fact.pop, fact.at_ms - (fact.asked_at_ms or 0)) == (target, pop, 4)


def test_a_mode_is_set_unless_it_is_refused() -> None:
    asked = {"consumerGroup": GROUP, "topic": TOPIC, "mode": "POP", "popShareQueueNum": 3}
    fact = fact_of(exchange(401, asked, None))
    assert isinstance(fact, RequestModeSet)
    assert (fact.group, fact.topic, fact.pop, fact.pop_share_queue_num) == (GROUP, TOPIC, True, 3)
    assert list(facts_from_wire(exchange(401, asked, None, result=16), broker=BROKER)) == []


def test_an_assignment_that_cannot_be_read_is_reported() -> None:
    (fact,) = facts_from_wire(exchange(400, ASKED, {"messageQueueAssignments": [{"mode": "POP"}]}), broker=BROKER)
    assert isinstance(fact, UnreadRecord)


def asks(client: Client, at_ms: int, *queue_ids: int, pop: bool = False) -> None:
    client.request_no += 2
    client.record.facts.append(
        AssignmentAnswered(
            at_ms=at_ms, source=BROKER, group=GROUP, client_id=client.client_id, remote=client.remote,
            request_no=client.request_no, topic=TOPIC, strategy="AVG", target=tuple(map(queue, queue_ids)), pop=pop,
            asked_at_ms=at_ms - 1, evidence=Evidence(client.remote, client.request_no),
        )
    )  # fmt: skip


def two_clients(*, pop: bool) -> Record:
    """Both hold queues as PULL consumers do; the second's are the first's too where they are shared."""
    record = Record()
    for client_id, port, mine in ((C1, 50_001, (0, 1)), (C2, 50_002, (1, 2) if pop else (2, 3))):
        client = record.client(client_id, port)
        client.heartbeat(0)
        asks(client, 1_000, *mine, pop=pop)
        client.asks_offset(1_001, *mine)
        client.heartbeat(1_005, changed_at=1_004)
        for at_ms in range(5_000, 300_000, 5_000):
            client.commits(at_ms, *mine)
            if at_ms % 20_000 == 0:
                asks(client, at_ms + 10, *mine, pop=pop)
                client.heartbeat(at_ms + 20)
    return record


def test_results_of_a_broker_are_rounds() -> None:
    record = two_clients(pop=False)
    assert [record.owners(queue_id, 100_000) for queue_id in range(4)] == [
        ((owner,), True, (owner,)) for owner in (C1, C1, C2, C2)
    ]
    rows = record.replay()
    assert (rows.divergence, rows.anomalies) == ([], [])
    results = [r for group in rows.groups for life in group.history.lives for r in life.process.results]
    assert [(type(r), r.client_id) for r in results] == [(RebalanceResultChanged, C1), (RebalanceResultChanged, C2)]


def test_a_result_other_than_the_strategy_gives_is_a_divergence() -> None:
    record = two_clients(pop=False)
    asks(record.client(C1, 50_001, 9_001), 250_000, 0, 1, 2)
    assert [row.client_id for row in record.replay().divergence] == [C1]


def shared(rows: Replay, at_ms: int) -> set[tuple[Any, ...]]:
    return {(o.owners, o.certain, o.possible) for o in rows.ownership_at(at_ms)}


@pytest.mark.parametrize("told_by", ["answers", "mode"])
def test_shared_queues_have_no_owner_and_no_anomaly(told_by: str) -> None:
    record = two_clients(pop=True)
    if told_by == "mode":
        record.facts = [fact for fact in record.facts if not isinstance(fact, AssignmentAnswered)]
        record.facts.append(RequestModeSet(at_ms=500, source=BROKER, group=GROUP, remote="a:1", topic=TOPIC, pop=True))
    rows = record.replay()
    assert shared(rows, 100_000) == {((), False, (C1, C2))}
    assert [rows.intervals, rows.anomalies, rows.divergence, rows.assignments, rows.exposures] == [[]] * 5
    assert [(n.group, n.subject) for n in rows.notes if n.kind == "pop_shared"] == [(GROUP, TOPIC)]


def test_a_log_tells_of_shared_queues() -> None:
    texts = [
        "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false",
        f"Created a new client Instance, InstanceIndex:0, ClientID:{C1}, ClientConfig:x",
        f"Created new MQClientInstance for clientId:[{C1}]",
        f"doRebalance, g, add a new pop mq, {queue(2)}",
    ]
    lines = [f"2026-11-21 20:00:0{at}.000 INFO  [7] [main] [x] - {text}" for at, text in enumerate(texts)]
    rows = replay(facts_from_log([line.encode() for line in lines], source="c1", jvm_zone_ms=8 * 3_600_000))
    (answer,) = [o for o in rows.ownership_at(1_795_262_400_500) if o.topic == TOPIC and o.queue_id == 2]
    assert (answer.owners, answer.certain, answer.possible) == ((), False, (C1,))
