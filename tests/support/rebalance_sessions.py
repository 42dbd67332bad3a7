"""Recorded clusters: their wire captures as facts, and the truth written inside their consumers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rebalance.facts import Fact
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.wire.facts import facts_from_wire
from tests.support.fixtures import GOLDEN

SESSIONS = sorted((GOLDEN / "rebalance" / "sessions").iterdir())
sessions = pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.name)
"""For a test of every recorded cluster."""

JAVA_SESSIONS = [path for path in SESSIONS if "-go-" not in path.name]
java_sessions = pytest.mark.parametrize("session", JAVA_SESSIONS, ids=lambda path: path.name)
"""For a test of what only a log stamped to the millisecond tells, or one that prints its own instants: Java's."""


def certain_share(session: Path, source: str) -> float:
    """How much of the answers has to be certain.

    A Go client does not unregister: on the wire its end is known when its connection is missed. Of brokers and clients
    that are killed time and again nothing says until when they lived.
    """
    if "-killed" in session.name:
        return 0.7
    return 0.7 if source == "wire" and "-go-" in session.name else 0.9


def sessions_with(part: str) -> pytest.MarkDecorator:
    """For a test of every recorded cluster that has this file or folder."""
    having = [path for path in SESSIONS if (path / part).exists()]
    return pytest.mark.parametrize("session", having, ids=lambda path: path.name)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a gzipped JSON Lines file; a last line cut by a kill is left out."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                return


def wire_facts(session: Path) -> list[Fact]:
    """Facts of all wire captures of a session."""
    facts: list[Fact] = []
    for path in sorted(session.glob("wire*.jsonl.gz")):
        broker = (
            path.name.removeprefix("wire-").removesuffix(".jsonl.gz") if path.name.startswith("wire-") else "broker-0"
        )
        facts.extend(facts_from_wire(json_lines(path), broker=broker, file=path.name))
    return facts


@dataclass
class TruthRun:
    """One run of one consumer: its table after each change, from start to its end."""

    name: str
    group: str
    client_id: str = ""
    started_ms: int = 0
    ended_ms: int | None = None
    shutdown_ms: int | None = None
    tables: list[tuple[int, frozenset[MessageQueue], frozenset[MessageQueue]]] = field(default_factory=list)


def scenario(session: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (session / "scenario.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def truth_runs(session: Path) -> list[TruthRun]:
    """Runs of all consumers; a killed run ends at its SIGKILL, a stopped one when its shutdown returned. Not to be
    changed.
    """
    runs: list[TruthRun] = []
    kills = [(e["name"], e["ts"]) for e in scenario(session) if e["ev"] == "SIGKILL"]
    for path in sorted((session / "truth").glob("c*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        mine: list[TruthRun] = []
        for record in json_lines(path):
            _apply(record, mine, name)
        for run, following in zip(mine, [*mine[1:], None], strict=True):
            until = following.started_ms if following is not None else 1 << 62
            killed = [ts for who, ts in kills if who == name and run.started_ms <= ts < until]
            if killed:
                run.ended_ms = killed[0]
        runs += mine
    return runs


def _apply(record: dict[str, Any], runs: list[TruthRun], name: str) -> None:
    ev = record["ev"]
    if ev == "start_begin":
        runs.append(TruthRun(name, record["group"], started_ms=record["ts"]))
    elif ev == "started":
        runs[-1].client_id = record["client"]
    elif ev == "shutdown_begin":
        runs[-1].shutdown_ms = record["ts"]
    elif ev == "shutdown_end":
        runs[-1].ended_ms = record["ts"]
    elif ev == "table":
        rows = record["table"]
        present = frozenset(MessageQueue(t, b, q) for t, b, q, _ in rows)
        dropped = frozenset(MessageQueue(t, b, q) for t, b, q, flags in rows if flags["dropped"])
        runs[-1].tables.append((record["ts"], present, dropped))
