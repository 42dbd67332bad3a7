"""Offset movements: what admins did to real brokers, what the brokers corrected, and what listeners got again."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pipelines.answers.offsets.corrections import FORMER_LIFE
from pipelines.answers.offsets.event import OffsetEvent
from pipelines.answers.offsets.events import events_of
from pipelines.answers.offsets.saved import offsets_in
from recovery.query.move_kind import MoveKind
from recovery.query.next_pull import next_pull
from recovery.rules.versions import BrokerVersion
from tests.support.cli import call
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.incidents import incident, incident_names
from tests.support.opened import opened
from tests.support.recorded import offset_record
from tests.support.stores import store_root, truth

NAMES = incident_names("offsets-reset")
ILLEGAL = re.compile(
    rb"nextOffset=(-?\d+)\] PullResult \[pullStatus=OFFSET_ILLEGAL, "
    rb"nextBeginOffset=(\d+), minOffset=(\d+), maxOffset=(\d+)"
)
IN_FLIGHT = 1
"""A message that was being consumed while the offset was moved past it is delivered all the same."""


@cache
def events(name: str) -> tuple[OffsetEvent, ...]:
    case = incident(name)
    problems: list[str] = []
    kept = case.truth / "offset_history"
    found = events_of(
        *opened(case.root, case.version),
        offset_record(*([case.logs] if case.logs.is_dir() else [])),
        offsets_in(kept, problems.append) if kept.is_dir() else [],
        damage=lambda damage: problems.append(str(damage)),
    )
    assert problems == []
    return tuple(event for event in found if event.is_told)


def moves(name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What each call of an admin did to each queue, where it changed anything."""
    for move in incident(name).told()["answers"]["moves"]:
        yield from ((move, queue) for queue in move["moved"] if queue["from"] != queue["to"])


@pytest.mark.parametrize("name", NAMES)
def test_every_act_of_an_admin_is_found(name: str) -> None:
    for move, queue in moves(name):
        seen_ms = [at for at in (move["at"], queue["tableShowsItAt"]) if at is not None]  # the table: every 150 ms
        found = [
            event
            for event in events(name)
            if (event.group, event.topic, event.queue_id) == (move["group"], move["topic"], queue["queueId"])
            and event.after == queue["to"]
            and event.earliest_ms is not None
            and event.latest_ms is not None
            and any(event.earliest_ms <= at_ms <= event.latest_ms for at_ms in seen_ms)
        ]
        (event,) = found
        assert event.kind in (MoveKind.RESET, MoveKind.MOVED_FORWARD, MoveKind.FIRST_OFFSET), event
        if queue["from"] is None:
            assert (event.before, event.skipped, event.certain) == (None, None, False)
        elif queue["beyondEnd"]:
            assert (event.before, event.skipped) == (queue["from"], None)
        elif move["groupOnline"]:  # the group consumes until the reset reaches its client
            assert (event.after, event.repeated) == (queue["to"], queue["deliveredAgain"])
            assert event.skipped in {queue["neverDelivered"], queue["neverDelivered"] + IN_FLIGHT}
        else:
            assert (event.before, event.skipped, event.repeated) == (queue["from"], queue["skipped"], queue["repeated"])


@pytest.mark.parametrize("name", NAMES)
def test_no_other_move_is_told(name: str) -> None:
    """Besides the admin's acts: pulls that the broker corrected, and what follows from either."""
    told = {(move["group"], move["topic"], queue["queueId"], queue["to"]) for move, queue in moves(name)}
    others = [event for event in events(name) if (event.group, event.topic, event.queue_id, event.after) not in told]
    follow = {MoveKind.CORRECTED, MoveKind.COMMITS_REJECTED, MoveKind.STALLED, MoveKind.NEXT_PULL}
    assert {event.kind for event in others} <= follow


