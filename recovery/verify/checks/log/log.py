"""The log by itself: files of other sizes, gaps, damage, CRCs, store times; and what is lost to every other rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import WITHOUT_CRC
from parsers.commitlog.compiled.resync import BODY_CRC_WRONG, RECORD_CRC_WRONG
from parsers.commitlog.record.layout import RECORD_START, SYS_FLAG_TRANSACTION
from parsers.damage.errors import StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.kernels.arrays import Longs
from parsers.values.java import LONG_MAX
from recovery.rules.dispatch import PREPARED, ROLLBACK
from recovery.scan.intervals import Intervals, neighbours
from recovery.scan.log_runs import LogGap
from recovery.scan.record_walk import LENGTH_NEGATIVE
from recovery.verify.checks.log.shape import LogShape
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.log_columns import LogColumns, MessageColumns

LOCK_WAIT_MS = 1000
"""How long a put may wait for the append lock: what old brokers stamped before it is no further from its store time."""
BY_VERDICT = (
    ("body_crc_wrong", BODY_CRC_WRONG, ()),
    ("record_crc_wrong", RECORD_CRC_WRONG, ()),
    ("record_contradicts_itself", LENGTH_NEGATIVE, ("the length of its body or of its properties is below 0",)),
)
ZEROS_OF_A_SIZE = 4
"""A record starts with its size, of which the first byte is 0, and of a small one the second and third."""
LOSSES = ("log_damaged", "stale_tail", "log_file_missing", "log_tail_missing", "log_head_missing", "file_size_wrong")
"""Kinds of finding that leave no record to compare with in the range they cover."""


def check_log(log: LogColumns, shape: LogShape, *, late_batches: bool = False) -> Judgement:
    """What is wrong with the log without a look at any other file.

    Args:
        late_batches: a batch bears a time from before it waited for the append lock.
    """
    findings = [
        *_sizes(shape, log),
        *_file_gaps(shape, log),
        *_damage(shape, log),
        *_judged_alone(shape, log.messages),
        *_store_times(shape, log.messages, LOCK_WAIT_MS if late_batches else 0),
        *_impossible_offsets(shape, log),
    ]
    return Judgement(tuple(findings), tuple(_explained(log)))


def spans_of(findings: Sequence[Finding], *kinds: str) -> Intervals:
    """The ranges of the log that the findings of these kinds cover."""
    spans = (finding.span for finding in findings if finding.kind in kinds)
    return Intervals.of(
        (span.physical_offset, span.end_physical_offset)
        for span in spans
        if span.physical_offset is not None and span.end_physical_offset is not None
    )


def with_sure_times(log: LogColumns, doubtful: Intervals) -> LogColumns:
    """The log, its first and latest store times taken without the records in `doubtful`."""
    suspects = log.messages.store_timestamp_ms[doubtful.hold(log.messages.physical_offset)]
    if not np.isin(suspects, (log.first_ms, log.latest_ms)).any():
        return log
    columns = ["physical_offset", "store_timestamp"]
    batches = list(read_commitlog(log.files, columns=columns, damage=unheard, decoding=WITHOUT_CRC))
    places, times = (pa.chunked_array([batch[name].cast(pa.int64()) for batch in batches]) for name in columns)
    known = times.is_valid().to_numpy()  # a time that no instant can hold is none
    sure = times.drop_null().to_numpy()[~doubtful.hold(places.to_numpy()[known])] // 1000
    return replace(log, first_ms=int(sure[0]), latest_ms=int(sure.max())) if len(sure) else log


def _sizes(shape: LogShape, log: LogColumns) -> Iterator[Finding]:
    for base, size in zip(shape.bases, shape.sizes, strict=True):
        if size == shape.file_size:
            continue
        start = min(size, shape.file_size, _torn_from(log, base, size))
        yield Finding(
            "file_size_wrong",
            Span(physical_offset=base + start, end_physical_offset=base + shape.file_size),
            (Place(shape.name(base), start, max(size, shape.file_size) - start),),
            1,
            (f"file: {size} bytes", f"expected: {shape.file_size} bytes"),
        )


def _torn_from(log: LogColumns, base: int, size: int) -> int:
    """Where in a file of another size the record begins that was cut; the file's end where it was cut between two."""
    at_end = _gaps_at_end(log, base, size)
    announced = [gap.file_pos for gap in at_end if gap.kind == "damage" and _goes_on(gap, size)]
    last = at_end[-1:]
    torn = [gap.file_pos for gap in last if gap.kind == "damage" or _starts_a_record(gap, log)]
    return min([*announced, *torn], default=size)


