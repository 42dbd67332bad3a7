"""Raw recordings of a session, cut, doubled, reordered and set to other clocks, as facts."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Any

from rebalance.facts import Fact
from rebalance.readers.logs import facts_from_log
from rebalance.readers.wire.facts import facts_from_wire
from tests.support.rebalance_sessions import scenario
from tests.support.session_logs import log_paths

Lines = tuple[bytes, ...]
Files = Mapping[str, Lines]
"""`c1/rocketmq_client.log.gz` or `wire.jsonl.gz` -> its lines."""
_EVENTS = ("start_client", "start_broker", "SIGTERM", "SIGKILL", "SIGSTOP", "SIGCONT", "exited")
_WIRE_TIME = re.compile(rb'"ts":(\d+)')
_LOG_TIME = re.compile(rb"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@cache
def wire_files(session: Path) -> Files:
    return {path.name: _lines(path) for path in sorted(session.glob("wire*"))}


@cache
def log_files(session: Path) -> Files:
    return {f"{path.parent.name}/{path.name}": _lines(path) for path in log_paths(session)}


def _lines(path: Path) -> Lines:
    return tuple(gzip.decompress(path.read_bytes()).splitlines(True))


def facts_of_files(files: Files) -> list[Fact]:
    return [fact for name, lines in files.items() for fact in _facts_of_file(name, lines)]


@lru_cache(maxsize=64)
def _facts_of_file(name: str, lines: Lines) -> tuple[Fact, ...]:
    """A damage leaves most files as they are: of these the facts are read once."""
    if name.startswith("wire"):
        return tuple(facts_from_wire(_records(lines), broker=_broker(name), file=name))
    return tuple(facts_from_log(lines, source=name.split("/")[0], file=name))


def _broker(name: str) -> str:
    stem = name.removesuffix(".jsonl.gz")
    return stem.removeprefix("wire-") if stem != "wire" else "broker-0"


def _records(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            yield {}


def each(files: Files, damage: Callable[[Lines], Iterable[bytes]], only: str = "") -> Files:
    """All files, those whose name begins with `only` damaged."""
    return {name: tuple(damage(lines)) if name.startswith(only) else lines for name, lines in files.items()}


def upto(tenths: int) -> Callable[[Lines], Lines]:
    return lambda lines: lines[: len(lines) * tenths // 10]


def without(tenths: int) -> Callable[[Lines], Lines]:
    """The end, from there on."""
    return lambda lines: lines[len(lines) * tenths // 10 :]


def lacking(begin: int, end: int) -> Callable[[Lines], Lines]:
    """All but what lies between two tenths."""
    return lambda lines: lines[: len(lines) * begin // 10] + lines[len(lines) * end // 10 :]


def hole(begin_ms: int, end_ms: int) -> Callable[[Lines], list[bytes]]:
    """A capture without what came in [begin_ms, end_ms), epoch ms: its recorder was down."""

    def cut(lines: Lines) -> list[bytes]:
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


def moved(places: int) -> Callable[[Lines], list[bytes]]:
    """So many entries, taken out anywhere and put anywhere else; the lines of an entry stay together."""

    def shuffled(lines: Lines) -> list[bytes]:
        random, entries = Random(3), _entries(lines)
        for _ in range(places):
            entry = entries.pop(random.randrange(len(entries)))
            entries.insert(random.randrange(len(entries)), entry)
        return [line for entry in entries for line in entry]

    return shuffled


def in_blocks(size: int) -> Callable[[Lines], list[bytes]]:
    """Blocks of so many entries in any order."""

    def shuffled(lines: Lines) -> list[bytes]:
        entries = _entries(lines)
        blocks = [entries[at : at + size] for at in range(0, len(entries), size)]
        Random(3).shuffle(blocks)
        return [line for block in blocks for entry in block for line in entry]

    return shuffled


def _entries(lines: Lines) -> list[list[bytes]]:
    entries: list[list[bytes]] = []
    for line in lines:
        if entries and _LOG_TIME.match(line) is None:
            entries[-1].append(line)
        else:
            entries.append([line])
    return entries


def set_clock(shift_ms: int, tenths: int = 0) -> Callable[[Lines], list[bytes]]:
    """The clock set by so much from a tenth of the file on."""

    def shifted(lines: Lines) -> list[bytes]:
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
