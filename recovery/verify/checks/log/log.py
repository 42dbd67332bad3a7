"""The log by itself: files of other sizes, gaps, damage, CRCs, store times; and what is lost to every other rule."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.batches.segment import WITHOUT_CRC
from parsers.commitlog.compiled.resync import BODY_CRC_WRONG, RECORD_CRC_WRONG
from parsers.commitlog.record.layout import RECORD_START, SYS_FLAG_TRANSACTION
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file
from parsers.store.store_file import StoreFile
from recovery.rules.dispatch import PREPARED, ROLLBACK
from recovery.scan.intervals import Intervals, Longs, neighbours
from recovery.scan.log_runs import LogGap
from recovery.scan.record_walk import LENGTH_NEGATIVE
from recovery.verify.findings.finding import Explained, Finding, Judgement, Place, Span
from recovery.verify.settle.log_columns import LogColumns, MessageColumns

FOLDER = "commitlog"
LOCK_WAIT_MS = 1000
"""How long a put may wait for the append lock: what old brokers stamped before it is no further from its store time."""
MOST_PLACES = 1 << 10
"""Files that one finding names: damaged numbers can say that more are missing than any disk holds."""
BY_VERDICT = (
    ("body_crc_wrong", BODY_CRC_WRONG, ()),
    ("record_crc_wrong", RECORD_CRC_WRONG, ()),
    ("record_contradicts_itself", LENGTH_NEGATIVE, ("the length of its body or of its properties is below 0",)),
)
ZEROS_OF_A_SIZE = 4
"""A record starts with its size, of which the first byte is 0, and of a small one the second and third."""
LOSSES = ("log_damaged", "stale_tail", "log_file_missing", "log_tail_missing", "log_head_missing", "file_size_wrong")
"""Kinds of finding that leave no record to compare with in the range they cover."""


@dataclass(frozen=True, slots=True)
class LogShape:
    """How the log's files lie: their common size, where each starts, and its folder.

    `folder_of_new`: where the broker makes the file that begins at an offset; None where its folders do not take turns.
    """

    file_size: int
    bases: tuple[int, ...]
    sizes: tuple[int, ...]
    folders: tuple[str, ...]
    folder_of_new: Callable[[int], str | None] = lambda base: None

    @classmethod
    def of(cls, files: Sequence[StoreFile], file_size: int, folder_of_new: Callable[[int], str | None]) -> LogShape:
        return cls(
            file_size,
            tuple(file.base_offset or 0 for file in files),
            tuple(file.size for file in files),
            tuple(file.log_folder for file in files),
            folder_of_new,
        )

    def name(self, base: int) -> str:
        """The file of the log that starts there, or would."""
        before = max(0, bisect_right(self.bases, base) - 1)
        folder = self.folders[before] if self.folders else FOLDER
        if base not in self.bases:
            folder = self.folder_of_new(base) or folder
        return f"{folder}/{base:020d}"

    def place(self, physical_offset: int, length: int) -> Place:
        """Bytes of the log in the file they are in, or would be in."""
        base = physical_offset - physical_offset % self.file_size
        known = [found for found in self.bases if found <= physical_offset < found + self.file_size]
        base = known[0] if known else base
        return Place(self.name(base), physical_offset - base, length)

    def places(self, start: int, end: int) -> tuple[Place, ...]:
        """Bytes of the log, file by file, the first MOST_PLACES of them; the whole folder where no file shows how long
        one is."""
        if not self.bases:
            return (Place(self.folder_of_new(start) or FOLDER, 0, 0),)
        found: list[Place] = []
        while start < end and len(found) < MOST_PLACES:
            at = self.place(start, 0)
            length = min(end - start, self.file_size - at.file_pos)
            found.append(Place(at.file, at.file_pos, length))
            start += length
        return tuple(found)


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
    return Judgement(tuple(findings), tuple(_explained(log, shape)))


def spans_of(findings: Sequence[Finding], *kinds: str) -> Intervals:
    """The ranges of the log that the findings of these kinds cover."""
    spans = (finding.span for finding in findings if finding.kind in kinds)
    return Intervals.of(
        (span.physical_offset, span.end_physical_offset)
        for span in spans
        if span.physical_offset is not None and span.end_physical_offset is not None
    )


def with_sure_times(log: LogColumns, doubtful: Intervals) -> LogColumns:
    """The log with the first and latest of its store times told without those of the records in `doubtful`."""
    suspects = log.messages.store_timestamp_ms[doubtful.hold(log.messages.physical_offset)]
    if not np.isin(suspects, (log.first_ms, log.latest_ms)).any():
        return log
    columns = ["physical_offset", "store_timestamp"]
    batches = list(read_commitlog(log.files, columns=columns, on_damage="collect", decoding=WITHOUT_CRC))
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
            (f"file: {size} bytes", f"the other files: {shape.file_size} bytes"),
        )


def _torn_from(log: LogColumns, base: int, size: int) -> int:
    """Where in a file of another size the record begins that was cut; the file's end where it was cut between two."""
    at_end = _gaps_at_end(log, base, size)
    announced = [gap.file_pos for gap in at_end if gap.kind == "damage" and _goes_on(gap, size)]
    last = at_end[-1:]
    torn = [gap.file_pos for gap in last if gap.kind == "damage" or _starts_a_record(gap, log)]
    return min([*announced, *torn], default=size)


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
    """The damaged bytes, and zeros that the record before them ends with."""
    start = gap.file_pos - gap.zeros_before
    return Place(f"{gap.file.log_folder}/{gap.file.name}", start, gap.length + gap.zeros_before)


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


