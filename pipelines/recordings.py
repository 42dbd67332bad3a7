"""What a cluster left behind, as files: logs, wire captures, polled answers, copies of a broker's topics and groups.

Found, named, and read as facts.

Whose a log is, its text says (a broker prints its name when it boots); only then its place does.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from parsers.errors import NotThisFormat
from pipelines.kept_copy import written_ms
from pipelines.recorded_states import StateKind, broker_of_topics, facts_of_states, is_polled, state_kind
from rebalance.json_text import parse_json

if TYPE_CHECKING:
    from rebalance.events import Fact
    from rebalance.logs.reader import LogEvent, LogSummary

Kind = Literal["wire", "pcap", "log", "polls", "topics", "groups"]
Problem = Callable[[str], None]

LOG_NAME = re.compile(r"^(?P<stem>.+?)(?:[._-]\d[\d._-]*)?\.log(?:[.-]\d[\d.-]*)?(?:\.gz)?$")
"""`broker.log`, `broker.1.log.gz`, `rocketmq_client_log-2026-11-21-3.log`, `broker.log.2`: one log, one stem."""
BOOTED = re.compile(rb"The broker\[(.+?), [^\]]*\] boot success|(?:^|- )brokerName=(\S+)")
DATED = re.compile(rb"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
BROKER_STEMS = {"broker", "broker_default", "lock", "filter", "remoting"}
CLIENT_STEMS = {"rocketmq_client", "rocketmq_client_log", "tools", "tools_default"}
NO_NAME_FOR_A_BROKER = {"logs", "log", "rocketmqlogs", "otherdays", "other_days", ""}
LINES_SNIFFED = 50
PCAP_MAGIC = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a")
BROKER_PORTS = (10911, 10909)
"""`listenPort` of a broker by default, and its VIP channel two below."""
NAME_LINES = 20_000
LONGEST_LINE = 1 << 24


@dataclass(frozen=True, slots=True)
class Recording:
    """One log (rotated parts in order of time), one capture, one file of polls, or all copies of a configuration file.

    Attributes:
        source: the broker's name, or a name for a client's log.
        name: what evidence calls it. No two recordings share one: two logs of one file name are two processes.
    """

    kind: Kind
    paths: tuple[Path, ...]
    source: str
    name: str
    broker_ports: tuple[int, ...] = BROKER_PORTS


def find_recordings(
    given: Iterable[Path],
    *,
    broker: str | None = None,
    broker_ports: Collection[int] = BROKER_PORTS,
    problem: Problem = lambda sentence: None,
) -> list[Recording]:
    """The recordings among files and folders; files that are none are passed over.

    Args:
        broker: name for captures and broker logs that do not tell it themselves.
        broker_ports: where the broker listened, for pcap files.
        problem: told of folders that cannot be looked into.
    Raises:
        FileNotFoundError: a path that is not there.
    """
    paths = [path for place in given for path in _files(place, problem)]
    captures: list[tuple[Kind, Path]] = [(kind, path) for path in paths if (kind := _kind_of_lines(path)) is not None]
    captures += [("pcap", path) for path in paths if _starts_with(path, PCAP_MAGIC)]
    logs: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        if stem := _log_stem(path):
            logs.setdefault((_home(path), stem), []).append(path)
    named = {home: _broker_of(home, parts, broker) for (home, stem), parts in logs.items() if stem == "broker"}
    ports, place = tuple(broker_ports), _Places(paths)
    found = [
        Recording(kind, (path,), _broker_of_capture(kind, path, broker, ports), place.of([path]), ports)
        for kind, path in captures
    ]
    for (home, stem), parts in logs.items():
        ordered = tuple(sorted(parts, key=lambda part: (_first_stamp(part), part.name)))
        teller = named.get(home) or broker if stem in BROKER_STEMS else None
        found.append(Recording("log", ordered, teller or place.client(home, stem), place.of(ordered)))
    return [*found, *_states(paths, place, broker)]


def _states(paths: Iterable[Path], place: _Places, broker: str | None) -> Iterator[Recording]:
    """Copies of a broker's configuration files, one recording per folder and kind."""
    copies: dict[tuple[Path, StateKind], list[Path]] = {}
    for path in paths:
        if kind := state_kind(path):
            copies.setdefault((path.parent, kind), []).append(path)
    topics = [path for (_, kind), parts in copies.items() if kind == "topics" for path in parts]
    for (folder, kind), parts in copies.items():
        ordered = tuple(sorted(parts, key=lambda part: (written_ms(part), part.name)))
        source = broker_of_topics(path for path in topics if _near(folder, path.parent)) or broker or folder.name
        name = place.of(ordered if len(ordered) == 1 else (folder,))
        yield Recording(kind, ordered, source, name)


