"""States of a cluster that somebody kept: answers of polls, and copies of `topics.json` and `subscriptionGroup.json`.

Recognised by what they hold (docs/polled-states.md), whatever they are called.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from parsers.config.topics import broker_named_by
from parsers.damage.errors import StoreFormatError, why_unreadable
from pipelines.recordings.kept_copy import GZIP_MAGIC, read_copy, written_ms

if TYPE_CHECKING:
    from rebalance.facts import Fact

StateKind = Literal["topics", "groups"]
Problem = Callable[[str], None]

POLLED = ("consumerConnection", "consumerRunningInfo", "topicRoute", "consumeStats")
TABLE_OF: dict[bytes, StateKind] = {b'"topicConfigTable"': "topics", b'"subscriptionGroupTable"': "groups"}
SNIFFED = 1 << 16


def is_polled(record: object) -> bool:
    """Whether a JSON line is one answer of a poll."""
    return isinstance(record, dict) and isinstance(record.get("ts"), int) and record.get("kind") in POLLED


def state_kind(path: Path) -> StateKind | None:
    """Which configuration file of a broker this is a copy of; `.bak` copies are none: they are older by an unknown
    time.
    """
    if ".json" not in path.suffixes or ".bak" in path.suffixes:
        return None
    try:
        with path.open("rb") as stored:
            packed = stored.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            stored.seek(0)
            start = gzip.GzipFile(fileobj=stored).read(SNIFFED) if packed else stored.read(SNIFFED)
    except (OSError, EOFError, zlib.error):
        return None
    if not start.lstrip().startswith(b"{"):
        return None
    return next((kind for key, kind in TABLE_OF.items() if key in start), None)


def broker_of_topics(paths: Iterable[Path]) -> str | None:
    """The broker's name as its own `topics.json` tells it; see `broker_named_by`."""
    for path in paths:
        document = _document(path, lambda sentence: None)
        table = document.get("topicConfigTable") if document is not None else None
        if isinstance(table, dict):
            own = broker_named_by(
                (name, topic.get("perm"), (topic.get("readQueueNums"), topic.get("writeQueueNums")))
                for name, topic in table.items()
                if isinstance(topic, dict)
            )
            if own is not None:
                return own
    return None


def facts_of_states(kind: StateKind, paths: Sequence[Path], source: str, name: str, problem: Problem) -> Iterator[Fact]:
    """Facts of the copies of one broker's file, in order of time."""
    from rebalance.readers.polled_states import facts_from_groups, facts_from_topics

    read = facts_from_topics if kind == "topics" else facts_from_groups
    yield from read(_copies(paths, problem), source=source, file=name)


def _copies(paths: Sequence[Path], problem: Problem) -> Iterator[tuple[int, dict[str, Any]]]:
    for path in paths:
        document = _document(path, problem)
        if document is not None:
            yield written_ms(path), document


def _document(path: Path, problem: Problem) -> dict[str, Any] | None:
    try:
        content = read_copy(path)
    except (StoreFormatError, OSError, EOFError, zlib.error) as unreadable:
        problem(f"{path}: {why_unreadable(unreadable)}")
        return None
    if isinstance(content, dict):
        return content
    problem(f"{path}: not the table of topics or groups that it began as")
    return None
