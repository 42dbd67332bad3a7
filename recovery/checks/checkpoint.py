"""The checkpoint against the log: it may lag behind the data, never run ahead of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from parsers.checkpoint import CHECKPOINT, FILE_SIZE, Checkpoint, decode_checkpoint
from parsers.errors import StoreFormatError
from parsers.mapped import map_file
from parsers.store import StoreFile
from recovery.checks.columns import LogColumns
from recovery.checks.finding import Explained, Finding, Judgement, Place, Span
from recovery.versions import BrokerVersion

NAME = "checkpoint"
TIMES = ("physic_msg_timestamp", "logics_msg_timestamp", "index_msg_timestamp")
QUEUE_TIME = "logics_msg_timestamp"
OFFSETS = ("confirm_physical_offset", "logics_physical_offset")
FIELD_SIZE = 8
FLUSH_INTERVAL_MS = 15_000
"""A broker that ran shorter than its thorough flush of the log (10 s) may not have set a time yet."""
QUEUE_FLUSH_INTERVAL_MS = 65_000
"""Since 5.5.0 the time of the queues is set by their thorough flush (60 s) only, not at shutdown either."""


LOST_MESSAGES_MS = 3_600_000
"""How far beyond the log's own store times those of lost messages may lie."""


def check_checkpoint(
    file: StoreFile | None,
    log: LogColumns,
    *,
    clean_exit: bool,
    version: BrokerVersion,
    log_is_cut: bool,
    sets_queue_time: bool,
) -> Judgement:
    """Missing, unreadable, later than the data, or earlier than all of it.

    `log_is_cut`: the log lost its first or last messages; times near its own are then those of lost messages.
    `sets_queue_time`: False for a broker with its queues in a database, which never sets their time
    (RocksDBConsumeQueueStore @5.3.3, 5.4.0).
    """
    if file is None:
        if not log.records:
            return Judgement()
        return Judgement((_finding("checkpoint_missing", 0, FILE_SIZE, (f"log: {log.records} messages",)),))
    findings: list[Finding] = []
    if file.size != FILE_SIZE:
        start, end = sorted((file.size, FILE_SIZE))
        findings.append(_finding("checkpoint_unreadable", start, end - start, (f"file: {file.size} bytes",)))
    try:
        checkpoint = decode_checkpoint(map_file(file.path))
    except StoreFormatError:
        return Judgement(tuple(findings))
    slack_ms = LOST_MESSAGES_MS if log_is_cut else 0
    set_times = tuple(name for name in TIMES if sets_queue_time or name != QUEUE_TIME)
    early = _earlier(checkpoint, log, slack_ms, set_times, clean_exit=clean_exit, version=version)
    return Judgement((*findings, *_later(checkpoint, log, slack_ms), *early.findings), early.explained)


def _later(checkpoint: Checkpoint, log: LogColumns, slack_ms: int) -> Iterator[Finding]:
    if slack_ms and not log.records:
        return
    newest = log.latest_ms
    late = [name for name in TIMES if getattr(checkpoint, name) > newest + slack_ms]
    yield from _fields("checkpoint_later_than_data", late, checkpoint, f"log: the latest store time is {newest}")
    far = [name for name in OFFSETS if not slack_ms and (getattr(checkpoint, name) or 0) > log.end]
    yield from _fields("checkpoint_later_than_data", far, checkpoint, f"log: ends at {log.end}")


def _earlier(
    checkpoint: Checkpoint,
    log: LogColumns,
    slack_ms: int,
    set_times: Sequence[str],
    *,
    clean_exit: bool,
    version: BrokerVersion,
) -> Judgement:
    """Times before the first message. That of the index stays 0 until an index file is full: alone it says nothing."""
    early = [name for name in set_times if log.records and getattr(checkpoint, name) < log.first_ms - slack_ms]
    if not set(early) & {*TIMES[:2]}:
        return Judgement()
    lasted_ms = log.latest_ms - log.first_ms
    found = tuple(
        _fields("checkpoint_earlier_than_data", early, checkpoint, f"log: the first store time is {log.first_ms}")
    )
    flushed_late = TIMES[0] not in early and version.keeps_dispatched_offset
    must_be_set = lasted_ms > QUEUE_FLUSH_INTERVAL_MS if flushed_late else clean_exit or lasted_ms > FLUSH_INTERVAL_MS
    if must_be_set or any(getattr(checkpoint, name) > 0 for name in early):
        return Judgement(found)
    why = "a broker that ran only seconds may have stopped before the first flush"
    return Judgement((), tuple(Explained("checkpoint not set yet", why, places=one.places) for one in found))


def _fields(kind: str, names: Sequence[str], checkpoint: Checkpoint, other: str) -> Iterator[Finding]:
    """One finding for all fields of one cause."""
    if names:
        at = [CHECKPOINT.offsets[name] for name in names]
        said = ", ".join(f"{name} {getattr(checkpoint, name)}" for name in names)
        never_written = not any(asdict(checkpoint).values())
        places = (Place(NAME, 0, FILE_SIZE),) if never_written else tuple(Place(NAME, one, FIELD_SIZE) for one in at)
        yield Finding(kind, Span(), places, len(names), (f"checkpoint: {said}", other))


def _finding(kind: str, at: int, length: int, evidence: tuple[str, ...]) -> Finding:
    return Finding(kind, Span(), (Place(NAME, at, length),), 1, evidence)
