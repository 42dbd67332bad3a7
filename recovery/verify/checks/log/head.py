"""A log that begins later than queues and index do: what a broker's cleaner leaves, or files that were taken away.

A round of the cleaner deletes log files, then every file of a queue or of the index, but for the newest of each, that
leads below the log's new start. Why it deleted them (age, a full disk, by hand) leaves no trace.
Source: DefaultMessageStore$CleanConsumeQueueService#deleteExpiredFiles, MappedFileQueue#deleteExpiredFileByOffset,
IndexService#deleteExpiredFile @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from parsers.consumequeue.read import units
from parsers.damage.errors import StoreFormatError
from parsers.index.open import OpenIndex
from parsers.store.places import name_below
from parsers.store.store import Store
from recovery.verify.checks.log.shape import LogShape
from recovery.verify.findings.finding import Explained, Finding, Judgement, Span
from recovery.verify.settle.log_columns import LogColumns

SHORTEST_RETENTION_MS = 3_600_000


class CleanerTraces(NamedTuple):
    """Files that a round of the cleaner would have deleted, and a queue that lost files as one leaves it."""

    left: tuple[str, ...]
    shortened: str | None


def cleaner_traces(store: Store, opened: Sequence[OpenIndex], log_start: int, queue_file_size: int) -> CleanerTraces:
    """What queues and index say about a cleaner that made the log begin at `log_start`."""
    left = [*_queue_files_below(store, log_start, queue_file_size), *_index_files_below(store, opened, log_start)]
    firsts = (files[0] for files in store.queues.values() if files)
    shortened = next((name_below(store.root, file.path) for file in firsts if file.base_offset), None)
    return CleanerTraces(tuple(left), shortened)


def missing_head(log: LogColumns, shape: LogShape, lowest: int | None, traces: CleanerTraces) -> Judgement:
    """Units or index entries below the log's start: cleaned up, taken away, or undecided.

    `lowest`: the smallest physical offset that any unit or entry has.
    """
    if lowest is None or lowest >= log.start:
        return Judgement()
    start = lowest - lowest % shape.file_size
    span = Span(physical_offset=start, end_physical_offset=log.start)
    span_ms = log.latest_ms - log.first_ms
    if span_ms >= SHORTEST_RETENTION_MS:
        return Judgement((), (Explained("expired head", "files before the log's start expired", span),))
    if traces.shortened is not None and not traces.left:
        why = f"the cleaner deleted the log's first files (by age, for a full disk, or by hand): {traces.shortened}"
        return Judgement((), (Explained("expired head", f"{why} is where the queue begins since", span),))
    evidence = (
        f"queues and index: messages from {lowest} on",
        f"log: starts at {log.start}; from its first message to its last {span_ms} ms pass"
        if log.records
        else f"log: starts at {log.start}, and no message is in it",
        _said(traces),
    )
    count = (log.start - start) // shape.file_size
    kind = "log_head_missing" if traces.left else "log_begins_late"
    return Judgement((Finding(kind, span, shape.places(start, log.start), count, evidence),))


def _said(traces: CleanerTraces) -> str:
    if not traces.left:
        return "no file of a queue or of the index is one that a cleaner deletes with the log's, or would have deleted"
    return f"{len(traces.left)} files that a cleaner deletes with the log's are there, the first is {traces.left[0]}"


def _queue_files_below(store: Store, log_start: int, file_size: int) -> Iterator[str]:
    """Full files of queues, the newest of each left out, all of whose units lead below the log's start; a cleaner asks
    for the last one, which is the greatest where none was changed."""
    for files in store.queues.values():
        for file in (each for each in files[:-1] if each.size == file_size):
            try:
                held = units(file)
            except StoreFormatError:
                continue
            is_below = len(held) and int(held["msg_size"][-1]) > 0 and 0 <= int(held["physical_offset"][-1]) < log_start
            if is_below and int(held["physical_offset"].max()) < log_start:
                yield name_below(store.root, file.path)


def _index_files_below(store: Store, opened: Sequence[OpenIndex], log_start: int) -> Iterator[str]:
    for found in opened[:-1]:
        if 0 < found.header["end_physical_offset"] < log_start:
            yield name_below(store.root, found.file.path)