def known_file_size(log: LogColumns, shape: LogShape) -> int:
    """The size of each file of the log; LONG_MAX where the only one ends inside a record, or files do not start at its
    multiples, so that none shows it."""
    cut = any(base % shape.file_size for base in shape.bases) or (
        len(shape.bases) == 1
        and any(
            gap.kind == "damage" and _goes_on(gap, shape.sizes[0])
            for gap in _gaps_at_end(log, shape.bases[0], shape.sizes[0])
        )
    )
    return LONG_MAX if cut else shape.file_size


def _gaps_at_end(log: LogColumns, base: int, size: int) -> list[LogGap]:
    """The gaps of a file that lie end to end up to its end, in order."""
    found: list[LogGap] = []
    end = size
    for gap in reversed([gap for gap in log.gaps if gap.file.base_offset == base]):
        if gap.file_pos + gap.length != end:
            break
        found.append(gap)
        end = gap.file_pos
    return found[::-1]


def _goes_on(gap: LogGap, size: int) -> bool:
    """What starts here announces more bytes than the file has left."""
    try:
        start = bytes(map_file(gap.file.path)[gap.file_pos : gap.file_pos + RECORD_START.size])
    except StoreFormatError:
        return False
    return len(start) < RECORD_START.size or RECORD_START.unpack(start)["total_size"] > size - gap.file_pos


def _starts_a_record(gap: LogGap, log: LogColumns) -> bool:
    """Zeros before the cut that are the first bytes of a record's size, or no place for zeros."""
    return gap.kind == "unwritten" and (gap.physical_offset < log.end or gap.length < ZEROS_OF_A_SIZE)


