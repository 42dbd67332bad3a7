"""Rebuild consumequeue/ and index/ from the CommitLog alone, into a new directory, byte for byte as a broker would.

The store is only read. The new directory appears under its name when it is complete.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from parsers.index.geometry import Geometry
from parsers.store import Store, open_store
from recovery.index_files import IndexFilesWriter
from recovery.inference import StoreKnowledge, infer
from recovery.log_runs import LogRun, log_runs
from recovery.queue_files import QueueFilesWriter
from recovery.rebuild_report import RebuildReport, ScanTotals, report_of
from recovery.scan import LogScanner, ScanBatch
from recovery.settings import StoreSettings
from recovery.topic_table import TopicTable
from recovery.versions import BrokerVersion


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
    with new_folder(to, [source.root]) as partial:
        return _Rebuild(source, partial, infer(source, version=version, settings=settings)).run(to)


@contextmanager
def new_folder(to: Path, stores: Iterable[Path]) -> Iterator[Path]:
    """A folder to write into, which becomes `to` at the end of the block; a failure leaves nothing behind.

    Raises:
        ValueError: `to` exists and is not an empty folder, or lies inside one of the stores, or one of them inside it.
    """
    for root in stores:
        _refuse_bad_target(root, to)
    partial = to.parent / f".{to.name}.{os.getpid()}.partial"
    partial.mkdir(parents=True)
    try:
        yield partial
        os.replace(partial, to)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _refuse_bad_target(root: Path, to: Path) -> None:
    source, target = root.resolve(), to.resolve()
    if target == source or source in target.parents:
        raise ValueError(f"{to}: the new directory must lie outside the store {root}, which is only read")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ValueError(f"{to}: is there already; a rebuild writes a new directory")


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
