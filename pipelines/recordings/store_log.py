"""What store.log and storeerror.log say of a broker's files, and the logs beside them of transactions and groups.

Lines that mean the same of the same queue, or of the same group, are one row.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import NamedTuple

from parsers.values.java import INT_MAX
from pipelines.recordings.kinds import logs_among, name_stem
from pipelines.recordings.lines import Problem, lines_of
from pipelines.recordings.recordings import broker_of_home, log_home
from rebalance.readers.logs.lines.reader import LogEvent, LogReader
from rebalance.readers.logs.lines.stamp import MESSAGE_MARK
from rebalance.readers.logs.templates.beside import BESIDE_MEANINGS
from rebalance.readers.logs.templates.store import STORE_MEANINGS

STEMS = {"store", "storeerror", "store_error", "store_default"}
BESIDE_STEMS = {"transaction", "protection", "proxy"}
_LOGS = {"store", *BESIDE_STEMS}
"""The logs, as templates name them."""
MEANINGS = STORE_MEANINGS | BESIDE_MEANINGS
MOST_QUEUES = 10_000
"""How many queues and groups have rows of their own; the lines of further ones are counted together."""
EXAMPLE_SIZE = 400


@dataclass(slots=True)
class StoreLines:
    """Lines of one kind, queue and group of one broker. Instants are epoch ms of its clock; `evidence`: file and line
    of the first, with the folders in which the logs of several brokers differ.

    `topic`, `queue_id`, `group`: None where the text names none. `example`: the first line's message. `times`: of each
    line.
    """

    name: str
    level: str
    topic: str | None
    queue_id: int | None
    group: str | None
    first_ms: int
    last_ms: int
    lines: int
    example: str
    evidence: str
    times: array[int]

    @property
    def means(self) -> str:
        return MEANINGS[self.name]


_Lines = dict[tuple[str, str | None, int | None, str | None], StoreLines]


class StoreLog(NamedTuple):
    """What the logs say, in the order of the first line of each kind and queue; and from the first entry of store.log
    and storeerror.log to their last, of whatever text, epoch ms of the brokers' clocks: None where they hold none."""

    lines: list[StoreLines]
    span: tuple[int, int] | None


def store_logs(given: Iterable[Path]) -> list[Path]:
    """The files of these logs among files and folders, each once, by their whole paths.

    Raises:
        FileNotFoundError: a path that is not there.
    """
    return logs_among(given, STEMS | BESIDE_STEMS)


def logs_of_broker(paths: Iterable[Path], own: str | None) -> list[Path]:
    """Of these logs the one broker's: all of one folder; where several have some, those of the broker of this name."""
    by_home: dict[Path, list[Path]] = {}
    for path in paths:
        by_home.setdefault(log_home(path), []).append(path)
    if len(by_home) > 1:
        by_home = {home: logs for home, logs in by_home.items() if own is not None and broker_of_home(home) == own}
    return next(iter(by_home.values())) if len(by_home) == 1 else []


def read_store_logs(paths: Sequence[Path], problem: Problem) -> StoreLog:
    """What the logs say; logs of one folder are one broker's."""
    by_home: dict[Path, _Lines] = {}
    edges: list[int] = []
    common = Path(commonpath([log_home(path) for path in paths])) if paths else Path()
    for path in paths:
        found = by_home.setdefault(log_home(path), {})
        reader = LogReader()
        for event in reader.events(lines_of(path, problem)):
            if event.template.log in _LOGS:
                _take(found, event, path.relative_to(common))
        if name_stem(path) in STEMS:
            edges += [edge[0][0] for edge in (reader.summary.first, reader.summary.last) if edge is not None]
    lines = sorted((each for found in by_home.values() for each in found.values()), key=lambda each: each.first_ms)
    return StoreLog(lines, (min(edges), max(edges)) if edges else None)


def _take(found: _Lines, event: LogEvent, path: Path) -> None:
    (topic, queue_id), group = _queue_of(event.named_fields), event.group
    name = event.template.name
    if (name, topic, queue_id, group) not in found and len(found) >= MOST_QUEUES:
        topic, queue_id, group = None, None, None
    known = found.get((name, topic, queue_id, group))
    if known is not None:
        known.first_ms, known.last_ms = min(known.first_ms, event.at_ms), max(known.last_ms, event.at_ms)
        known.lines += 1
        known.times.append(event.at_ms)
        return
    message = event.line[event.line.find(MESSAGE_MARK) + len(MESSAGE_MARK) :]
    example = message.decode("utf-8", "replace").rstrip()[:EXAMPLE_SIZE]
    found[name, topic, queue_id, group] = StoreLines(
        name,
        event.template.levels,
        topic,
        queue_id,
        group,
        event.at_ms,
        event.at_ms,
        1,
        example,
        f"{path}:{event.record}",
        array("q", (event.at_ms,)),
    )


def _queue_of(fields: dict[str, str]) -> tuple[str | None, int | None]:
    topic, queue_id = fields.get("topic"), fields.get("queue_id")
    if "queue" in fields:
        topic, _, queue_id = fields["queue"].rpartition(":")
    number = None if queue_id is None else int(queue_id)
    return topic, number if number is None or 0 <= number <= INT_MAX else None


def rows_of(lines: Iterable[StoreLines]) -> Iterator[dict[str, object]]:
    """Rows of `replay --show store`."""
    for each in lines:
        yield {
            "first_at": each.first_ms,
            "last_at": each.last_ms,
            "level": each.level,
            "says": each.name,
            "topic": each.topic,
            "queue_id": each.queue_id,
            "group": each.group,
            "lines": each.lines,
            "means": each.means,
            "example": each.example,
            "evidence": each.evidence,
        }
