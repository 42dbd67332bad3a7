"""Logs of the recorded clusters, as facts."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from rebalance.facts import Fact
from rebalance.readers.logs import LogSummary, facts_from_log
from tests.support.rebalance_sessions import scenario

LOGS = (
    "rocketmq_client.log",
    "rocketmq-client.log",
    "broker.log",
    "lock.log",
    "filter.log",
)  # what tells of members, queues and locks


def log_paths(session: Path) -> Iterator[Path]:
    """Those logs of brokers and consumers."""
    for folder in sorted((session / "logs").iterdir()):
        if folder.name not in ("namesrv", "tool"):
            yield from (folder / f"{name}.gz" for name in LOGS if (folder / f"{name}.gz").exists())


def zone_of(session: Path) -> int:
    """The time zone of every JVM of a session, in milliseconds ahead of UTC, as its README says."""
    named = re.search(
        "JVM time zone of every process: ([A-Za-z_/+0-9]+[A-Za-z0-9])", (session / "README.md").read_text("utf-8")
    )
    assert named is not None, session
    zone = ZoneInfo("Asia/Shanghai" if named[1] == "GMT+8" else named[1])
    offset = datetime.fromtimestamp(scenario(session)[0]["ts"] / 1_000, zone).utcoffset()
    assert offset is not None
    return offset // timedelta(milliseconds=1)


def log_facts(
    session: Path, summaries: list[LogSummary] | None = None, *, jvm_zone_ms: int | None = None
) -> list[Fact]:
    """Facts of all logs of a session; a log's source is its folder's name."""
    facts: list[Fact] = []
    for path in log_paths(session):
        file = f"{path.parent.name}/{path.name}"
        with gzip.open(path) as lines:
            on_end = None if summaries is None else summaries.append
            facts += facts_from_log(lines, source=path.parent.name, file=file, jvm_zone_ms=jvm_zone_ms, on_end=on_end)
    return facts