def _near(folder: Path, other: Path) -> bool:
    """The same folder, or one beside it."""
    return other == folder or other.parent == folder.parent


class _Places:
    """Paths as told below the folder that all of them share."""

    def __init__(self, paths: Iterable[Path]) -> None:
        folders = [str(path.absolute().parent) for path in paths]
        self._root = Path(os.path.commonpath(folders)) if folders else Path()

    def of(self, parts: Iterable[Path]) -> str:
        return "+".join(self._below(part) for part in parts)

    def client(self, home: Path, stem: str) -> str:
        """A client's log is called after its folder, where that says more than `logs`."""
        below = self._below(home)
        return (
            home.name
            if below == "." and home.name.lower() not in NO_NAME_FOR_A_BROKER
            else stem
            if below == "."
            else below
        )

    def _below(self, path: Path) -> str:
        return path.absolute().relative_to(self._root).as_posix()


def facts_of(
    recording: Recording,
    problem: Problem,
    on_event: Callable[[LogEvent], None] | None = None,
    on_end: Callable[[LogSummary], None] | None = None,
) -> Iterator[Fact]:
    """The facts of one recording; what cannot be read of it goes to `problem` as a sentence.

    Args:
        on_event: called with each recognised entry of a log.
        on_end: called with what a log held, its lines of no known text counted and sampled.
    """
    file = recording.name
    if recording.kind == "log":
        from rebalance.logs.facts import facts_from_log

        lines = (line for path in recording.paths for line in lines_of(path, problem))
        yield from facts_from_log(lines, source=recording.source, file=file, on_event=on_event, on_end=on_end)
    elif recording.kind == "polls":
        from rebalance.snapshots import facts_from_polls

        yield from facts_from_polls(_records(lines_of(recording.paths[0], problem)), source=recording.source, file=file)
    elif recording.kind == "topics" or recording.kind == "groups":
        yield from facts_of_states(recording.kind, recording.paths, recording.source, file, problem)
    else:
        from rebalance.wire import facts_from_wire

        records = _captured(recording.kind, recording.paths[0], recording.broker_ports, problem)
        yield from facts_from_wire(records, broker=recording.source, file=file)


def lines_of(path: Path, problem: Problem) -> Iterator[bytes]:
    """Lines of a plain or gzipped file, up to where it can be read, or to one of LONGEST_LINE bytes."""
    try:
        with gzip.open(path, "rb") if _gzipped(path) else path.open("rb") as lines:
            for line in iter(partial(lines.readline, LONGEST_LINE), b""):
                if len(line) == LONGEST_LINE:
                    problem(
                        f"{path}: a line of {LONGEST_LINE} bytes and more is none of a log; those before it were read"
                    )
                    return
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as cut:
        problem(f"{path}: the gzip data ends or breaks early ({cut}); the lines before it were read")
    except OSError as refused:
        problem(f"{path}: {refused.strerror or refused}")


def _files(place: Path, problem: Problem) -> Iterator[Path]:
    """Plain files: what has no end cannot be looked into to see what it is."""

    def closed(error: OSError) -> None:
        problem(f"{error.filename}: {error.strerror or error}: nothing in it was read")

    place.stat()
    inside = [place]
    if place.is_dir():
        inside = sorted(Path(folder, name) for folder, _, names in os.walk(place, onerror=closed) for name in names)
    yield from (path for path in inside if path.is_file())


