"""Batches of a log in its order, scanned by several threads ahead of who takes them."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import get_native_id

import numpy as np

from parsers.evidence.mapped import release_pages
from parsers.kernels.arrays import Ints
from recovery.rules.dispatch import DispatchRules
from recovery.scan.kernel import ScanBatch
from recovery.scan.log_runs import LogRun
from recovery.scan.scanner import LogScanner
from recovery.scan.topic_table import TopicTable

MOST_AT_ONCE = 8
"""Pieces of a log read at once at most: each keeps its columns, and beyond that the disk is what is waited for."""

NICER = 5
"""How much nicer, in the sense of setpriority(2), a thread that scans is than the one that takes its batches."""


def at_once() -> int:
    """How many pieces of a log are read at once: one for each core that this process may use, up to MOST_AT_ONCE."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_AT_ONCE, allowed)


def scanned_ahead(runs: Iterator[LogRun], rules: DispatchRules, topics: TopicTable) -> Iterator[ScanBatch]:
    """The batches of the runs, in their order, whatever thread scanned them; their topics are codes of `topics`.

    The log is walked by one thread more. Memory: the batches of twice as many runs as are scanned at once, and one. The
    pages of a run are given back once it is scanned: `runs` leaves that to this.
    """
    with (
        ThreadPoolExecutor(max_workers=1) as walker,
        ThreadPoolExecutor(max_workers=at_once(), initializer=_give_way) as pool,
    ):
        scanners, waiting = _Scanners(rules), deque[Future[_Scanned]]()
        coming = walker.submit(next, runs, None)
        while (run := coming.result()) is not None:
            waiting.append(pool.submit(scanners.scan, run))
            coming = walker.submit(next, runs, None)
            if len(waiting) > 2 * at_once():
                yield waiting.popleft().result().told(topics)
        while waiting:
            yield waiting.popleft().result().told(topics)


def _give_way() -> None:
    """Lower the priority of the calling thread, which scans: who takes the batches is waited for in the end.

    Only on Linux: elsewhere a thread has none of its own, and the whole process would give way.
    """
    if sys.platform == "linux":
        thread = get_native_id()
        with suppress(OSError):  # a container's profile may forbid it
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICER)


@dataclass(slots=True)
class _Lent:
    """A scanner that one thread at a time has; `codes`: of each topic it met the code in the table of all."""

    scanner: LogScanner
    codes: Ints = field(default_factory=lambda: np.empty(0, np.int32))


@dataclass(frozen=True, slots=True)
class _Scanned:
    batch: ScanBatch
    lent: _Lent

    def told(self, topics: TopicTable) -> ScanBatch:
        """The batch with the codes of `topics`; one thread asks."""
        records, units, lent = self.batch.records, self.batch.units, self.lent
        met = lent.scanner.topics.stored
        if len(met) > len(lent.codes):
            more = [topics.code(name) for name in met[len(lent.codes) :]]
            lent.codes = np.concatenate((lent.codes, np.array(more, np.int32)))
        return ScanBatch(
            records._replace(topic=lent.codes[records.topic]),
            units._replace(topic=lent.codes[units.topic]),
            self.batch.keys,
        )


class _Scanners:
    """Scanners for as many threads as ask at once."""

    def __init__(self, rules: DispatchRules) -> None:
        self._free = SimpleQueue[_Lent]()
        for _ in range(at_once()):
            self._free.put(_Lent(LogScanner(rules)))

    def scan(self, run: LogRun) -> _Scanned:
        lent = self._free.get()
        try:
            return _Scanned(lent.scanner.scan(run.data, run.positions), lent)
        finally:
            self._free.put(lent)
            release_pages(run.data, run.start, run.end)