@pytest.mark.parametrize("name", NAMES)
def test_every_pull_that_the_broker_corrected_is_found(name: str) -> None:
    told = incident(name).told()["answers"]["byBroker"]
    found = [event for event in events(name) if event.kind is MoveKind.CORRECTED]
    key = ("group", "topic", "requestOffset", "newOffset")
    assert Counter(tuple(line[part] for part in key) for line in told) == Counter(
        (event.group, event.topic, event.before, event.after) for event in found
    )
    deleted = [event for event in found if event.cause.startswith("below")]
    assert [event.skipped for event in deleted] == [
        line["newOffset"] - line["requestOffset"] for line in told if "deleted" in line["cause"]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_again_is_what_listeners_got_again(name: str) -> None:
    times = Counter(
        (row["group"], row["topic"], row["queueId"], row["queueOffset"])
        for row in incident(name).lines("deliveries.jsonl.gz")
        if "check" not in row and not row["topic"].startswith("%RETRY%")
    )
    again = {place for place, count in times.items() if count > 1}
    told = {
        (event.group, event.topic, event.queue_id, offset)
        for event in events(name)
        if event.repeated and event.kind is MoveKind.RESET and event.after is not None
        for offset in range(event.after, event.after + event.repeated)
    }
    assert told == again != set()
    for event in events(name):
        if event.skipped and event.certain and event.before is not None and event.kind is not MoveKind.NEXT_PULL:
            places = {(event.group, event.topic, event.queue_id, event.before + n) for n in range(event.skipped)}
            assert len(places & times.keys()) <= IN_FLIGHT


@pytest.mark.parametrize("name", incident_names())
def test_a_life_of_a_topic_is_nobodys_move(name: str) -> None:
    """Where no admin touched an offset, nothing is said to be set by one."""
    if name not in NAMES:
        assert {event.kind for event in events(name) if event.certain} <= {
            MoveKind.CORRECTED,
            MoveKind.NEXT_PULL,
            MoveKind.STALLED,
            MoveKind.REMOVED,
        }


@pytest.mark.parametrize("name", incident_names("topic-recreated"))
def test_a_number_of_a_former_life_skips_what_listeners_never_got(name: str) -> None:
    case = incident(name)
    lives = {topic: told["lives"] for topic, told in case.told()["answers"]["topics"].items()}
    got = set()
    for row in case.lines("deliveries.jsonl.gz"):
        if row["topic"] in lives:
            life = _life(lives[row["topic"]], "firstPhysicalOffset", row["physicalOffset"])
            got.add((row["group"], row["topic"], row["queueId"], life, row["queueOffset"]))
    former = [event for event in events(name) if event.cause.startswith(FORMER_LIFE)]
    assert sum(event.skipped or 0 for event in former) > 0
    for event in former:
        assert (event.repeated, event.queue_id) != (0, None)
        at_ms = event.latest_ms or case.told()["steps"][-1]["at"]
        place = event.group, event.topic, event.queue_id, _life(lives[event.topic], "createdAt", at_ms)
        assert not {(*place, number) for number in range(event.skipped or 0)} & got, event


def _life(lives: list[dict[str, Any]], begin: str, here: int) -> int:
    """The number of the life that a place of the log, or an instant, is in."""
    return sum(life[begin] <= here for life in lives)


def test_a_start_above_the_last_commit_heard_is_none_where_a_saved_table_has_it() -> None:
    """The commit of a client that was killed is in the broker's table alone."""
    session = GOLDEN / "rebalance" / "sessions" / "c-497-ordered-kill"
    store = unpacked(session / "store.tar.gz") / "broker-0" / "store"
    kept = session / "offsets" / "broker-0" / "consumerOffset"
    heard = [row for row in call("offsets", store, "--logs", session / "logs").rows if row["kind"] != "next_pull"]
    assert [(row["kind"], row["topic"], row["queue_id"]) for row in heard] == [
        ("started_above_commit", "ledger", queue_id) for queue_id in range(3)
    ]
    assert call("offsets", store, "--logs", session / "logs", "--offsets", kept).rows == []


def illegal_pulls() -> Iterator[tuple[str, int, int, int, int]]:
    """(version, offset asked for, answer, minimum, maximum) of every such pull in the recorded clients' logs."""
    for path in sorted([*GOLDEN.glob("incidents/*/logs/rocketmq_client.log.gz"), *session_logs()]):
        version = next(part for part in path.parts if re.match(r"(\w-)?[345]", part))
        with gzip.open(path, "rb") as lines:
            for line in lines:
                if found := ILLEGAL.search(line):
                    asked, answer, least, most = map(int, found.groups())
                    yield version, asked, answer, least, most


def session_logs() -> Iterator[Path]:
    yield from GOLDEN.glob("rebalance/sessions/*/logs/*/rocketmq_client.log.gz")


def test_the_next_pull_goes_on_where_real_brokers_sent_it() -> None:
    judged = 0
    for told, asked, answer, least, most in illegal_pulls():
        digits = re.sub(r"\D", "", told.partition("-")[2] if told[1] == "-" else told)
        version = BrokerVersion.parse(".".join(digits[:3]))
        found = next_pull(asked, least, most, version)
        assert found.queue_offset == answer, (told, asked)
        assert found.is_moved
        judged += 1
    assert judged > 0


def test_the_command_tells_the_same(tmp_path: Path) -> None:
    case = incident(NAMES[0])
    kept = case.truth / "offset_history"
    called = call("offsets", case.root, "--version", case.version, "--logs", case.logs, "--offsets", kept)
    assert called.code == 0, called.err
    assert [(row["group"], row["kind"], row["to_queue_offset"]) for row in called.rows] == [
        (event.group, event.kind.value, event.after) for event in events(NAMES[0])
    ]
    assert call("offsets", case.root, "--version", case.version, "--group", "CG_old", "--logs", case.logs).rows != []


def test_the_log_of_another_broker_changes_nothing(tmp_path: Path) -> None:
    """The other one did the same to a group, a topic and queues of the same names."""
    case = incident("5.3.3-offsets-reset")
    lines = gzip.decompress((case.logs / "broker.log.gz").read_bytes())
    for name in ("broker-a", "broker-b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "broker.log").write_bytes(lines.replace(b"broker-a", name.encode()))
    for command in ("offsets", "groups", "lives"):
        alone, both = (
            [
                {name: value for name, value in row.items() if name != "evidence"}
                for row in call(command, case.root, "--logs", place, "--quiet").rows
            ]
            for place in (tmp_path / "broker-a", tmp_path)
        )
        assert alone == both, command
    assert {row["kind"] for row in call("offsets", case.root, "--logs", tmp_path, "--quiet").rows} >= {"reset"}


def test_of_logs_of_several_brokers_nothing_is_taken_where_the_store_names_none(tmp_path: Path) -> None:
    case = incident("5.3.3-offsets-reset")
    lines = gzip.decompress((case.logs / "broker.log.gz").read_bytes())
    for name in ("broker-b", "broker-c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "broker.log").write_bytes(lines.replace(b"broker-a", name.encode()))
    told = call("offsets", case.root, "--logs", tmp_path)
    assert "several brokers (broker-b, broker-c); which is the store's is not known: no movement" in told.err
    assert "reset" not in {row["kind"] for row in told.rows}


@pytest.mark.parametrize("name", ["k-533-go-join-leave-kill", "m-533-go-ordered-kill"])
def test_commits_that_go_clients_log_are_those_on_the_wire(name: str) -> None:
    session = GOLDEN / "rebalance" / "sessions" / name
    logged = offset_record(*(place for place in (session / "logs").iterdir() if place.name.startswith("c")))
    sent = offset_record(*session.glob("wire*"))
    assert logged.commits
    for key, of_brokers in logged.commits.items():
        for broker, commits in of_brokers.items():
            assert set(commits.offset) <= set(sent.commits[key][broker].offset)


@pytest.mark.parametrize("name", ["4.9.7-ha-ahead/master", "5.3.3-ha-ahead/master"])
def test_where_a_killed_broker_sends_a_group_hangs_on_what_its_start_dispatches(name: str) -> None:
    """The queue of the group ended elsewhere once the real class had started on these files."""
    called = call("offsets", store_root(name), "--version", name.partition("-")[0])
    (row,) = [row for row in called.rows if row["kind"] == "next_pull"]
    ends = truth(name, "recovered.json")["queues"]
    recovered = ends[f"{row['topic']}/{row['queue_id']}"][1]
    assert row["from_queue_offset"] > recovered != row["to_queue_offset"]
    assert (row["certain"], row["skipped"], row["repeated"]) == (False, None, None)
    assert "forecast" in row["reason"]
