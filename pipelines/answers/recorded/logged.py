"""What the logs of one broker of a lake say, read once by a process that makes several tables from them.

What of them cannot be read, the replay of them tells; lines beyond what a record of them holds are left out.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from parsers.evidence.seen import Seen, seen
from pipelines.answers.backlog.subscriptions_heard import SubscriptionsHeard
from pipelines.answers.offsets.heard_lines import OffsetLines
from pipelines.answers.offsets.record import OffsetRecord
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.recordings.dispatch_log import DispatchLines
from pipelines.recordings.listening import hear
from pipelines.recordings.recordings import Recording, find_recordings
from pipelines.recordings.store_log import StoreLog, logs_of_broker, read_store_logs, store_logs
from pipelines.recordings.topic_log import LifeLines
from recovery.lives.story import LifeEvent

BROKERS_KEPT = 64
"""Brokers whose few lines about topics and groups a process keeps."""
Signature = tuple[tuple[Path, Seen | None], ...]
"""Each file; None of one that was rotated away meanwhile."""


class Logged(NamedTuple):
    """What lines say of offsets and subscriptions, and (epoch ms, bytes) of those about dispatch."""

    record: OffsetRecord
    behind: list[tuple[int, int]]
    subscriptions: SubscriptionsHeard


def lives_logged(broker: BrokerSource) -> tuple[LifeEvent, ...]:
    """What the broker's logs say of topics and groups; of a folder with logs of several, what is of this one."""
    found = _recordings(broker)
    return _lives(broker.logs, broker.name, _signature(found)) if found else ()


def offsets_logged(broker: BrokerSource) -> OffsetRecord | None:
    """What the logs and captures in the broker's folder say of offsets; None without a folder."""
    if broker.logs is None or not broker.logs.exists():
        return None
    return lines_logged(broker).record


def lines_logged(broker: BrokerSource) -> Logged:
    """What they say of offsets, and of dispatch."""
    found = _recordings(broker)
    return (
        _offsets(broker.logs, broker.name, _signature(found))
        if found
        else Logged(OffsetRecord(), [], SubscriptionsHeard())
    )


def store_logged(broker: BrokerSource) -> StoreLog | None:
    """What store.log and storeerror.log say; None where neither is there, or where they are of several brokers
    of other names."""
    there = store_logs([broker.logs]) if broker.logs is not None and broker.logs.exists() else []
    logs = logs_of_broker(there, broker.name)
    return read_store_logs(logs, _elsewhere) if logs else None


def _recordings(broker: BrokerSource) -> list[Recording]:
    if broker.logs is None or not broker.logs.exists():
        return []
    return find_recordings([broker.logs], broker=broker.name, problem=_elsewhere)


def _signature(found: list[Recording]) -> Signature:
    return tuple(seen(path for recording in found for path in recording.paths).items())


@lru_cache(maxsize=BROKERS_KEPT)
def _lives(logs: Path, name: str, signature: Signature) -> tuple[LifeEvent, ...]:
    lives = LifeLines()
    hear(find_recordings([logs], problem=_elsewhere), [lives], _elsewhere)
    return lives.of_broker(name)


@lru_cache(maxsize=1)
def _offsets(logs: Path, name: str, signature: Signature) -> Logged:
    lines, dispatched, subscribed = OffsetLines(), DispatchLines(), SubscriptionsHeard()
    hear(find_recordings([logs], broker=name, problem=_elsewhere), [lines, dispatched, subscribed], _elsewhere)
    return Logged(lines.record(name), dispatched.of_broker(name), subscribed)


def _elsewhere(sentence: str) -> None:
    """The replay of the same files tells it."""
