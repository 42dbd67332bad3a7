"""Logs of the Go client: lines of logrus, and what a run's facts wait for."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path

import pytest

from rebalance.facts import (
    ClientFact,
    ConsumerStarting,
    Fact,
    QueueAdded,
    QueueAddFailed,
    QueueRemoved,
    RebalanceResultChanged,
)
from rebalance.readers.logs import facts_from_log
from rebalance.readers.logs.lines.logrus import logrus_line
from rebalance.readers.sub_version import sub_version_ms
from tests.support.fixtures import GOLDEN

SESSIONS = sorted((GOLDEN / "rebalance" / "sessions").glob("*-go-*"))
SESSION = SESSIONS[0]
ROUNDS = (b"do balance done", b"remove unnecessary mq")
"""Lines that v2.1.1 and older write at DEBUG only."""
STAMP = 'time="2026-11-23T05:56:0{}Z" level=info msg='
MQ = 'MessageQueue="MessageQueue [topic=T, brokerName=b, queueId={}]" consumerGroup=g'


def lines_of(session: Path, name: str) -> list[bytes]:
    with gzip.open(session / "logs" / name / "rocketmq-client.log.gz") as lines:
        return list(lines)


def facts(lines: Iterable[str | bytes]) -> list[Fact]:
    return list(facts_from_log(lines, source="c"))


def start(second: int) -> str:
    return (
        STAMP.format(second) + '"the consumer start beginning" consumerGroup=g messageModel=Clustering unitMode=false'
    )


def fetched(second: int, queue_id: int) -> str:
    return STAMP.format(second) + f'"fetch offset of mq from broker success" {MQ.format(queue_id)} offset=7'


def failed(second: int, queue_id: int) -> str:
    return STAMP.format(second) + f'"do defaultConsumer, add a new mq failed" {MQ.format(queue_id)}'


def removed(second: int, queue_id: int) -> str:
    return STAMP.format(second) + f'"remove unnecessary mq when updateProcessQueueTable" {MQ.format(queue_id)}'


def balanced(second: int, *queue_ids: int, client_id: str = "1.2.3.4@5") -> str:
    queues = " ".join(f"MessageQueue [topic=T, brokerName=b, queueId={number}]" for number in queue_ids)
    return STAMP.format(second) + (
        f'"MessageQueue do balance done" cidAllSize=1 clientID="{client_id}" consumerGroup=g mqAllSize=4 '
        f'rebalanceResultSet="[{queues}]" rebalanceResultSize={len(queue_ids)} topic=T'
    )


def added(found: Iterable[Fact]) -> list[tuple[int, int, int]]:
    """(queue id, second from which and until which it was added) of each queue."""
    begin = 1_795_413_360_000
    return [
        (one.queue.queue_id, (one.at_ms - one.early_ms - begin) // 1000, (one.at_ms + one.late_ms - begin) // 1000)
        for one in found
        if isinstance(one, QueueAdded)
    ]


@pytest.mark.parametrize("name", ["c1", "c2", "c3", "c4", "c5"])
def test_a_log_that_hides_its_rounds_gives_no_facts_of_a_consumer(name: str) -> None:
    lines = lines_of(SESSION, name)
    assert any(isinstance(fact, ClientFact) for fact in facts(lines))
    hidden = [line for line in lines if not any(text in line for text in ROUNDS)]
    assert not [fact for fact in facts(hidden) if isinstance(fact, ClientFact)]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.name)
def test_a_log_that_begins_in_the_middle_invents_no_beginning(session: Path) -> None:
    for folder in sorted((session / "logs").glob("c*")):
        if not (folder / "rocketmq-client.log.gz").exists():
            continue
        lines = lines_of(session, folder.name)
        whole = {(fact.queue, fact.at_ms) for fact in facts(lines) if isinstance(fact, QueueAdded)}
        for cut in (number for number, line in enumerate(lines) if b"do balance done" in line):
            found = {(fact.queue, fact.at_ms) for fact in facts(lines[cut:]) if isinstance(fact, QueueAdded)}
            assert found <= whole


def test_a_failure_is_not_forgotten_by_another_topics_round() -> None:
    other = balanced(3, 0).replace("topic=T", "topic=U")
    found = facts([start(1), fetched(2, 1), failed(2, 1), other, balanced(3, 1)])
    assert [fact.queue.topic for fact in found if isinstance(fact, QueueAdded)] == ["U"]


def test_a_start_is_told_with_the_first_round() -> None:
    (starting,) = (fact for fact in facts([start(1), balanced(3, 0)]) if isinstance(fact, ConsumerStarting))
    assert (starting.client_id, starting.message_model, starting.at_ms) == (
        "1.2.3.4@5",
        "CLUSTERING",
        1_795_413_361_000,
    )


def test_a_queue_is_added_between_its_offset_and_the_end_of_the_round() -> None:
    assert added(facts([start(1), fetched(2, 0), fetched(3, 1), balanced(4, 0, 1)])) == [(0, 2, 4), (1, 3, 4)]


def test_a_queue_that_stays_is_added_once_and_one_that_comes_back_again() -> None:
    round_after = [fetched(4, 1), removed(5, 0), balanced(6, 1), fetched(7, 0), balanced(8, 0, 1)]
    found = facts([start(1), fetched(2, 0), balanced(3, 0), *round_after])
    assert added(found) == [(0, 2, 3), (1, 4, 6), (0, 7, 8)]
    assert [fact.queue.queue_id for fact in found if isinstance(fact, QueueRemoved)] == [0]


def test_a_queue_that_could_not_be_added_is_not() -> None:
    lines = [start(1), fetched(2, 0), fetched(2, 1), failed(2, 1), balanced(3, 0, 1), fetched(4, 1), balanced(5, 0, 1)]
    found = facts(lines)
    assert added(found) == [(0, 2, 3), (1, 4, 5)]
    assert not [fact for fact in found if isinstance(fact, QueueAddFailed)]
    later = facts([start(1), balanced(2, 0), failed(3, 1)])
    assert [fact.reason for fact in later if isinstance(fact, QueueAddFailed)] == ["offset"]


def test_another_client_of_the_group_is_another_run() -> None:
    found = facts([start(1), balanced(2, 0), balanced(3, 0, client_id="1.2.3.4@6")])
    runs = [(fact.client_id, fact.process) for fact in found if isinstance(fact, RebalanceResultChanged)]
    assert len(set(runs)) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (rb'time="2026-11-23T05:56:03+09:00" level=info msg=a k=v', "a k=v"),
        (
            rb'time="2026-11-23T05:56:03+09:00" level=info msg="a \"b\" \\ \n" k="x\u00e9\x7f" m=',
            'a "b" \\ \n k=x\xe9\x7f m=',
        ),
        (rb'time="2026-11-23T05:56:03Z" level=info msg="a', None),
        (rb'time="2026-11-23T05:56:03Z" level=info msg="a" k="v', None),
        (rb'time="2026-13-23T05:56:03Z" level=info msg="a"', None),
        (rb'time="0001-01-01T00:00:00+23:59" level=info msg="a"', "a"),
        (rb'time="2026-11-23T05:56:03Z" level=info msg="\U7fffffff"', r"\U7fffffff"),
        (rb'time="2026-11-23T05:56:03Z" level=info msg="\ud800 x" k=v', r"\ud800 x k=v"),
        (rb'{"time":"2026-11-23T05:56:03Z"}', None),
    ],
)
def test_parts_of_a_line(line: bytes, message: str | None) -> None:
    found = logrus_line(line)
    assert (None if found is None else found.message) == message


def test_a_sub_version_of_either_client_is_milliseconds() -> None:
    assert sub_version_ms(1_795_380_963_145) == 1_795_380_963_145
    assert sub_version_ms(1_795_380_963_145_631_381) == 1_795_380_963_145
