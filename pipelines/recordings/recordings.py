"""What a cluster left behind, as files: logs, wire captures, polled answers, copies of a broker's topics and groups.

Found, named, and read as facts.

Whose a log is, its text says (a broker prints its name when it boots); only then its place does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from parsers.evidence.seen import files_below
from pipelines.recordings.kept_copy import written_ms
from pipelines.recordings.kinds import BROKER_STEMS, NO_NAME_FOR_A_BROKER, first_stamp, is_pcap, kind_of_lines, log_stem
from pipelines.recordings.lines import Problem, ignored, lines_of, records_of, records_of_packets
from pipelines.recordings.states import StateKind, broker_of_topics, facts_of_states, state_kind

if TYPE_CHECKING:
    from rebalance.facts import Fact
    from rebalance.readers.logs.lines.reader import LogEvent, LogSummary

Kind = Literal["wire", "pcap", "log", "polls", "topics", "groups", "beside"]
"""`beside` are logs of which `logs_beside` tells: they have no facts, and `find_recordings` leaves them out."""

BOOTED = re.compile(rb"The broker\[([^\]]{1,1024}+)\] boot success|(?:^|- )brokerName=(\S{1,512}+)")
BROKER_PORTS = (10911, 10909)
"""`listenPort` of a broker by default, and its VIP channel two below."""
NAME_LINES = 20_000
CLIENT_LOGS = frozenset({"client", "go", "cpp", "grpc"})
"""Whose texts are of clients, as templates name it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One log (rotated parts in order of time), one capture, one file of polls, or all copies of a configuration file.

    Attributes:
        source: the broker's name, or a name for a client's log.
        name: what evidence calls it. No two recordings share one: two logs of one file name are two processes.
        stem: which log it is, by RocketMQ's name of it; a client's may have any. None of what is no log.
    """

    kind: Kind
    paths: tuple[Path, ...]
    source: str
    name: str
    broker_ports: tuple[int, ...] = BROKER_PORTS
    stem: str | None = None


def find_recordings(
    given: Iterable[Path],
    *,
    broker: str | None = None,
    broker_ports: Collection[int] = BROKER_PORTS,
    problem: Problem = lambda sentence: None,
) -> list[Recording]:
    """The recordings among files and folders; files that are none are passed over.

    In a folder a log counts by its name, as RocketMQ gives it; a file that is named itself by its lines, too.

    Args:
        broker: name for captures and broker logs that do not tell it themselves.
        broker_ports: where the broker listened, for pcap files.
        problem: called with folders that cannot be looked into.
    Raises:
        FileNotFoundError: a path that is not there.
        TooManyFiles: a folder holds more files than one command looks at.
    """
    asked = list(given)
    for one in asked:
        one.stat()
    paths = [path for one in asked for path in files_below(one, problem)]
    captures: list[tuple[Kind, Path]] = [(kind, path) for path in paths if (kind := kind_of_lines(path)) is not None]
    captures += [("pcap", path) for path in paths if is_pcap(path)]
    logs: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        if stem := log_stem(path) or (_stem_by_lines(path) if path in asked else None):
            logs.setdefault((log_home(path), stem), []).append(path)
    named = {home: _broker_of(home, parts, broker) for (home, stem), parts in logs.items() if stem == "broker"}
    ports, place = tuple(broker_ports), _Places(paths)
    found = [
        Recording(kind, (path,), _broker_of_capture(kind, path, broker, ports), place.of([path]), ports)
        for kind, path in captures
    ]
    for (home, stem), parts in logs.items():
        ordered = tuple(sorted(parts, key=lambda part: (first_stamp(part), part.name)))
        teller = named.get(home) or broker if stem in BROKER_STEMS else None
        source = teller or (place.client(home, stem) if log_stem(ordered[0]) else stem)
        found.append(Recording("log", ordered, source, place.of(ordered), stem=stem))
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
    """Whether two folders are one, or stand beside each other."""
    return other == folder or other.parent == folder.parent


class _Places:
    """Paths as they are named below the folder that all of them share."""

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
        from rebalance.readers.logs.facts.log import facts_from_log

        lines = (line for path in recording.paths for line in lines_of(path, problem))
        yield from facts_from_log(lines, source=recording.source, file=file, on_event=on_event, on_end=on_end)
    elif recording.kind == "polls":
        from rebalance.readers.polled_states import facts_from_polls

        yield from facts_from_polls(
            records_of(lines_of(recording.paths[0], problem)), source=recording.source, file=file
        )
    elif recording.kind == "topics" or recording.kind == "groups":
        yield from facts_of_states(recording.kind, recording.paths, recording.source, file, problem)
    else:
        from rebalance.readers.wire.facts import facts_from_wire

        records = _captured(recording.kind, recording.paths[0], recording.broker_ports, problem)
        yield from facts_from_wire(records, broker=recording.source, file=file)


def _captured(kind: Kind, path: Path, broker_ports: Collection[int], problem: Problem) -> Iterator[dict[str, Any]]:
    """The wire records of a capture, of either form."""
    if kind == "wire":
        return records_of(lines_of(path, problem))
    return records_of_packets(path, broker_ports, problem)


def _stem_by_lines(path: Path) -> str | None:
    """The stem of a log of any name, by the texts of its first lines; None without one of a broker or a client."""
    from rebalance.readers.logs.lines.reader import LogReader

    lines = islice(lines_of(path, ignored), NAME_LINES)
    whose = {event.template.log for event in LogReader().events(lines)}
    return "broker" if "broker" in whose else path.name.partition(".")[0] if whose & CLIENT_LOGS else None


def log_home(path: Path) -> Path:
    """The folder of a log, with the folder of its rotated parts counted to it."""
    return path.parent.parent if path.parent.name in ("otherdays", "other_days") else path.parent


def broker_of_home(home: Path) -> str:
    """The name of the broker whose logs lie in a folder: by broker.log there, else by the folder's own."""
    parts = sorted(path for path in home.iterdir() if path.is_file() and log_stem(path) == "broker")
    return _broker_of(home, parts, None)


def _broker_of(home: Path, parts: Iterable[Path], given: str | None) -> str:
    for part in parts:
        for line in islice(lines_of(part, ignored), NAME_LINES):
            if named := BOOTED.search(line):
                return (named[2] or named[1].partition(b", ")[0]).decode("utf-8", "replace")
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
    for record in islice(_captured(kind, path, broker_ports, ignored), NAME_LINES):
        for part in (record.get("header"), record.get("body")):
            name = part.get("bname") or part.get("brokerName") if isinstance(part, dict) else None
            if isinstance(name, str) and name:
                return name
    return given or stem
