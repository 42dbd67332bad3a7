"""Logs of the recorded clusters, as lines and as facts."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from rebalance.events import Fact
from rebalance.logs import LogSummary, detect_jvm_zone, facts_from_log

LOGS = ("rocketmq_client.log", "broker.log", "lock.log", "filter.log")


def log_paths(session: Path) -> Iterator[Path]:
    """Logs that tell of members, queues and locks: of brokers and consumers."""
    for folder in sorted((session / "logs").iterdir()):
        if folder.name not in ("namesrv", "tool"):
            yield from (folder / f"{name}.gz" for name in LOGS if (folder / f"{name}.gz").exists())


def log_lines(path: Path) -> list[bytes]:
    with gzip.open(path) as lines:
        return lines.readlines()


def log_facts(session: Path, summaries: list[LogSummary] | None = None) -> list[Fact]:
    """Facts of all logs of a session; a log's source is its folder's name."""
    facts: list[Fact] = []
    for path in log_paths(session):
        lines = log_lines(path)
        facts += facts_from_log(
            lines,
            source=path.parent.name,
            file=f"{path.parent.name}/{path.name}",
            jvm_zone_ms=detect_jvm_zone(lines),
            on_end=None if summaries is None else summaries.append,
        )
    return facts