def _file_gaps(shape: LogShape, log: LogColumns) -> Iterator[Finding]:
    for base, following in zip(shape.bases, shape.bases[1:], strict=False):
        expected = base + shape.file_size
        if following <= expected:
            continue
        if log.end > following:
            span, places = (
                Span(physical_offset=expected, end_physical_offset=following),
                shape.places(expected, following),
            )
            count = -(-(following - expected) // shape.file_size)
            yield Finding("log_file_missing", span, places, count, (f"files: {base} is followed by {following}",))
        else:
            places = tuple(Place(shape.name(at), 0, shape.file_size) for at in shape.bases if at >= following)
            span = Span(physical_offset=following, end_physical_offset=following + shape.file_size)
            yield Finding(
                "log_file_out_of_place",
                span,
                places,
                len(places),
                (f"files: {base} is followed by {following}", f"log: ends at {log.end}"),
            )
            return


def _damage(shape: LogShape, log: LogColumns) -> Iterator[Finding]:
    sizes = dict(zip(shape.bases, shape.sizes, strict=True))
    torn = {base: _torn_from(log, base, size) for base, size in sizes.items() if size != shape.file_size}
    for gap in log.gaps:
        inside = gap.kind == "unwritten" and gap.physical_offset < log.end
        if gap.file_pos >= torn.get(gap.file.base_offset or 0, shape.file_size):
            continue
        if gap.kind in ("damage", "stale") or inside:
            yield Finding(
                "stale_tail" if gap.kind == "stale" else "log_damaged",
                Span(physical_offset=gap.physical_offset, end_physical_offset=gap.physical_offset + gap.length),
                (_place_of(gap),),
                1,
                (gap.reason or "unwritten bytes, and the log goes on behind them",),
            )


def _place_of(gap: LogGap) -> Place:
    """The damaged bytes, and those that the record before them ends with."""
    start = gap.file_pos - gap.torn_before
    return Place(f"{gap.file.log_folder}/{gap.file.name}", start, gap.length + gap.torn_before)


def _judged_alone(shape: LogShape, messages: MessageColumns) -> Iterator[Finding]:
    for kind, verdict, evidence in BY_VERDICT:
        rows = np.flatnonzero(messages.crc == verdict)
        for first, end in neighbours(messages.row[rows]):
            yield _record_finding(kind, rows[first:end], messages, shape, evidence)


def _record_finding(
    kind: str, rows: Longs, messages: MessageColumns, shape: LogShape, evidence: tuple[str, ...]
) -> Finding:
    """A finding about records that follow one another."""
    start = int(messages.physical_offset[rows[0]])
    end = int(messages.physical_offset[rows[-1]]) + int(messages.total_size[rows[-1]])
    last = int(messages.physical_offset[rows[-1]])
    one, several = f"record at physical offset {start}", f"{len(rows)} records, physical offset {start} to {last}"
    span = Span(physical_offset=start, end_physical_offset=end)
    return Finding(kind, span, shape.places(start, end), len(rows), (one if last == start else several, *evidence))


def _store_times(shape: LogShape, messages: MessageColumns, forgiven_ms: int) -> Iterator[Finding]:
    """Single records out of the order of their neighbours' store times, or without one; a clock that stays behind is
    not one, nor is a fall by no more than `forgiven_ms`."""
    times = messages.store_timestamp_ms
    falls = np.flatnonzero((np.diff(times) < -forgiven_ms) & (np.diff(messages.row) == 1)).tolist()
    culprits = {culprit for at in falls for culprit in [_culprit(messages, at)] if culprit is not None}
    for culprit in sorted(culprits.union(np.flatnonzero(times <= 0).tolist())):
        evidence = (
            f"its store time {int(times[culprit])}",
            f"the neighbours' store times {_time_beside(messages, culprit, -1)} and "
            f"{_time_beside(messages, culprit, 1)}",
        )
        yield _record_finding("store_timestamp_disorder", np.array([culprit]), messages, shape, evidence)


def _impossible_offsets(shape: LogShape, log: LogColumns) -> Iterator[Finding]:
    """Prepared and rolled back records take no place in a queue: the broker writes 0 as their queue offset."""
    messages = log.messages
    transaction = messages.sys_flag & SYS_FLAG_TRANSACTION
    placed = ((transaction == PREPARED) | (transaction == ROLLBACK)) & (messages.queue_offset != 0)
    for row in np.flatnonzero(placed).tolist():
        queue = f"{log.topics[messages.topic[row]]}/{messages.queue_id[row]}"
        said = (
            f"sysFlag {int(messages.sys_flag[row]):#x}, queue {queue}, queue offset {int(messages.queue_offset[row])}"
        )
        found = _record_finding("record_contradicts_itself", np.array([row]), messages, shape, (said,))
        slot = Place(f"consumequeue/{queue}", 0, 0)
        yield replace(found, places=(*found.places, slot))


def _culprit(messages: MessageColumns, at: int) -> int | None:
    """Which of two records in falling order stands alone: leave it out and its neighbours rise again."""
    times = messages.store_timestamp_ms
    before, behind = _time_beside(messages, at, -1), _time_beside(messages, at, 2)
    if before is None or before <= times[at + 1]:
        return at
    return at + 1 if behind is None or times[at] <= behind else None


def _time_beside(messages: MessageColumns, at: int, step: int) -> int | None:
    """The store time of the record that many places further on in the log; None where the log has none."""
    beside = at + step
    if not 0 <= beside < len(messages.row) or messages.row[beside] - messages.row[at] != step:
        return None
    return int(messages.store_timestamp_ms[beside])


def _explained(log: LogColumns) -> Iterator[Explained]:
    for gap in log.gaps:
        if gap.kind == "unwritten" and gap.physical_offset >= log.end:
            place = Place(f"{gap.file.log_folder}/{gap.file.name}", gap.file_pos, gap.length)
            yield Explained("unwritten", "the rest of the last file, or a file made in advance", Span(), (place,))
