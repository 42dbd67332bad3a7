"""Recorded clusters: replayed ownership against the clients' own tables, duplicates against exposures, events against
incidents.

Ownership has no tolerance: whatever is called certain must be what the tables show, and whoever may have owned a queue
must be among the possible.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pipelines.notebook.bundles import extract_all
from pipelines.notebook.cluster import read_cluster
from rebalance.diagnosis.incidents import (
    CLIENT_EXPIRED,
    CLIENT_LEFT,
    CLIENT_RESUMED,
    CLIENT_SILENT,
    CLIENT_STARTED,
    CLIENT_VANISHED,
    QUEUES_ADDED,
    Incident,
)
from rebalance.facts import BrokerStarted, BrokerStopping, Fact
from rebalance.processes.broker_runs import BROKER_STARTED, BROKER_STOPPED, BROKER_VANISHED
from rebalance.replay import Replay, replay
from tests.support.fixtures import GOLDEN
from tests.support.ownership_judge import Verdict, duplicates, exposed, instants, judge
from tests.support.rebalance_sessions import SESSIONS, certain_share, scenario, sessions, truth_runs, wire_facts
from tests.support.session_logs import log_facts

INSTANTS = 1_000
SEED = 20_261_121
BROKER_KINDS = {BrokerStarted: BROKER_STARTED, BrokerStopping: BROKER_STOPPED}
SOURCES = {
    "wire": wire_facts,
    "logs": log_facts,
    "both": lambda session: wire_facts(session) + log_facts(session),
}


sources = pytest.mark.parametrize("source", SOURCES)


@cache
def replayed(session: Path, source: str) -> Replay:
    facts: list[Fact] = SOURCES[source](session)
    return replay(facts)


@sources
@sessions
def test_owner_at_random_instants(session: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    verdict: Verdict = judge(session, replayed(session, source), instants(session, INSTANTS, SEED))
    with capsys.disabled():
        print(f"\n{session.name:24s} {source:5s} {verdict}", end="")
    assert not verdict.wrong, verdict.wrong[:5]
    assert verdict.certain_share >= certain_share(session, source)


@sources
@sessions
def test_every_duplicate_is_exposed(session: Path, source: str, capsys: pytest.CaptureFixture[str]) -> None:
    happened, predicted = duplicates(session), exposed(session, replayed(session, source))
    ratio = f"{len(predicted) / len(happened):.1f}" if happened else "-"
    with capsys.disabled():
        print(
            f"\n{session.name:24s} {source:5s} {len(happened)} twice, {len(predicted)} exposed, ratio {ratio}", end=""
        )
    assert not happened - predicted


@pytest.mark.parametrize(
    "name", ["a-533-join-leave-kill", "c-497-ordered-kill", "s-550-frozen", "d-533-mixed-strategy"]
)
@pytest.mark.parametrize("source", ["wire.jsonl.gz", "logs"])
def test_every_duplicate_is_exposed_with_the_store_too(name: str, source: str, tmp_path: Path) -> None:
    session = GOLDEN / "rebalance" / "sessions" / name
    with tarfile.open(session / "store.tar.gz") as packed:
        extract_all(packed, tmp_path)
    (commitlog,) = tmp_path.rglob("commitlog")
    rows = read_cluster([session / source]).exposed(commitlog.parent).rows
    told = {
        (row["group"], row["topic"], row["broker"], row["queue_id"], queue_offset)
        for row in rows
        for queue_offset in range(row["from_queue_offset"] or 0, row["to_queue_offset"])
    }
    assert not duplicates(session) - told
    if source == "wire.jsonl.gz" and "frozen" not in name:
        assert len(told) <= 15 * len(duplicates(session))


@sources
@sessions
def test_spans_of_exposures_end_after_they_begin(session: Path, source: str) -> None:
    rows = replayed(session, source).exposures
    assert not [row for row in rows if (row.from_ms or 0) > (row.until_ms or 1 << 62)]


@sources
@pytest.mark.parametrize("session", [p for p in SESSIONS if "quiet" in p.name], ids=lambda p: p.name)
def test_the_quiet_control_has_no_anomaly(session: Path, source: str) -> None:
    assert replayed(session, source).anomalies == []
    assert replayed(session, source).divergence == []


@pytest.mark.parametrize("source", ["wire", "both"])
@sessions
def test_every_injected_event_is_named(session: Path, source: str) -> None:
    incidents = replayed(session, source).incidents
    missing = [
        (kind, subject, at_ms)
        for kind, subject, at_ms in injected(session, source)
        if not any(i.kind == kind and i.subject == subject and _explains(i, at_ms) for i in incidents)
    ]
    assert not missing


@sources
@sessions
def test_every_broker_event_is_one_incident_with_evidence(session: Path, source: str) -> None:
    incidents = replayed(session, source).incidents
    happened = Counter(BROKER_KINDS[type(fact)] for fact in wire_facts(session) if type(fact) in BROKER_KINDS)
    for group in {incident.group for incident in incidents}:
        told = Counter(i.kind for i in incidents if i.group == group and i.kind in BROKER_KINDS.values())
        assert told == happened
    assert not [incident for incident in incidents if not incident.evidence]


def _explains(incident: Incident, at_ms: int) -> bool:
    """Whether an event of the scenario lies in an incident's window, with room for what it takes to show."""
    return incident.earliest_ms - SHOWS_AFTER_MS.get(incident.kind, 1_000) <= at_ms <= incident.latest_ms + 1_000