def _explained(log: LogColumns, shape: LogShape) -> Iterator[Explained]:
    for gap in log.gaps:
        if gap.kind == "unwritten" and gap.physical_offset >= log.end:
            place = Place(f"{gap.file.log_folder}/{gap.file.name}", gap.file_pos, gap.length)
            yield Explained("unwritten", "the rest of the last file, or a file made in advance", Span(), (place,))


def missing_tail(log: LogColumns, shape: LogShape, starts: Longs, ends: Longs) -> Judgement:
    """Messages that units or index entries have behind the log's end, if the log went on there.

    `starts`, `ends`: physical offsets of such messages; those that lie more than a file further on are somebody
    else's finding.
    """
    known_to = _written_to(log)
    reached = known_to
    for start, end in sorted(zip(starts.tolist(), ends.tolist(), strict=True)):
        if reached <= start <= reached + shape.file_size:
            reached = max(reached, end)
    if reached <= known_to or not _continues(log, shape, starts):
        return Judgement()
    finding = Finding(
        "log_tail_missing",
        Span(physical_offset=known_to, end_physical_offset=reached),
        shape.places(known_to, reached),
        int(((starts >= known_to) & (starts < reached)).sum()),
        (f"queues and index: messages up to {reached}", f"log: ends at {known_to}"),
    )
    return Judgement((finding,))


def _written_to(log: LogColumns) -> int:
    """The byte after the last message, or after the end-of-file record that follows it."""
    blanks = (gap for gap in log.gaps if gap.kind == "blank" and gap.physical_offset == log.end)
    return max((gap.physical_offset + gap.length for gap in blanks), default=log.end)


def behind_missing_tail(log: Judgement, ends: Judgement, file_size: int) -> Judgement:
    """The log's findings without files said to be out of place that follow the missing tail's last file."""
    tails = [found.span.end_physical_offset or 0 for found in ends.findings if found.kind == "log_tail_missing"]

    def follows(found: Finding) -> bool:
        start = found.span.physical_offset or 0
        return found.kind == "log_file_out_of_place" and any(start - file_size < tail <= start for tail in tails)

    return Judgement(tuple(found for found in log.findings if not follows(found)), log.explained)


def _continues(log: LogColumns, shape: LogShape, starts: Longs) -> bool:
    """A single stray unit behind a sound end is no tail: one starts at the end or next file, or there are several."""
    following = {log.end, -(-log.end // shape.file_size) * shape.file_size}
    near = starts[(starts >= log.end) & (starts <= log.end + shape.file_size)]
    is_torn = any(gap.kind == "damage" and gap.physical_offset >= log.end for gap in log.gaps)
    return bool(np.isin(near, list(following)).any()) or len(np.unique(near)) > (0 if is_torn else 1)
