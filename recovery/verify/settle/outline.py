"""The first pass over a log: everything settled that is in its place, everything else named for the rules.

A part of a log gives an `Outline`; those of neighbouring parts, read anywhere and by anybody, are joined in log order.
What is kept is bounded by what is out of place, and by a few numbers for each queue and each run of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from parsers.index.open import OpenIndex
from parsers.kernels.arrays import Longs
from parsers.store.store_file import QueueKey, StoreFile
from recovery.lives.numbering import Numbering, joined_numbering
from recovery.scan.log_runs import LogGap
from recovery.verify.settle.database_spool import Spool
from recovery.verify.settle.index_entries import Chains
from recovery.verify.settle.key_walk import FileEntries, Walked
from recovery.verify.settle.newer_records import NewerRecords
from recovery.verify.settle.queue_disk import QueueOnDisk
from recovery.verify.settle.settle_kernel import AROUND, NONE


class Part(NamedTuple):
    """Bytes [start, end) of one file of a log."""

    file: StoreFile
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Files:
    """What the log is compared with. With `settles` False everything is left for the rules.

    `spool`: the database that keeps the queues, None where files do; `unread`: why it cannot be, and nothing else can
    be compared with the log. `opened`: all index files; `index`: those of them that are understood.
    """

    queues: Mapping[QueueKey, QueueOnDisk]
    opened: Sequence[OpenIndex]
    index: Sequence[FileEntries]
    compares_index: bool
    settles: bool
    spool: Spool | None = None
    unread: str | None = None

    @property
    def compares_queues(self) -> bool:
        return self.unread is None


class Run(NamedTuple):
    """Records one after another, to be found again: bytes of a file, how many, and how many are before them."""

    file: StoreFile
    file_pos: int
    end: int
    records: int
    row: int
    keys: int
    owners: int


@dataclass(slots=True)
class QueueTrace:
    """One queue of the log: the queue offsets from `first` to before `following` are settled but for those in `spans`.

    `first` is NONE where nothing is settled, `most` the highest queue offset that dispatch makes (NONE: of none known).
    `left`: physical offsets of messages that are not settled.
    """

    first: int = NONE
    following: int = NONE
    most: int = NONE
    spans: list[tuple[int, int]] = field(default_factory=list)
    left: list[Longs] = field(default_factory=list)

    def join(self, behind: QueueTrace) -> bool:
        """Take in the same queue of the next part; False where both settled the same queue offsets."""
        self.most, self.left = max(self.most, behind.most), self.left + behind.left
        if behind.first == NONE:
            return True
        if self.first == NONE:
            self.first, self.following, self.spans = behind.first, behind.following, behind.spans
            return True
        if behind.first < self.following:
            return False
        if behind.first > self.following:
            self.spans.append((self.following, behind.first))
        self.spans += behind.spans
        self.following = behind.following
        return True


class Edge(NamedTuple):
    """The first or last two records of a part: their places and store times."""

    physical_offset: Longs
    store_timestamp_ms: Longs

    def join(self, behind: Edge, kept: slice) -> Edge:
        return Edge(*(np.concatenate(pair)[kept] for pair in zip(self, behind, strict=True)))


NO_EDGE = Edge(np.empty(0, np.int64), np.empty(0, np.int64))
FIRST, LAST = slice(AROUND), slice(-AROUND, None)


@dataclass(slots=True)
class Outline:
    """What the first pass over a part of a log found; counts are of the part alone.

    `covered` counts bytes of records and gaps. `noted`: physical offsets of records that need a look for any reason;
    `wanted_before` and `wanted_behind`: how many of the records of the neighbouring parts do. `topics` have units.
    `numbering`: where the numbers of each queue start anew. `newer`: records whose form the version does not know.
    `chains`: those of each index file, where they were read beside the whole log; None where they are still to be read.
    """

    runs: list[Run] = field(default_factory=list)
    gaps: list[LogGap] = field(default_factory=list)
    records: int = 0
    keys: int = 0
    owners: int = 0
    covered: int = 0
    first_ms: int = 0
    latest_ms: int = 0
    end: int = 0
    noted: list[Longs] = field(default_factory=list)
    head: Edge = NO_EDGE
    tail: Edge = NO_EDGE
    wanted_before: int = 0
    wanted_behind: int = 0
    topics: set[str] = field(default_factory=set)
    queues: dict[QueueKey, QueueTrace] = field(default_factory=dict)
    numbering: Numbering = field(default_factory=dict)
    left_keys: list[Longs] = field(default_factory=list)
    walked: Walked | None = None
    newer: list[NewerRecords] = field(default_factory=list)
    chains: list[Chains | None] | None = None


def join(outlines: Iterable[Outline], files: Files) -> Outline | None:
    """The outline of all parts together, given in log order, which the first becomes; None where they contradict each
    other."""
    following = iter(outlines)
    whole = next(following)
    return whole if all(_join(whole, behind, files) for behind in following) else None


def _join(whole: Outline, behind: Outline, files: Files) -> bool:
    _join_edges(whole, behind)
    whole.runs += [
        run._replace(row=run.row + whole.records, keys=run.keys + whole.keys, owners=run.owners + whole.owners)
        for run in behind.runs
    ]
    whole.gaps += behind.gaps
    whole.newer += behind.newer
    whole.noted += behind.noted
    whole.left_keys += [numbers + whole.keys for numbers in behind.left_keys]
    whole.topics |= behind.topics
    whole.numbering = joined_numbering((whole.numbering, behind.numbering))
    if behind.records:
        whole.first_ms = whole.first_ms if whole.records else behind.first_ms
        whole.latest_ms = max(whole.latest_ms, behind.latest_ms) if whole.records else behind.latest_ms
        whole.end = behind.end
    whole.records, whole.keys = whole.records + behind.records, whole.keys + behind.keys
    whole.owners, whole.covered = whole.owners + behind.owners, whole.covered + behind.covered
    joined = [whole.queues.setdefault(key, QueueTrace()).join(trace) for key, trace in behind.queues.items()]
    if behind.walked is None:
        return all(joined)
    if whole.walked is None:
        whole.walked = behind.walked
        return all(joined)
    return whole.walked.join(behind.walked, files.index) and all(joined)


def _join_edges(whole: Outline, behind: Outline) -> None:
    """Records on both sides of the cut that tell who is out of the order of store times."""
    if not behind.records:
        return
    wanted = whole.wanted_behind - behind.records
    if whole.records:
        falls = whole.tail.store_timestamp_ms[-1] > behind.head.store_timestamp_ms[0]
        if falls or whole.wanted_behind or behind.wanted_before:
            whole.noted += [whole.tail.physical_offset, behind.head.physical_offset]
        wanted = max(wanted, AROUND - behind.records if falls else 0)
    else:
        whole.wanted_before = behind.wanted_before
    whole.wanted_behind = max(wanted, behind.wanted_behind)
    whole.head = whole.head.join(behind.head, FIRST)
    whole.tail = whole.tail.join(behind.tail, LAST)