@sessions
def test_every_change_has_a_cause(session: Path) -> None:
    unexplained = [
        interval
        for interval in replayed(session, "wire").intervals
        if "unknown" in (interval.cause, interval.end_cause)
    ]
    assert not unexplained


@sessions
def test_every_divergence_has_a_cause(session: Path) -> None:
    assert not [row for row in replayed(session, "wire").divergence if row.cause == "unknown"]


def injected(session: Path, source: str) -> Iterator[tuple[str, str, int]]:
    """(kind, subject, when) of what the scenario did and a record of the brokers can show.

    A Go client does not unregister: on the wire one that stops is missed by those that stay, at the end by nobody. What
    is killed before it is up, and a client that is frozen for less than its heartbeat takes, is seen by nobody.
    """
    topics: set[str] = set()
    done = scenario(session)
    silent = {event["name"] for event in done if event.get("client") == "go" and source == "wire"}
    last_start_ms = max(event["ts"] for event in done if event["ev"] == "start_client")
    for event in done:
        name = event.get("name", "")
        if event["ev"] == "start_broker":
            if not _too_short_lived(done, event):
                yield BROKER_STARTED, event["broker"], event["ts"]
        elif event["ev"] == "SIGTERM" and name.startswith("broker"):
            yield BROKER_STOPPED, name, event["ts"]
        elif event["ev"] == "SIGKILL" and name.startswith("broker"):
            up_again = any(later["ev"] == "start_broker" and later["ts"] > event["ts"] for later in done)
            if up_again and not _too_short_lived(done, event):
                yield BROKER_VANISHED, name, event["ts"]
        elif event["ev"] == "tool" and event["cmd"].startswith("topic "):
            topic, broker = event["cmd"].split()[1], event["cmd"].split()[3]
            if f"{topic} {broker}" in topics:
                yield QUEUES_ADDED, topic, event["ts"]
            topics.add(f"{topic} {broker}")
        elif event["ev"] == "SIGTERM" and name in silent:
            if event["ts"] < last_start_ms:
                yield CLIENT_VANISHED, _client_of(session, name, event["ts"]), event["ts"]
        elif event["ev"] in CLIENT_EVENTS and not _too_short_lived(done, event):
            client_id = _client_of(session, name, event["ts"])
            for kind in CLIENT_EVENTS[event["ev"]]:
                if _frozen_ms(done, event) >= FROZEN_MS.get(kind, 0):
                    yield kind, client_id, event["ts"]


def _too_short_lived(done: list[dict[str, Any]], event: dict[str, Any]) -> bool:
    """Whether this is the start, or the SIGKILL, of a process that was killed before anybody can have seen it up."""
    name = event.get("broker") or event["name"]
    starts = [e["ts"] for e in done if e["ev"].startswith("start_") and name in (e.get("name"), e.get("broker"))]
    kills = [e["ts"] for e in done if e["ev"] == "SIGKILL" and e["name"] == name]
    return any(
        0 < killed_ms - started_ms < YOUNG_MS and event["ts"] in (started_ms, killed_ms)
        for started_ms in starts
        for killed_ms in kills
    )


def _frozen_ms(done: list[dict[str, Any]], event: dict[str, Any]) -> int:
    """How long a process is stopped by this event, or was by the one that this event ends; else longer than any."""
    stops = [e["ts"] for e in done if e["ev"] == "SIGSTOP" and e["name"] == event["name"]]
    conts = [e["ts"] for e in done if e["ev"] == "SIGCONT" and e["name"] == event["name"]]
    if event["ev"] == "SIGSTOP":
        return int(min(ts for ts in conts if ts > event["ts"]) - event["ts"])
    if event["ev"] == "SIGCONT":
        return int(event["ts"] - max(ts for ts in stops if ts < event["ts"]))
    return 1 << 62


YOUNG_MS = 5_000  # a JVM has registered by then
FROZEN_MS = {
    CLIENT_SILENT: 40_000,  # it is heard every 30 s
    CLIENT_RESUMED: 40_000,
    CLIENT_EXPIRED: 135_000,
}
SHOWS_AFTER_MS = {
    BROKER_STARTED: 40_000,  # a JVM and a broker to start
    CLIENT_STARTED: 20_000,  # a JVM and a route to get
    CLIENT_EXPIRED: 130_000,  # 120 s of silence and a scan every 10 s
    CLIENT_RESUMED: 5_000,
}
CLIENT_EVENTS = {
    "start_client": (CLIENT_STARTED,),
    "SIGTERM": (CLIENT_LEFT,),
    "SIGKILL": (CLIENT_VANISHED,),
    "SIGSTOP": (CLIENT_SILENT, CLIENT_EXPIRED),
    "SIGCONT": (CLIENT_RESUMED,),
}


def _client_of(session: Path, name: str, at_ms: int) -> str:
    """The client id of the run of a name that was starting or alive at an instant."""
    runs = [
        run for run in truth_runs(session) if run.name == name and (run.ended_ms is None or run.ended_ms > at_ms - 100)
    ]
    return min(runs, key=lambda run: run.started_ms).client_id
