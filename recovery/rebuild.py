"""Rebuild consumequeue/ and index/ from the CommitLog alone, into a new directory, byte for byte as a broker would.

The store is only read. The new directory appears under its name when it is complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from parsers.evidence_guard import EvidenceGuard
from parsers.index.geometry import Geometry
from parsers.store import Store
from recovery.index_files import IndexFilesWriter
from recovery.inference import StoreKnowledge
from recovery.log_runs import LogRun, log_runs
from recovery.queue_files import QueueFilesWriter
from recovery.rebuild_report import RebuildReport, ScanTotals, report_of
from recovery.scan import LogScanner, ScanBatch
from recovery.settings import StoreSettings
from recovery.topic_table import TopicTable


def rebuild(store: Store, known: StoreKnowledge, to: Path) -> RebuildReport:
    """Write a complete new consumequeue/, batchconsumequeue/ and index/ into `to`, which must not exist yet.

    The report says which settings were inferred from the files, and how.
    Damaged stretches of the log are passed over and reported; every well-formed record that stands where it says is
    dispatched. Memory: one run of records, one index file.

    Raises:
        ValueError: `to` exists and is not an empty folder.
        WouldTouchEvidence: `to` lies inside the store.
        OSError: the new directory cannot be written.
    """
    with EvidenceGuard(*store.folders).new_folder(to, "--to") as partial:
        return _Rebuild(store, partial, known).run(to)


def queue_files(root: Path, topics: TopicTable, settings: StoreSettings) -> QueueFilesWriter:
    """The writer of a new store's queues, with files of the sizes that the settings say."""
    return QueueFilesWriter(
        root,
        topics,
        file_size=settings.consume_queue_file_size,
        batch_file_size=settings.mapped_file_size_batch_consume_queue,
    )


def index_files(root: Path, known: StoreKnowledge) -> IndexFilesWriter:
    """The writer of a new store's index/."""
    geometry = Geometry(known.settings.max_hash_slot_num, known.settings.max_index_num)
    return IndexFilesWriter(root / "index", geometry, known.version)


class _Rebuild:
    """One pass over the log: scanning the next run goes on while the last one is written."""

    def __init__(self, store: Store, root: Path, known: StoreKnowledge) -> None:
        self._store, self._known = store, known
        self._scanner = LogScanner(known.rules)
        self._queues = queue_files(root, self._scanner.topics, known.settings)
        self._index = index_files(root, known)
        self._totals = ScanTotals()

    def run(self, to: Path) -> RebuildReport:
        for batch in self._scanned_ahead():
            self._queues.write(batch)
            if self._known.settings.message_index_enable:
                self._index.write(batch)
            self._totals.count(batch)
        self._queues.close()
        self._index.close()
        return report_of(self._store, self._known, to, self._totals, self._queues.totals(), self._index.totals)

    def _scanned_ahead(self) -> Iterator[ScanBatch]:
        """Batches in log order, the next one being scanned by a thread while the caller works on this one."""
        runs = log_runs(self._store.commitlog, self._totals.note_gap)
        with ThreadPoolExecutor(max_workers=1) as ahead:
            coming = ahead.submit(self._next, runs)
            while (batch := coming.result()) is not None:
                coming = ahead.submit(self._next, runs)
                yield batch

    def _next(self, runs: Iterator[LogRun]) -> ScanBatch | None:
        run = next(runs, None)
        return None if run is None else self._scanner.scan(run.data, run.positions)
