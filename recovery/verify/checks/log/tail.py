"""The end of the log against what other files point to: a tail that is gone, and what it covers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from parsers.kernels.arrays import Longs
from recovery.scan.intervals import reached_from
from recovery.verify.checks.log.shape import LogShape
from recovery.verify.findings.finding import Finding, Judgement, Span
from recovery.verify.settle.log_columns import LogColumns


def missing_tail(log: LogColumns, shape: LogShape, starts: Longs, ends: Longs, file_size: int) -> Judgement:
    """Messages that units or index entries have after the log's end, if the log went on there.

    `starts`, `ends`: physical offsets of such messages; those that lie more than a file further on, or that no file
    of this size could hold, are somebody else's finding.
    """
    fits = (ends - 1) // file_size == starts // file_size
    starts, ends = starts[fits], ends[fits]
    known_to = _written_to(log)
    reached = reached_from(known_to, starts, ends, shape.file_size)
    if reached <= known_to or not _continues(log, shape, starts):
        return Judgement(tuple(_torn_record(log, shape)))
    finding = Finding(
        "log_tail_missing",
        Span(physical_offset=known_to, end_physical_offset=reached),
        shape.places(known_to - _torn_before(log, known_to), reached),
        int(((starts >= known_to) & (starts < reached)).sum()),
        (f"queues and index: messages up to {reached}", f"log: ends at {known_to}"),
    )
    return Judgement((finding,))


def _torn_record(log: LogColumns, shape: LogShape) -> Iterator[Finding]:
    """The log's last record where it ends in zeros: a loss of power took the last of its properties."""
    torn = sum(gap.torn_before for gap in log.gaps if gap.physical_offset == log.end and gap.kind == "unwritten")
    if torn:
        span = Span(physical_offset=log.end - torn, end_physical_offset=log.end)
        evidence = f"record that ends at physical offset {log.end}", f"its properties end in {torn} zeros"
        yield Finding("record_contradicts_itself", span, shape.places(log.end - torn, log.end), 1, evidence)


def behind_missing_tail(log: Judgement, ends: Judgement, file_size: int) -> Judgement:
    """The log's findings without files said to be out of place that follow the missing tail's last file."""
    tails = [found.span.end_physical_offset or 0 for found in ends.findings if found.kind == "log_tail_missing"]

    def follows(found: Finding) -> bool:
        start = found.span.physical_offset or 0
        return found.kind == "log_file_out_of_place" and any(start - file_size < tail <= start for tail in tails)

    return Judgement(tuple(found for found in log.findings if not follows(found)), log.explained)


def _written_to(log: LogColumns) -> int:
    """The byte after the last message, or after the end-of-file record that follows it."""
    blanks = (gap for gap in log.gaps if gap.kind == "blank" and gap.physical_offset == log.end)
    return max((gap.physical_offset + gap.length for gap in blanks), default=log.end)


def _torn_before(log: LogColumns, end: int) -> int:
    """How many of the last bytes before this place go with what is missing from there on."""
    return sum(gap.torn_before for gap in log.gaps if gap.physical_offset == end)


def _continues(log: LogColumns, shape: LogShape, starts: Longs) -> bool:
    """A single stray unit after a sound end is no tail: one starts at the end or next file, or there are several."""
    following = {log.end, -(-log.end // shape.file_size) * shape.file_size}
    near = starts[(starts >= log.end) & (starts <= log.end + shape.file_size)]
    is_torn = any(gap.kind == "damage" and gap.physical_offset >= log.end for gap in log.gaps)
    return bool(np.isin(near, list(following)).any()) or len(np.unique(near)) > (0 if is_torn else 1)
