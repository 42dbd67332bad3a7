"""Logs of the C++ client, written here by its specification: no such client was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rebalance.facts import ConsumerShutdown, ConsumerStarting, Fact, OffsetPersisted, QueueAdded, QueueRemoved
from rebalance.readers.logs import LogReader
from rebalance.readers.logs.facts.log import facts_from_log
from rebalance.readers.logs.lines.boost import boost_line
from rebalance.replay import replay
from tests.support.cli import call

CLIENT = "10.0.0.1@7#DEFAULT"
BEGIN_MS = 1_585_356_000_000
"""2020-03-28T00:40:00Z, 08:40 where the client runs."""


def line(second: int, text: str, level: str = "info", where: str = "[doRebalance:138]") -> bytes:
    return f"[2020-Mar-28 08:{40 + second // 60:02}:{second % 60:02}.124297]({level}):{text}{where}\n".encode()


def mq(number: int) -> str:
    return f"MessageQueue [topic=T, brokerName=b, queueId={number}]"


def pulls(second: int, number: int, group: str = "g", offset: int = 5) -> list[bytes]:
    return [
        line(
            second, f"Add mq:{mq(number)}, request initial offset:{offset}", where="[updateRequestTableInRebalance:528]"
        ),
        line(second, f"Start to pull {mq(number)}, offset:{offset}, GroupName {group}"),
    ]


def named(second: int, group: str = "g") -> list[bytes]:
    told = f"[Consumer Group: {group}, Topic: T, Current Consumer ID: {CLIENT}] is changed."
    rest = f"Total Queue :#4, Total Consumer :#1, Allocated Queues are: \n{mq(0)}\n{mq(1)}\n[doRebalance:138]\n"
    return [line(second, f"Allocation result for {told}", where=""), *rest.encode().splitlines(keepends=True)]


def expired(second: int, number: int, for_ms: int = 9_111) -> bytes:
    told = BEGIN_MS + second * 1_000 + 124 - 120_000 - for_ms
    return line(
        second,
        f"PullRequest for [{mq(number)}] has been expired {for_ms} ms,m_lastPullTimestamp = {told} ms",
        "warning",
        "[isPullRequestExpired:211]",
    )


NIGHT = [
    line(0, "DefaultMQPushConsumerImpl:g start", where="[start:326]"),
    *pulls(1, 0),
    *pulls(1, 1),
    *named(1),
    line(6, f"oneway updateConsumeOffsetToBroker of mq:{mq(0)}, its offset is:9", where="[updateConsumeOffset:310]"),
    expired(200, 1),
    line(200, f"Drop mq:{mq(1)} according Pull timeout.", where="[updateRequestTableInRebalance:502]"),
    *pulls(201, 1),
    *named(201),
    line(300, f"Drop mq:{mq(0)},because not responsive", where="[updateRequestTableInRebalance:493]"),
    line(310, f"MQClientFactory:{CLIENT} shutdown", where="[shutdown:318]"),
]


def facts(lines: Iterable[bytes]) -> list[Fact]:
    return list(facts_from_log(lines, source="c1"))


def seconds(found: Iterable[Fact], kind: type[Fact]) -> list[float]:
    return [(fact.at_ms - BEGIN_MS) // 1_000 for fact in found if isinstance(fact, kind)]


def test_queues_that_came_and_went_are_told_with_their_group_and_client() -> None:
    found = facts(NIGHT)
    assert seconds(found, ConsumerStarting) == [0]
    assert seconds(found, QueueAdded) == [1, 1, 201]
    assert [fact.reason for fact in found if isinstance(fact, QueueRemoved)] == ["pull_expired", "unnecessary"]
    assert [(fact.group, fact.client_id) for fact in found if isinstance(fact, OffsetPersisted)] == [("g", CLIENT)]
    assert seconds(found, ConsumerShutdown) == [310]


def test_the_zone_is_that_of_a_pull_that_expired() -> None:
    assert {(fact.early_ms, fact.late_ms) for fact in facts(NIGHT)} == {(0, 0)}
    without = [each for each in NIGHT if b"has been expired" not in each]
    assert all(fact.early_ms + fact.late_ms > 86_400_000 for fact in facts(without))


def test_the_replay_knows_who_had_the_queues() -> None:
    held = [(row.queue_id, row.client_id, row.begin_latest, row.end_latest) for row in replay(facts(NIGHT)).intervals]
    at = [BEGIN_MS + second * 1_000 + 124 for second in (1, 300, 200, 201, 310)]
    assert sorted(held) == [(0, CLIENT, at[0], at[1]), (1, CLIENT, at[0], at[2]), (1, CLIENT, at[3], at[4])]


def test_a_queue_of_several_groups_is_nobodys() -> None:
    both = [*pulls(1, 0), *named(1), *pulls(2, 0, "h"), *named(2, "h"), expired(200, 0)]
    dropped = line(200, f"Drop mq:{mq(0)} according Pull timeout.")
    assert not [fact for fact in facts([*both, dropped]) if isinstance(fact, QueueRemoved)]


def test_every_line_is_accounted_for() -> None:
    reader = LogReader()
    events = list(reader.events(NIGHT))
    summary = reader.summary
    assert (summary.recognised, summary.unrecognised, summary.unreadable, summary.continued) == (len(events), 0, 0, 8)
    assert {event.head[0] for event in events} == {"INFO", "WARNING"}


def test_a_head_that_is_none_is_left_alone() -> None:
    for head in (b"[2020-Xyz-28 08:42:42.124297](info):x", b"[2020-Mar-28 08:42:42](info):x", b"[id: 1] x", b"["):
        assert boost_line(head) is None


def test_offsets_and_replay_take_the_log(tmp_path: Path) -> None:
    (tmp_path / "rocketmq_client.log").write_bytes(b"".join(NIGHT))
    rows = call("replay", tmp_path, "--show", "intervals").rows
    assert {(row["group"], row["client_id"]) for row in rows} == {("g", CLIENT)}
    assert len(rows) == 3
