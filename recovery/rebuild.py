"""Rebuild consumequeue/ and index/ from the CommitLog alone, into a new directory, byte for byte as a broker would.

The store is only read. The new directory appears under its name when it is complete.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from parsers.index.geometry import Geometry
from parsers.store import Store, open_store
from recovery.index_files import IndexFilesWriter
from recovery.inference import StoreKnowledge, infer
from recovery.log_runs import LogGap, LogRun, log_runs
from recovery.queue_files import QueueFilesWriter
from recovery.rebuild_report import RebuildReport, differences
from recovery.scan import LogScanner, ScanBatch
from recovery.scan_kernel import INVALID
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion

LONGEST_LIST = 1000


def rebuild(
    store: Store | Path | str, to: Path, *, version: BrokerVersion | None = None, settings: StoreSettings | None = None
) -> RebuildReport:
    """Write a complete new consumequeue/, batchconsumequeue/ and index/ into `to`, which must not exist yet.

    Version and settings that are not given are inferred from the files (`recovery.inference`), and the report says how.
    Damaged stretches of the log are passed over and reported; every well-formed record that stands where it says is
    dispatched. Memory: one run of records, one index file.

    Raises:
        ValueError: `to` exists and is not an empty folder, or lies inside the store, or the store inside it.
        OSError: the new directory cannot be written.
    """
    source = store if isinstance(store, Store) else open_store(store)
    _refuse_bad_target(source.root, to)
    known = infer(source, version=version, settings=settings)
    partial = to.parent / f".{to.name}.{os.getpid()}.partial"
    partial.mkdir(parents=True)
    try:
        report = _Rebuild(source, partial, known).run(to)
        os.replace(partial, to)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return report


def _refuse_bad_target(root: Path, to: Path) -> None:
    source, target = root.resolve(), to.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise ValueError(f"{to}: the new directory must lie outside the store {root}, which is only read")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ValueError(f"{to}: is there already; a rebuild writes a new directory")


class _Rebuild:
    """One pass over the log: scanning the next run goes on while the last one is written."""

    def __init__(self, store: Store, root: Path, known: StoreKnowledge) -> None:
        self._store, self._known = store, known
        settings = known.settings
        self._scanner = LogScanner(known.rules)
        self._queues = QueueFilesWriter(
            root,
            self._scanner.topics,
            file_size=settings.consume_queue_file_size,
            batch_file_size=settings.mapped_file_size_batch_consume_queue,
        )
        geometry = Geometry(settings.max_hash_slot_num, settings.max_index_num)
        self._index = IndexFilesWriter(root / "index", geometry, known.version)
        self._gaps: list[LogGap] = []
        self._invalid: list[int] = []
        self._records = 0

    def run(self, to: Path) -> RebuildReport:
        for batch in self._scanned_ahead():
            self._queues.write(batch)
            if self._known.settings.message_index_enable:
                self._index.write(batch)
            self._count(batch)
        self._queues.close()
        self._index.close()
        return self._report(to)

    def _scanned_ahead(self) -> Iterator[ScanBatch]:
        """Batches in log order, the next one being scanned by a thread while the caller works on this one."""
        runs = log_runs(self._store.commitlog, self._note_gap)
        with ThreadPoolExecutor(max_workers=1) as ahead:
            coming = ahead.submit(self._next, runs)
            while (batch := coming.result()) is not None:
                coming = ahead.submit(self._next, runs)
                yield batch

    def _next(self, runs: Iterator[LogRun]) -> ScanBatch | None:
        run = next(runs, None)
        return None if run is None else self._scanner.scan(run.data, run.positions)

    def _note_gap(self, gap: LogGap) -> None:
        if gap.kind in ("damage", "stale"):
            self._gaps.append(gap)

    def _count(self, batch: ScanBatch) -> None:
        self._records += batch.rows
        invalid = np.flatnonzero(batch.records.state == INVALID)[:LONGEST_LIST]
        self._invalid += batch.records.physical_offset[invalid].tolist()

    def _report(self, to: Path) -> RebuildReport:
        queues, index_files = tuple(self._queues.totals()), tuple(self._index.totals)
        first = self._store.commitlog[0].base_offset or 0 if self._store.commitlog else 0
        return RebuildReport(
            to=to,
            version=self._known.version,
            settings=self._known.settings,
            inferred=self._known.facts,
            records=self._records,
            units=sum(queue.units for queue in queues),
            keys=sum(index.entries for index in index_files),
            queues=queues,
            index_files=index_files,
            invalid=tuple(self._invalid[:LONGEST_LIST]),
            gaps=tuple(self._gaps),
            differences=differences(queues, first, tuple(self._gaps), bool(index_files)),
        )
