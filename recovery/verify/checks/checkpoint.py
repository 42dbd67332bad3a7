"""The checkpoint against the log: it may lag behind the data, never run ahead of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

from parsers.checkpoints.checkpoint import CHECKPOINT, FILE_SIZE, Checkpoint, decode_checkpoint
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file
from parsers.store.store_file import StoreFile
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.log_columns import LOST_MESSAGES_MS, LogColumns

NAME = "checkpoint"
TIMES = ("physic_msg_timestamp", "logics_msg_timestamp", "index_msg_timestamp")
LOG_TIME, QUEUE_TIME = TIMES[:2]
OFFSETS = ("confirm_physical_offset", "logics_physical_offset")
FIELD_SIZE = 8
FLUSH_INTERVAL_MS = 15_000
"""A broker flushes its log thoroughly every 10 s, and dispatches and indexes messages before that."""
CHECKPOINT_INTERVAL_MS = 65_000
"""It writes the checkpoint with the thorough flush of the queues, at its start and every 60 s, when an index file is
full, and at shutdown: FlushRealTimeService, FlushConsumeQueueService, IndexService#flush, DefaultMessageStore#shutdown
@4.9.8 … 5.5.1. A time that no flush came to set is 0 there."""
FIRST_BROKERS_MS = 1_325_376_000_000
"""2012-01-01: no message of RocketMQ is older. A bound of ours."""


class LostEnds(NamedTuple):
    """Whether the log lost its first or its last messages, or their store times: times near its own are then theirs."""

    head: bool
    tail: bool


def check_checkpoint(
    file: StoreFile | None,
    log: LogColumns,
    *,
    clean_exit: bool,
    lost: LostEnds,
    reached: int,
    file_size: int,
    sets_queue_time: bool,
) -> Judgement:
    """Missing, unreadable, later than the data, or earlier than all of it.

    `reached`: the end of the log as far as queues and index know more of it; `file_size`: of its files, in bytes.
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
        content = map_file(file.path)
        checkpoint = decode_checkpoint(content)
    except StoreFormatError:
        return Judgement(tuple(findings))
    findings += _rest(bytes(content[CHECKPOINT.size : FILE_SIZE]))
    set_times = tuple(name for name in TIMES if sets_queue_time or name != QUEUE_TIME)
    early = _earlier(checkpoint, log, LOST_MESSAGES_MS if lost.head else 0, set_times)
    unforced = 0 if clean_exit and not lost.tail else file_size
    late = _later(checkpoint, log, LOST_MESSAGES_MS if lost.tail else 0, unforced, max(reached, log.end))
    return Judgement((*findings, *late, *early.findings), early.explained)


def _rest(rest: bytes) -> Iterator[Finding]:
    """Bytes after the fields."""
    if any(rest):
        start, end = len(rest) - len(rest.lstrip(b"\0")), len(rest.rstrip(b"\0"))
        told = f"file: {sum(map(bool, rest))} bytes behind its fields are not zero"
        yield _finding("checkpoint_rest_written", CHECKPOINT.size + start, end - start, (told,))


def _later(checkpoint: Checkpoint, log: LogColumns, slack_ms: int, unforced: int, reached: int) -> Iterator[Finding]:
    """Times and offsets beyond the log; a power loss takes messages that were dispatched and not forced to disk.

    `unforced`: how many bytes after `reached` may have gone so, 0 of a whole log after a shutdown in order.
    """
    if slack_ms and not log.records:
        return
    newest = log.latest_ms
    slacks = dict.fromkeys(TIMES, max(slack_ms, FLUSH_INTERVAL_MS if unforced and log.records else 0))
    slacks[LOG_TIME] = slack_ms
    late = [name for name, slack in slacks.items() if getattr(checkpoint, name) > newest + slack]
    yield from _fields("checkpoint_later_than_data", late, checkpoint, f"log: the latest store time is {newest}")
    far = [name for name in OFFSETS if (getattr(checkpoint, name) or 0) > reached + unforced]
    yield from _fields("checkpoint_later_than_data", far, checkpoint, f"log: ends at {log.end}")


def _earlier(checkpoint: Checkpoint, log: LogColumns, slack_ms: int, set_times: Sequence[str]) -> Judgement:
    """Times before the first message.

    That of the index says nothing alone, unless no broker is so old: it stays 0 until an index file is full, and then
    as it is until another one is, even if all its messages expire. Where the cleaner deleted the log's first files, a
    time may be of a message of theirs: it is as old as the last write of the checkpoint.
    """
    ancient = [name for name in set_times if 0 < getattr(checkpoint, name) < FIRST_BROKERS_MS]
    if not log.records:
        return Judgement(tuple(_fields("checkpoint_earlier_than_data", ancient, checkpoint, "no broker is so old")))
    slack_ms = max(slack_ms, CHECKPOINT_INTERVAL_MS if log.start else 0)
    early = [name for name in set_times if getattr(checkpoint, name) < log.first_ms - slack_ms]
    tells = bool({*TIMES[:2], *ancient} & set(early))
    if not tells and (log.start or not _is_any_set(checkpoint, early)):
        return Judgement()
    found = tuple(
        _fields("checkpoint_earlier_than_data", early, checkpoint, f"log: the first store time is {log.first_ms}")
    )
    lasted_ms = log.latest_ms - log.first_ms
    if lasted_ms > CHECKPOINT_INTERVAL_MS or _is_any_set(checkpoint, early):
        return Judgement(found)
    why = "a broker that ran only a short time may have ended before it set this"
    return Judgement((), tuple(Explained("checkpoint not set yet", why, places=one.places) for one in found))


def _is_any_set(checkpoint: Checkpoint, names: Sequence[str]) -> bool:
    return any(getattr(checkpoint, name) for name in names)


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
