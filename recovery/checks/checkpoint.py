"""The checkpoint against the log: it may lag behind the data, never run ahead of it."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.checkpoint import CHECKPOINT, FILE_SIZE, Checkpoint, decode_checkpoint
from parsers.errors import StoreFormatError
from parsers.mapped import map_file
from parsers.store import StoreFile
from recovery.checks.columns import LogColumns
from recovery.checks.finding import Explained, Finding, Judgement, Place, Span
from recovery.versions import BrokerVersion

NAME = "checkpoint"
TIMES = ("physic_msg_timestamp", "logics_msg_timestamp", "index_msg_timestamp")
OFFSETS = ("confirm_physical_offset", "logics_physical_offset")
FLUSH_INTERVAL_MS = 15_000
"""A broker that ran shorter than its thorough flush of the log (10 s) may not have set a time yet."""
QUEUE_FLUSH_INTERVAL_MS = 65_000
"""Since 5.5.0 the time of the queues is set by their thorough flush (60 s) only, not at shutdown either."""


def check_checkpoint(file: StoreFile | None, log: LogColumns, *, clean_exit: bool, version: BrokerVersion) -> Judgement:
    """Missing, unreadable, later than the data, or earlier than all of it."""
    if file is None:
        if not len(log.messages.physical_offset):
            return Judgement()
        return Judgement((_finding("checkpoint_missing", 0, FILE_SIZE, (f"log: {len(log.messages.topic)} messages",)),))
    findings: list[Finding] = []
    if file.size != FILE_SIZE:
        start, end = sorted((file.size, FILE_SIZE))
        findings.append(_finding("checkpoint_unreadable", start, end - start, (f"file: {file.size} bytes",)))
    try:
        checkpoint = decode_checkpoint(map_file(file.path))
    except StoreFormatError:
        return Judgement(tuple(findings))
    early = _earlier(checkpoint, log, clean_exit=clean_exit, version=version)
    return Judgement((*findings, *_later(checkpoint, log), *early.findings), early.explained)


def _later(checkpoint: Checkpoint, log: LogColumns) -> Iterator[Finding]:
    times = log.messages.store_timestamp_ms
    newest = int(times.max()) if len(times) else 0
    for name in TIMES:
        value = getattr(checkpoint, name)
        if value > newest:
            yield _field("checkpoint_later_than_data", name, value, f"log: the latest store time is {newest}")
    for name in OFFSETS:
        value = getattr(checkpoint, name)
        if value is not None and value > log.end:
            yield _field("checkpoint_later_than_data", name, value, f"log: ends at {log.end}")


def _earlier(checkpoint: Checkpoint, log: LogColumns, *, clean_exit: bool, version: BrokerVersion) -> Judgement:
    times = log.messages.store_timestamp_ms
    if not len(times):
        return Judgement()
    lasted_ms = int(times.max()) - int(times[0])
    findings: list[Finding] = []
    explained: list[Explained] = []
    for name in TIMES[:2]:
        value = getattr(checkpoint, name)
        if value >= int(times[0]):
            continue
        found = _field("checkpoint_earlier_than_data", name, value, f"log: the first store time is {int(times[0])}")
        flushed_late = name == "logics_msg_timestamp" and version.keeps_dispatched_offset
        must_be_set = (
            lasted_ms > QUEUE_FLUSH_INTERVAL_MS if flushed_late else clean_exit or lasted_ms > FLUSH_INTERVAL_MS
        )
        if must_be_set or value > 0:
            findings.append(found)
        else:
            why = "a broker that ran only seconds may have stopped before the first flush"
            explained.append(Explained("checkpoint not set yet", why, places=found.places))
    return Judgement(tuple(findings), tuple(explained))


def _field(kind: str, name: str, value: int, other: str) -> Finding:
    return _finding(kind, CHECKPOINT.offsets[name], 8, (f"checkpoint: {name} {value}", other))


def _finding(kind: str, at: int, length: int, evidence: tuple[str, ...]) -> Finding:
    return Finding(kind, Span(), (Place(NAME, at, length),), 1, evidence)
