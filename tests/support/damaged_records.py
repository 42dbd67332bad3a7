"""Raw recordings of a session, cut, doubled, reordered and set to other clocks, as facts."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from rebalance.facts import Fact
from rebalance.readers.logs import facts_from_log
from rebalance.readers.wire.facts import facts_from_wire
from tests.support.rebalance_sessions import scenario
from tests.support.session_logs import log_paths

Lines = list[bytes]
Files = Mapping[str, Lines]
"""`c1/rocketmq_client.log.gz` or `wire.jsonl.gz` -> its lines."""
_EVENTS = ("start_client", "start_broker", "SIGTERM", "SIGKILL", "SIGSTOP", "SIGCONT", "exited")
_WIRE_TIME = re.compile(rb'"ts":(\d+)')
_LOG_TIME = re.compile(rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def wire_files(session: Path) -> Files:
    return {path.name: gzip.decompress(path.read_bytes()).splitlines(True) for path in sorted(session.glob("wire*"))}


def log_files(session: Path) -> Files:
    return {
        f"{path.parent.name}/{path.name}": gzip.decompress(path.read_bytes()).splitlines(True)
        for path in log_paths(session)
    }


def facts_of_files(files: Files) -> list[Fact]:
    facts: list[Fact] = []
    for name, lines in files.items():
        if name.startswith("wire"):
            facts += facts_from_wire(_records(lines), broker=_broker(name), file=name)
        else:
            facts += facts_from_log(lines, source=name.split("/")[0], file=name)
    return facts


def _broker(name: str) -> str:
    stem = name.removesuffix(".jsonl.gz")
    return stem.removeprefix("wire-") if stem != "wire" else "broker-0"


def _records(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            yield {}


def each(files: Files, damage: Callable[[Lines], Lines], only: str = "") -> Files:
    """All files, those whose name begins with `only` damaged."""
    return {name: damage(lines) if name.startswith(only) else lines for name, lines in files.items()}


def upto(tenths: int) -> Callable[[Lines], Lines]:
    return lambda lines: lines[: len(lines) * tenths // 10]


def without(tenths: int) -> Callable[[Lines], Lines]:
    """The end, from there on."""
    return lambda lines: lines[len(lines) * tenths // 10 :]


def lacking(begin: int, end: int) -> Callable[[Lines], Lines]:
    """All but what lies between two tenths."""
    return lambda lines: lines[: len(lines) * begin // 10] + lines[len(lines) * end // 10 :]


def hole(begin_ms: int, end_ms: int) -> Callable[[Lines], Lines]:
    """A capture without what came in [begin_ms, end_ms), epoch ms: its recorder was down."""

    def cut(lines: Lines) -> Lines:
        stamps = (_WIRE_TIME.search(line) for line in lines)
        return [
            line
            for line, found in zip(lines, stamps, strict=True)
            if found is None or not begin_ms <= int(found[1]) < end_ms
        ]

    return cut


def hole_begins(session: Path, length_ms: int, count: int) -> list[int]:
    """Instants (epoch ms) at which a hole of that length begins: shortly before, over, or as something happened to a
    client, a broker or a topic; so many of them, spread over the session.
    """
    happened = [event["ts"] for event in scenario(session) if event["ev"] in _EVENTS or _makes_queues(event)]
    begins = sorted({int(ts - length_ms * share) for ts in happened for share in (0.02, 0.5, 0.95)})
    return begins[:: max(1, len(begins) // count)][:count]


def _makes_queues(event: Mapping[str, Any]) -> bool:
    return event["ev"] == "tool" and str(event["cmd"]).startswith("topic ")


def moved(places: int) -> Callable[[Lines], Lines]:
    """So many entries, taken out anywhere and put anywhere else; the lines of an entry stay together."""

    def shuffled(lines: Lines) -> Lines:
        random, entries = Random(3), _entries(lines)
        for _ in range(places):
            entry = entries.pop(random.randrange(len(entries)))
            entries.insert(random.randrange(len(entries)), entry)
        return [line for entry in entries for line in entry]

    return shuffled


def in_blocks(size: int) -> Callable[[Lines], Lines]:
    """Blocks of so many entries in any order."""

    def shuffled(lines: Lines) -> Lines:
        entries = _entries(lines)
        blocks = [entries[at : at + size] for at in range(0, len(entries), size)]
        Random(3).shuffle(blocks)
        return [line for block in blocks for entry in block for line in entry]

    return shuffled


def _entries(lines: Lines) -> list[Lines]:
    entries: list[Lines] = []
    for line in lines:
        if entries and _LOG_TIME.match(line) is None:
            entries[-1].append(line)
        else:
            entries.append([line])
    return entries


def set_clock(shift_ms: int, tenths: int = 0) -> Callable[[Lines], Lines]:
    """The clock set by so much from a tenth of the file on."""

    def shifted(lines: Lines) -> Lines:
        at = len(lines) * tenths // 10
        return [*lines[:at], *(_moved(line, shift_ms) for line in lines[at:])]

    return shifted


def _moved(line: bytes, shift_ms: int) -> bytes:
    if line.startswith(b"{"):
        return _WIRE_TIME.sub(lambda found: b'"ts":%d' % (int(found[1]) + shift_ms), line, count=1)
    found = _LOG_TIME.match(line)
    if found is None:
        return line
    moved = datetime.fromisoformat(found[0].decode()) + timedelta(milliseconds=shift_ms)
    return f"{moved:%Y-%m-%d %H:%M:%S}".encode() + line[found.end() :]