def _captured(kind: Kind, path: Path, broker_ports: Collection[int], problem: Problem) -> Iterator[dict[str, Any]]:
    """The wire records of one capture, of either form."""
    if kind == "wire":
        yield from _records(lines_of(path, problem))
        return
    from pipelines.capture.pcap import CaptureCounts, records_from_pcap

    def tell(counts: CaptureCounts) -> None:
        if counts.bad_packets or counts.holes or counts.cut_short:
            cut = ", and the file is cut short" if counts.cut_short else ""
            problem(f"{path}: {counts.bad_packets} broken packets, {counts.holes} holes in connections{cut}")

    try:
        with path.open("rb") as capture:
            yield from records_from_pcap(capture, broker_ports=broker_ports, on_end=tell)
    except NotThisFormat as other:
        problem(f"{path}: {other.problem}")
    except OSError as refused:
        problem(f"{path}: {refused.strerror or refused}")


def _records(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """JSON objects; a line that is none becomes a record without fields, which the reader of facts reports."""
    for line in lines:
        try:
            record = parse_json(line)
        except (ValueError, RecursionError):
            record = None
        yield record if isinstance(record, dict) else {}


def _kind_of_lines(path: Path) -> Literal["wire", "polls"] | None:
    """What JSON lines are, by the first of them: a request, a response or a broker's life; or a poll's answer."""
    if ".jsonl" not in path.name and ".json" not in path.suffixes:
        return None
    for line in islice(lines_of(path, _ignored), LINES_SNIFFED):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if is_polled(record):
            return "polls"
        known = isinstance(record, dict) and record.get("dir") in ("request", "response", "lifecycle")
        return "wire" if known and "ts" in record else None
    return None


def _log_stem(path: Path) -> str | None:
    """The name of the log this file is a part of; None for logs that tell nothing about ownership."""
    named = LOG_NAME.match(path.name)
    if named and named["stem"] in BROKER_STEMS | CLIENT_STEMS:
        return named["stem"]
    if named is None or path.parent.name in NO_NAME_FOR_A_BROKER:
        return None
    return named["stem"] if _looks_like_a_log(path) and named["stem"].startswith(("rocketmq", "broker")) else None


def _looks_like_a_log(path: Path) -> bool:
    return any(DATED.match(line) for line in islice(lines_of(path, _ignored), LINES_SNIFFED))


def _home(path: Path) -> Path:
    """The folder of a log, with the folder of its rotated parts counted to it."""
    return path.parent.parent if path.parent.name in ("otherdays", "other_days") else path.parent


def _broker_of(home: Path, parts: Iterable[Path], given: str | None) -> str:
    for part in parts:
        for line in islice(lines_of(part, _ignored), NAME_LINES):
            if named := BOOTED.search(line):
                return (named[1] or named[2]).decode("utf-8", "replace")
    return given or _log_name(home, "broker")


def _log_name(home: Path, stem: str) -> str:
    return stem if home.name.lower() in NO_NAME_FOR_A_BROKER else home.name


def _broker_of_capture(kind: Kind, path: Path, given: str | None, broker_ports: Collection[int]) -> str:
    """From the name `wire-BROKER.jsonl`, else from what the requests say."""
    stem = re.split(r"\.(?:jsonl|json|pcap|pcapng)\b", path.name)[0]
    if kind == "polls":
        return given or stem
    if stem.startswith("wire-") and len(stem) > len("wire-"):
        return stem.removeprefix("wire-")
    for record in islice(_captured(kind, path, broker_ports, _ignored), NAME_LINES):
        for part in (record.get("header"), record.get("body")):
            name = part.get("bname") or part.get("brokerName") if isinstance(part, dict) else None
            if isinstance(name, str) and name:
                return name
    return given or stem


def _first_stamp(path: Path) -> bytes:
    for line in islice(lines_of(path, _ignored), LINES_SNIFFED):
        if DATED.match(line):
            return line[:23]
    return b""


def _gzipped(path: Path) -> bool:
    return _starts_with(path, (b"\x1f\x8b",))


def _starts_with(path: Path, magics: tuple[bytes, ...]) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magics[0])) in magics
    except OSError:
        return False


def _ignored(sentence: str) -> None:
    """While a file is only being recognised; it is named when it is read."""
