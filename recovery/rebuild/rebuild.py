"""Rebuild consumequeue/ and index/ from the CommitLog alone, into a new directory, byte for byte as a broker would.

The store is only read. The new directory appears under its name when it is complete.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from parsers.evidence.guard import EvidenceGuard
from parsers.index.geometry import Geometry
from parsers.kernels.arrays import Mask
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from recovery.knowledge.inference import StoreKnowledge
from recovery.lives.life import NEVER, TopicLives
from recovery.lives.numbering import NumberingNotes
from recovery.lives.topic_lives import lives_from
from recovery.rebuild.ext_files import write_ext_units
from recovery.rebuild.filter_bits import filter_bits
from recovery.rebuild.index_files import IndexFilesWriter, IndexTotals
from recovery.rebuild.queue_files import QueueFilesWriter, QueueTotals, is_folder_name
from recovery.rebuild.report import RebuildReport, ScanTotals, ext_differences, report_of
from recovery.scan.kernel import ScanBatch, UnitColumns
from recovery.scan.log_runs import log_runs
from recovery.scan.queue_numbers import queue_keys, unpack_key
from recovery.scan.scan_ahead import scanned_ahead
from recovery.scan.scanner import LogScanner
from recovery.scan.topic_table import TopicTable


def rebuild(store: Store, known: StoreKnowledge, to: Path) -> RebuildReport:
    """Write a complete new consumequeue/, batchconsumequeue/ and index/ into `to`, which must not exist yet.

    With enableConsumeQueueExt consumequeue_ext/ is made, too.

    The report says which settings were inferred from the files, and how.
    Damaged stretches of the log are passed over and reported; every well-formed record that stands where it says is
    dispatched. The queues hold the living messages of each topic: those of former lives are left out, and the report
    names them (`recovery.lives.topic_lives`). Memory: two runs of records for each core and three
    more, and the slots of one index file.

    Raises:
        ValueError: `to` exists and is not an empty folder.
        WouldTouchEvidence: `to` lies inside the store.
        OSError: the new directory cannot be written.
    """
    with EvidenceGuard(*store.places).new_folder(to) as partial:
        return _Rebuild(store, partial, known).run(to)


def index_files(root: Path, known: StoreKnowledge) -> IndexFilesWriter:
    """The writer of a new store's index/."""
    geometry = Geometry(known.settings.max_hash_slot_num, known.settings.max_index_num)
    return IndexFilesWriter(root / "index", geometry, known.version)


def living_report(
    store: Store,
    known: StoreKnowledge,
    root: Path,
    to: Path,
    scanned: ScanTotals,
    queues: Iterable[QueueTotals],
    index_files: Iterable[IndexTotals],
) -> RebuildReport:
    """The report on queues and index written into `root`, once the queues hold living messages only."""
    lives = lives_from(store, scanned.numbering, known.topic_events)
    if lives.living_from:
        queues = with_living_only(store, known, root, lives, queues)
    queues = list(queues)
    bits = filter_bits(store, known)
    has_ext = known.settings.enable_consume_queue_ext
    ext = list(write_ext_units(store, known, bits, root, queues)) if has_ext else []
    report = report_of(store, known, to, scanned, queues, index_files, lives)
    doubts = tuple(ext_differences(bits, ext))
    return replace(report, ext=tuple(ext), ext_doubts=doubts, differences=(*doubts, *report.differences))


class _Rebuild:
    """One pass over the log: threads scan the next runs while the queues, and beside them the index, are written."""

    def __init__(self, store: Store, root: Path, known: StoreKnowledge) -> None:
        self._store, self._known = store, known
        self._topics = TopicTable(known.rules)
        self._root, self._numbering = root, NumberingNotes(self._topics)
        self._queues = QueueFilesWriter.of(root, self._topics, known.settings)
        self._index = index_files(root, known)
        self._totals = ScanTotals()

    def run(self, to: Path) -> RebuildReport:
        runs = log_runs(self._store.commitlog, self._totals.note_gap, releases=False)
        with ThreadPoolExecutor(max_workers=1) as beside:
            indexed = beside.submit(lambda: None)
            for batch in scanned_ahead(runs, self._known.rules, self._topics):
                indexed.result()
                if self._known.settings.writes_index_files:
                    indexed = beside.submit(self._index.write, batch)
                self._queues.write(batch)
                self._numbering.take(batch)
                self._totals.count(batch)
            indexed.result()
            indexed = beside.submit(self._index.close)
            self._queues.close()
            indexed.result()
        self._totals.numbering = self._numbering.close()
        found, totals = self._queues.totals(), self._index.totals
        return living_report(self._store, self._known, self._root, to, self._totals, found, totals)


def with_living_only(
    store: Store, known: StoreKnowledge, root: Path, lives: TopicLives, written: Iterable[QueueTotals]
) -> list[QueueTotals]:
    """The totals of a rebuild in `root` after its queues hold living messages alone: what the deletion of a topic took
    away is in no queue of the broker's. Only queues of topics that have such messages are written a second time.
    """
    mixed = {topic for topic, _ in lives.living_from}
    kept = [queue for queue in written if queue.topic not in mixed]
    for topic in filter(is_folder_name, mixed):
        shutil.rmtree(root / "consumequeue" / topic, ignore_errors=True)
    if all(start == NEVER for start in lives.living_from.values()):
        return kept
    scanner = LogScanner(known.rules)
    writer = QueueFilesWriter.of(root, scanner.topics, known.settings)
    for run in log_runs(store.commitlog, lambda gap: None):
        batch = scanner.scan(run.data, run.positions)
        chosen = _living(batch, scanner.topics.names, mixed, lives.living_from)
        writer.write(ScanBatch(batch.records, UnitColumns._make(c[chosen] for c in batch.units), batch.keys))
    writer.close()
    return [*kept, *writer.totals()]


def _living(batch: ScanBatch, names: list[str], topics: set[str], living_from: Mapping[QueueKey, int]) -> Mask:
    """Which units are of living messages of these topics."""
    units = batch.units
    met, number = np.unique(queue_keys(units.topic, units.queue_id), return_inverse=True)
    starts = np.array(list(_starts(met.tolist(), names, topics, living_from)), np.int64)
    places = batch.records.physical_offset[units.record]
    living: Mask = (places >= starts[number]) & (units.message_count == 0) if len(met) else np.zeros(0, np.bool_)
    return living


def _starts(keys: list[int], names: list[str], topics: set[str], living_from: Mapping[QueueKey, int]) -> Iterator[int]:
    for topic, queue_id in map(unpack_key, keys):
        name = names[topic]
        yield living_from.get((name, queue_id), 0) if name in topics else NEVER
